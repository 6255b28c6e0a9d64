package task

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"github.com/ndtune/ndtune/tune/array"
)

// Decode returns the definition that [Definition.Encode] encoded. It may come from somebody else, and name
// commands and files: see [Definition.Outside].
func Decode(data []byte) (d Definition, err error) {
	return d, gob.NewDecoder(bytes.NewReader(data)).Decode(&d)
}

// Package gob must know the types of values in fields of type any. Besides the basic types and lists of
// one of them, which it knows, a portable definition has arrays, lists, mappings of fields and halves.
func init() {
	gob.Register(&array.Array{})
	gob.Register([]any{})
	gob.Register(map[string]any{})
	gob.Register(array.Half(0))
}

// Encode returns a definition without functions for another process: see problem.Problem.Portable.
func (d *Definition) Encode() ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(d); err != nil {
		return nil, fmt.Errorf("encode the problem: %w", err)
	}
	return b.Bytes(), nil
}
