package source

import (
	"reflect"
	"strings"
	"testing"
)

func TestStructs(t *testing.T) {
	got := Structs(`
struct later;
typedef struct latLong { float lat, lng; } LatLong;
struct __attribute__((packed)) tight { char c; const unsigned int i[2][N + 1]; };
typedef struct { struct latLong at; float4 *p; } linked, *pointer;
typedef union { float f; int i; } both;
struct bits { int low : 4, high : 28; };
struct outer { struct { int a; } in; };
struct latLong f(struct latLong x);`)
	want := []Struct{
		{Names: []string{"latLong", "LatLong"}, Fields: []Field{{Name: "lat", Type: "float"}, {Name: "lng", Type: "float"}}},
		{Names: []string{"tight"}, Packed: true, Odd: "attributes", Fields: []Field{{Name: "c", Type: "char"}, {Name: "i", Type: "unsigned int", Counts: []string{"2", "N + 1"}}}},
		{Names: []string{"linked", "pointer"}, Odd: "pointer", Fields: []Field{{Name: "at", Type: "latLong"}, {Name: "p", Type: "float4"}}},
		{Names: []string{"both"}, Union: true, Odd: "union", Fields: []Field{{Name: "f", Type: "float"}, {Name: "i", Type: "int"}}},
		{Names: []string{"bits"}, Odd: "bit fields", Fields: []Field{{Name: "low", Type: "int"}, {Name: "high", Type: "int"}}},
		{Names: []string{"outer"}, Odd: "another"},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, s := range got {
		if !strings.Contains(s.Odd, want[i].Odd) || s.Odd != "" && want[i].Odd == "" {
			t.Errorf("%v is odd: %q", s.Names, s.Odd)
		}
		if s.Odd = want[i].Odd; !reflect.DeepEqual(s, want[i]) {
			t.Errorf("%+v\nwant %+v", s, want[i])
		}
	}
	for _, text := range []string{"struct", "struct {", "struct s { int", "typedef struct { int a; }", "union", "struct s { ; int; }"} {
		Structs(text) // ends
	}
}
