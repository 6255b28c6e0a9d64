package problem

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"flag"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/space"
)

// FuzzProblem: whatever an agent is sent as a problem, it is a problem or an error, and a problem is the same after it was sent on.
func FuzzProblem(f *testing.F) {
	// By default, Go spends a minute on making each input smaller that reaches new code, and tries no other one meanwhile.
	if err := flag.Set("test.fuzzminimizetime", "10x"); err != nil {
		f.Fatal(err)
	}
	reference := lineDefinition(2)
	verified := saxpy()
	verified.Verify = &Verification{Expected: map[string]any{"y": array.New(array.Float32, 1000)}, ATol: "0.5"}
	referred := saxpy()
	referred.Verify = &Verification{Problem: &reference, Configuration: map[string]space.Value{"i": 1}}
	rich := saxpy()
	rich.Arguments = append(rich.Arguments,
		Argument{Name: "data", Type: "float4", Data: array.New(array.Float32.Vector(4), 3), Output: true},
		Argument{Name: "image", Image: &Image{Shape: "2d", Format: "r/uint8", Size: []Expr{"2", "3"}}, Data: array.New(array.Uint8, 6)},
		Argument{Name: "sampler", Sampler: &Sampler{Filter: "linear"}},
		Argument{Name: "struct", Type: "pair", Value: map[string]any{"a": 0.5, "b": []any{[]int8{1, 2}, []int8{3, 4}}}},
		Argument{Name: "half", Type: "half", Value: array.HalfOf(1)})
	rich.Types = []StructType{{Name: "pair", Fields: []StructField{{Name: "a", Type: "float"}, {Name: "b", Type: "char2", Count: "2"}}}}
	rich.GridDiv = [3][]Expr{{"block_size_x"}, {}, nil}
	all := []Definition{saxpy(), verified, referred, rich, lineDefinition(3)}
	whole := array.New(array.Float32, 3)
	for _, wrong := range []*array.Array{{}, {Type: 200, Bytes: whole.Bytes}, {Type: array.Float32, Bytes: whole.Bytes[:7]}, {Type: array.Float32.Vector(4), Bytes: whole.Bytes},
		{Type: array.Float32, Bytes: whole.Bytes, Struct: &array.Struct{Name: "s"}}, {Type: array.Uint8, Bytes: whole.Bytes, Struct: &array.Struct{Name: "s", Size: 4, Members: []array.Member{{Path: "a", Type: 99, Offset: -8}}}}} {
		data, expected := saxpy(), saxpy()
		data.Arguments = append(data.Arguments, Argument{Name: "data", Data: wrong, Output: true}, Argument{Name: "image", Image: &Image{Shape: "1d", Format: "r/float32", Size: []Expr{"3"}}, Data: wrong})
		expected.Verify = &Verification{Expected: map[string]any{"y": wrong}}
		value, constant := saxpy(), saxpy()
		constant.Constants[0].Value = wrong
		value.Arguments[2].Value = wrong
		all = append(all, data, expected, value, constant)
	}
	for _, d := range all {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(d); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Decode(data)
		if err != nil {
			return
		}
		if commands, files := d.Outside(); len(commands)+len(files) > 0 {
			return // an agent refuses it
		}
		p, err := New(d)
		if err != nil {
			if len(fieldsOf(err)) == 0 {
				t.Fatalf("%q: an error without a field: %v", data, err)
			}
			return
		}
		digest := p.Digest()
		text, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		d, err = Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := New(d)
		if err != nil {
			t.Fatalf("%q: sent on: %v", data, err)
		}
		if again.Digest() != digest {
			t.Fatalf("%q: sent on, it is another problem", data)
		}
	})
}

