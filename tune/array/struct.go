package array

import (
	"fmt"
	"slices"
)

// A Struct is the layout of a struct as OpenCL C has it: each field stands at the next multiple of its
// alignment, and the size is rounded up to the largest alignment. A vector is aligned to its size, and a
// 3-vector is like a 4-vector.
type Struct struct {
	Name    string
	Fields  []Field
	Members []Member // the scalars and vectors of all fields, by offset
	Size    int      // in bytes
	Align   int
}

// A Field is a field of a [Struct]: elements of a Type or of another Struct.
type Field struct {
	Name   string
	Type   Type
	Struct *Struct // nil: the elements are of Type
	Count  int     // length of an array; 0: the field is no array
	Offset int     // in bytes; set by [NewStruct]
}

// A Member is a scalar or a vector within a struct, at any depth.
type Member struct {
	Path   string // such as mass, box.min or neighbours[3]
	Type   Type
	Offset int // in bytes
}

// maxMembers bounds the members of a struct.
const maxMembers = 4096

// NewStruct lays out a struct.
func NewStruct(name string, fields []Field) (*Struct, error) {
	s := &Struct{Name: name, Fields: slices.Clone(fields), Align: 1}
	if len(fields) == 0 {
		return nil, fmt.Errorf("the struct %s has no fields", name)
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		f.Offset = roundUp(s.Size, f.align())
		s.Align = max(s.Align, f.align())
		for j := range max(1, f.Count) {
			if len(s.Members) >= maxMembers {
				return nil, fmt.Errorf("the struct %s has more than the %d members that are taken", name, maxMembers)
			}
			s.addElement(f, j)
		}
		s.Size = f.Offset + max(1, f.Count)*f.size()
	}
	s.Size = roundUp(s.Size, s.Align)
	return s, nil
}

// check returns an error if the struct is not laid out as [NewStruct] does it.
func (s *Struct) check() error {
	for _, f := range s.Fields {
		if f.Struct == nil && !f.Type.valid() {
			return fmt.Errorf("the field %s of the struct %s has the type %d, which is none", f.Name, s.Name, f.Type)
		}
		if f.Struct != nil {
			if err := f.Struct.check(); err != nil {
				return err
			}
		}
	}
	if right, err := NewStruct(s.Name, s.Fields); err != nil {
		return err
	} else if !right.Equal(s) || right.Align != s.Align {
		return fmt.Errorf("the struct %s is not laid out as OpenCL C has it", s.Name)
	}
	return nil
}

// addElement adds the members of element i of a field.
func (s *Struct) addElement(f *Field, i int) {
	path, offset := f.Name, f.Offset+i*f.size()
	if f.Count > 0 {
		path = fmt.Sprintf("%s[%d]", path, i)
	}
	if f.Struct == nil {
		s.Members = append(s.Members, Member{path, f.Type, offset})
		return
	}
	for _, m := range f.Struct.Members {
		s.Members = append(s.Members, Member{path + "." + m.Path, m.Type, offset + m.Offset})
	}
}

// size returns the size of an element of the field.
func (f *Field) size() int {
	if f.Struct != nil {
		return f.Struct.Size
	}
	return f.Type.Size()
}

func (f *Field) align() int {
	if f.Struct != nil {
		return f.Struct.Align
	}
	return f.Type.Size()
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// Equal reports whether two structs, which may be nil, have the same members at the same offsets.
func (s *Struct) Equal(o *Struct) bool {
	if s == nil || o == nil {
		return s == o
	}
	return s.Size == o.Size && slices.Equal(s.Members, o.Members)
}

// String returns the name and the layout: particle{float32x4 position @0, float32 mass @16} of 32 B.
func (s *Struct) String() string {
	text := s.Name + "{"
	for i, m := range s.Members {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%v %s @%d", m.Type, m.Path, m.Offset)
	}
	return fmt.Sprintf("%s} of %d B", text, s.Size)
}

// NewStructs returns an array of n structs, all bytes of which are zero.
func NewStructs(s *Struct, n int) *Array {
	a := New(Uint8, n*s.Size)
	a.Struct = s
	return a
}

// AsStructs returns the same memory seen as structs. It is an error if the bytes are no whole number of
// them.
func (a *Array) AsStructs(s *Struct) (*Array, error) {
	if a.Struct.Equal(s) {
		return a, nil
	}
	if len(a.Bytes)%s.Size != 0 {
		return nil, fmt.Errorf("%d bytes are no multiple of the %d of the struct %s", len(a.Bytes), s.Size, s.Name)
	}
	return &Array{Type: Uint8, Bytes: a.Bytes, Struct: s, Digest: a.Digest, File: a.File}, nil
}

// Member returns a copy of one member of all structs of the array.
func (a *Array) Member(m Member) *Array {
	part := New(m.Type, a.Len())
	size := m.Type.Size()
	for i := range part.Len() {
		copy(part.Bytes[i*size:][:size], a.Bytes[i*a.Struct.Size+m.Offset:])
	}
	return part
}

// setMember is the inverse of Member.
func (a *Array) setMember(m Member, part *Array) {
	size := m.Type.Size()
	for i := range part.Len() {
		copy(a.Bytes[i*a.Struct.Size+m.Offset:], part.Bytes[i*size:][:size])
	}
}

// MakeStructs returns an array of n structs. The function makes the n elements of member i.
func MakeStructs(s *Struct, n int, member func(i int) (*Array, error)) (*Array, error) {
	a := NewStructs(s, n)
	for i, m := range s.Members {
		part, err := member(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		a.setMember(m, part)
	}
	return a, nil
}
