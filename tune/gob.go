package tune

import (
	"bytes"
	"encoding/gob"
	"math"

	"github.com/ndtune/ndtune/tune/array"
)

// What stands in fields of type any must be known to gob by its type. Go's own numbers,
// bools and texts are, and so are lists of one of them; a portable definition has besides
// arrays as the content of buffers and outputs, and as scalars lists of lanes and halves.
func init() {
	gob.Register(&array.Array{})
	gob.Register([]any{})
	gob.Register(array.Half(0))
}

// fillCode is a Fill as it is encoded: gob leaves out numbers that are 0, and takes −0,
// which a buffer can be filled with, for 0.
type fillCode struct {
	Kind       array.FillKind
	Bits       [5]uint64 // of Value, Low, High, Mean and Std
	Copy, File string
}

func (f *Fill) numbers() [5]*float64 {
	return [5]*float64{&f.Value, &f.Low, &f.High, &f.Mean, &f.Std}
}

// GobEncode keeps every number to its last bit.
func (f Fill) GobEncode() ([]byte, error) {
	code := fillCode{Kind: f.Kind, Copy: f.Copy, File: f.File}
	for i, number := range f.numbers() {
		code.Bits[i] = math.Float64bits(*number)
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(code)
	return b.Bytes(), err
}

// GobDecode is the inverse of GobEncode.
func (f *Fill) GobDecode(b []byte) error {
	var code fillCode
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&code); err != nil {
		return err
	}
	*f = Fill{Fill: array.Fill{Kind: code.Kind}, Copy: code.Copy, File: code.File}
	for i, number := range f.numbers() {
		*number = math.Float64frombits(code.Bits[i])
	}
	return nil
}
