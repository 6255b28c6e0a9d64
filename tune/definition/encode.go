package definition

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/ndtune/ndtune/tune/array"
)

// An encoded definition is followed by the contents of its arrays, which package gob would copy several times. Each begins at a multiple of
// alignment.
type encoded struct {
	Definition Definition
	Lengths    []int // of the contents in bytes, in the order of withArrays
}

// alignment is that of the largest type of OpenCL C, in bytes.
const alignment = 128

func aligned(n int) int { return (n + alignment - 1) / alignment * alignment }

// Decode returns the definition that [Definition.Encode] encoded. It may come from somebody else, and name
// commands and files: see [Definition.Outside]. The content of its arrays is part of the data, which must not be changed. Digests that the data
// claim for them are dropped.
func Decode(data []byte) (Definition, error) { return decode(data, false) }

// DecodeTrusted is [Decode] of what this program itself has encoded: the digests hold.
func DecodeTrusted(data []byte) (Definition, error) { return decode(data, true) }

func decode(data []byte, trusted bool) (d Definition, err error) {
	var e encoded
	head := bytes.NewReader(data)
	if err := gob.NewDecoder(head).Decode(&e); err != nil {
		return d, err
	}
	offset, damaged := len(data)-head.Len(), false
	var missing error
	d = e.Definition.withArrays(func(a *array.Array) *array.Array {
		offset = aligned(offset)
		if damaged = damaged || len(e.Lengths) == 0 || e.Lengths[0] < 0 || e.Lengths[0] > len(data)-offset; damaged {
			return a
		}
		end := offset + e.Lengths[0]
		content := array.Array{Type: a.Type, Struct: a.Struct, Bytes: data[offset:end:end]}
		if trusted {
			content.Digest = a.Digest
		}
		if trusted && a.File != "" {
			var file *array.Array
			if file, _, missing = array.ReadNPY(a.File); missing == nil {
				content.Bytes, content.File = file.Bytes, file.File
			}
		}
		offset, e.Lengths = end, e.Lengths[1:]
		return &content
	})
	if damaged || offset != len(data) || len(e.Lengths) > 0 {
		return Definition{}, errors.New("the content of an array is missing or too long")
	}
	return d, missing
}

// Package gob must know the types of values in fields of type any. Besides the basic types and lists of
// one of them, which it knows, a portable definition has arrays, lists, mappings of fields and halves.
func init() {
	gob.Register(&array.Array{})
	gob.Register([]any{})
	gob.Register(map[string]any{})
	gob.Register(array.Half(0))
}

// Encode returns a definition without functions for another process, in the memory that a function returns: see problem.Problem.Portable.
// A process that trusts this one need not compute the digests of arrays again. For one on this machine, what is mapped from a file is not
// part of the data: it maps the file itself.
func (d *Definition) Encode(memory func(size int) []byte, digest func(*array.Array) string, here bool) ([]byte, error) {
	var contents [][]byte
	var e encoded
	e.Definition = d.withArrays(func(a *array.Array) *array.Array {
		content, file := a.Bytes, ""
		if here && a.File != "" {
			content, file = nil, a.File
		}
		contents, e.Lengths = append(contents, content), append(e.Lengths, len(content))
		return &array.Array{Type: a.Type, Struct: a.Struct, Digest: digest(a), File: file}
	})
	var head bytes.Buffer
	if err := gob.NewEncoder(&head).Encode(e); err != nil {
		return nil, fmt.Errorf("encode the problem: %w", err)
	}
	size := head.Len()
	for _, content := range contents {
		size = aligned(size) + len(content)
	}
	data, end := memory(size), head.Len()
	copy(data, head.Bytes())
	for _, content := range contents {
		end = aligned(end) + copy(data[aligned(end):], content)
	}
	return data, nil
}

// peaks matches an expression that reads device.peak.
var peaks = regexp.MustCompile(`device\W+peak`)

// ReadsPeaks reports whether an expression of a definition without functions may read device.peak.
func (d *Definition) ReadsPeaks() bool {
	texts := d.withArrays(func(*array.Array) *array.Array { return &array.Array{} })
	texts.Kernel.Source, texts.Kernel.CUDA = "", nil
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(texts)
	return err != nil || peaks.Match(text.Bytes())
}

// withArrays returns the definition with other arrays as contents and expected outputs, also of the reference.
func (d *Definition) withArrays(other func(*array.Array) *array.Array) Definition {
	c := *d
	c.Arguments = slices.Clone(d.Arguments)
	for i := range c.Arguments {
		if a, ok := c.Arguments[i].Data.(*array.Array); ok {
			c.Arguments[i].Data = other(a)
		}
	}
	if d.Verify == nil {
		return c
	}
	v := *d.Verify
	v.Expected, c.Verify = maps.Clone(v.Expected), &v
	for _, name := range slices.Sorted(maps.Keys(v.Expected)) {
		if a, ok := v.Expected[name].(*array.Array); ok {
			v.Expected[name] = other(a)
		}
	}
	if v.Problem != nil {
		reference := v.Problem.withArrays(other)
		v.Problem = &reference
	}
	return c
}
