package source

import (
	"reflect"
	"testing"
)

const namesText = `#line 1 "a.cl"
// WT in a comment
#ifdef SINGLE
#define WT float
#elif DOUBLE
#define WT double
#elif !defined(OTHER)
#define WT half
#endif
#ifdef cl_khr_subgroups
typedef uint lanes;
#endif
#define LOAD(p) fetch(p) // function
#line 1 "b.cl"
typedef enum { A, B } mode;
enum __named { C };
"WT" WT x;
int y = convert (x, (int2)(1, 2), f(3, 4)) + A;
`

func TestFirst(t *testing.T) {
	for word, want := range map[string]struct {
		at   string
		call int
	}{"fetch": {"a.cl:12", 1}, "WT": {"b.cl:3", 0}, "convert": {"b.cl:4", 3}, "y": {"b.cl:4", 0}, "float": {"a.cl:3", 0}} {
		at, call, found := First(namesText, word)
		if !found || at.String() != want.at || call != want.call {
			t.Errorf("%s: %s, a call with %d arguments, found %v, want %+v", word, at, call, found, want)
		}
	}
	if _, _, found := First(namesText, "SINGLE"); found {
		t.Error("a word of a condition is found")
	}
	if at, _, found := First("\n\nint x;", "x"); !found || at.String() != "line 3 of the source" {
		t.Error(at)
	}
}

func TestOffers(t *testing.T) {
	if got, want := Offers(namesText, "WT"), []Offer{{"SINGLE", Place{"a.cl", 2}}, {"DOUBLE", Place{"a.cl", 4}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := Offers(namesText, "lanes"), []Offer{{"cl_khr_subgroups", Place{"a.cl", 9}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, name := range []string{"LOAD", "mode", "x", "nothing"} {
		if got := Offers(namesText, name); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestIsEnum(t *testing.T) {
	for name, want := range map[string]bool{"mode": true, "__named": true, "A": false, "x": false, "": false} {
		if IsEnum(namesText, name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	IsEnum("enum", "x")
	IsEnum("typedef enum {", "x")
}

func TestLined(t *testing.T) {
	lined := Lined(namesText)
	for place, want := range map[Place]string{{"a.cl", 3}: "#define WT float", {"b.cl", 1}: "typedef enum { A, B } mode;", {"b.cl", 4}: "int y = convert (x, (int2)(1, 2), f(3, 4)) + A;"} {
		if lined[place] != want {
			t.Errorf("%s is %q, want %q", place, lined[place], want)
		}
	}
	if lined := Lined("x\r\ny"); lined[Place{Line: 1}] != "x" || lined[Place{Line: 2}] != "y" {
		t.Error(lined)
	}
}
