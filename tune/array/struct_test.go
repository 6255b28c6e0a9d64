package array

import (
	"strings"
	"testing"
)

func mustStruct(t *testing.T, name string, fields ...Field) *Struct {
	t.Helper()
	s, err := NewStruct(name, fields)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStructLayout(t *testing.T) {
	box := mustStruct(t, "box", Field{Name: "corner", Type: Float32.Vector(3)}, Field{Name: "id", Type: Int8})
	for _, c := range []struct {
		s    *Struct
		want string
	}{
		{box, "box{float32x3 corner @0, int8 id @16} of 32 B"},
		{mustStruct(t, "padded", Field{Name: "a", Type: Int8}, Field{Name: "b", Type: Int16}, Field{Name: "c", Type: Int8}, Field{Name: "d", Type: Float64}, Field{Name: "e", Type: Int8}),
			"padded{int8 a @0, int16 b @2, int8 c @4, float64 d @8, int8 e @16} of 24 B"},
		{mustStruct(t, "nested", Field{Name: "a", Type: Uint8}, Field{Name: "boxes", Struct: box, Count: 2}, Field{Name: "b", Type: Int32, Count: 2}),
			"nested{uint8 a @0, float32x3 boxes[0].corner @16, int8 boxes[0].id @32, float32x3 boxes[1].corner @48, int8 boxes[1].id @64, int32 b[0] @80, int32 b[1] @84} of 96 B"},
	} {
		if got := c.s.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if _, err := NewStruct("huge", []Field{{Name: "a", Type: Int8, Count: maxMembers + 1}}); err == nil {
		t.Error("a struct of too many members is taken")
	}
	if _, err := NewStruct("none", nil); err == nil {
		t.Error("a struct without fields is taken")
	}
}

func TestArraysOfStructs(t *testing.T) {
	s := mustStruct(t, "s", Field{Name: "a", Type: Int8}, Field{Name: "b", Type: Float32.Vector(2)})
	a, err := MakeStructs(s, 5, func(i int) (*Array, error) { return Fill{Kind: Sequence}.Make(s.Members[i].Type, 5, 0) })
	if err != nil {
		t.Fatal(err)
	}
	if a.Len() != 5 || len(a.Bytes) != 5*16 {
		t.Fatalf("%d elements, %d bytes", a.Len(), len(a.Bytes))
	}
	if ints, floats := a.Member(s.Members[0]), a.Member(s.Members[1]); ints.Float(3) != 3 || floats.Float(7) != 7 {
		t.Errorf("the fourth struct holds %v and …, %v", ints.Float(3), floats.Float(7))
	}
	if again := a.Clone(); again.Struct != s || again.Len() != 5 {
		t.Errorf("a clone has the struct %v", again.Struct)
	}
	if _, err := Compare(a, a, 0, 0); err == nil || !strings.Contains(err.Error(), "no single type") {
		t.Errorf("Compare of structs: %v", err)
	}
	if _, err := New(Uint8, 17).AsStructs(s); err == nil {
		t.Error("17 bytes are taken as structs of 16")
	}
	if _, err := MakeStructs(s, 1, func(int) (*Array, error) { return Fill{Kind: Constant, Value: 300}.Make(Int8, 1, 0) }); err == nil || !strings.HasPrefix(err.Error(), "a: ") {
		t.Errorf("a fill beyond the range of a member: %v", err)
	}
}