// FuzzImage: whatever a file has that is named as a picture, and however its image is described, the pixels are those of the picture, or an
// error names the argument; and a small file takes little memory.
func FuzzImage(f *testing.F) {
	picture := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for i := range picture.Pix {
		picture.Pix[i] = byte(40 * i)
	}
	gray := image.NewGray16(image.Rect(0, 0, 2, 2))
	gray.Set(1, 1, color.White)
	var files [][]byte
	for _, m := range []image.Image{picture, gray, image.NewPaletted(image.Rect(0, 0, 4, 1), color.Palette{color.Black, color.NRGBA{9, 8, 7, 6}})} {
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			f.Fatal(err)
		}
		files = append(files, bytes.Clone(b.Bytes()))
		b.Reset()
		if err := jpeg.Encode(&b, m, nil); err != nil {
			f.Fatal(err)
		}
		files = append(files, bytes.Clone(b.Bytes()))
	}
	for i, format := range []string{"rgba/float32", "r/unorm_int8", "bgra/float16", "luminance/snorm_int16", "rg/uint32", "argb/int8"} {
		f.Add(files[i], "2d", format, "")
	}
	f.Add(files[0], "3d", "rgba/float32", "4")
	huge := bytes.Clone(files[0]) // 65,535 × 65,535 pixels in a file of a hundred bytes
	copy(huge[16:], []byte{0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff})
	f.Add(huge, "2d", "rgba/float32", "")
	path := filepath.Join(f.TempDir(), "picture.png")
	var before, after runtime.MemStats
	f.Fuzz(func(t *testing.T, file []byte, shape, format, size string) {
		file = checked(file)
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		a := Argument{Name: "picture", Image: &Image{Shape: shape, Format: format}, Fill: Fill{File: path}}
		if size != "" {
			a.Image.Size = []Expr{size, size}
		}
		d := lineDefinition(1)
		d.Arguments = []Argument{a}
		runtime.ReadMemStats(&before)
		p, err := New(d)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20+1<<20*uint64(len(file)) {
			t.Errorf("%q takes %d bytes", file, n)
		}
		if err != nil {
			for _, e := range fieldsOf(err) {
				if len(e.Field) < len("arguments") || e.Field[:len("arguments")] != "arguments" {
					t.Errorf("%q: %v", file, err)
				}
			}
			if len(fieldsOf(err)) == 0 {
				t.Errorf("%q: an error without a field: %v", file, err)
			}
			return
		}
		read := p.arguments[0].data
		if read == nil {
			return
		}
		m, _, err := image.Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatalf("%q: read, and not a picture: %v", file, err)
		}
		box, channels := m.Bounds(), 0
		if n := read.Type.Scalar().Size(); n > 0 {
			channels = read.Type.Size() / n
		}
		if read.Len() != box.Dx()*box.Dy() {
			t.Fatalf("%q: %d elements of %d × %d pixels", file, read.Len(), box.Dx(), box.Dy())
		}
		if read.Type.Scalar() != array.Float32 || channels == 0 || format[:1] != "r" {
			return
		}
		values, err := array.Slice[float32](read)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("%q: the intensity %v", file, v)
			}
			if i%channels != 0 || channels < 3 {
				continue
			}
			x, y := i/channels%box.Dx(), i/channels/box.Dx()
			red := color.NRGBA64Model.Convert(m.At(box.Min.X+x, box.Min.Y+y)).(color.NRGBA64).R
			if math.Abs(float64(v)-float64(red)/math.MaxUint16) > 1e-6 {
				t.Fatalf("%q: red is %v at %d, %d, not %d of %d", file, v, x, y, red, math.MaxUint16)
			}
		}
	})
}

// checked returns a PNG file with the right checksums of its chunks, so that a reader looks at what they hold.
func checked(file []byte) []byte {
	file = bytes.Clone(file)
	for at := len("\x89PNG\r\n\x1a\n"); at+8 <= len(file); {
		end := at + 8 + int(binary.BigEndian.Uint32(file[at:]))
		if end < at || end+4 > len(file) {
			break
		}
		binary.BigEndian.PutUint32(file[end:], crc32.ChecksumIEEE(file[at+4:end]))
		at = end + 4
	}
	return file
}
