package spec

import (
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

func TestParseConfiguration(t *testing.T) {
	p, err := space.NewParameters([]space.Parameter{
		{Name: "block", Values: []space.Value{16, 32}},
		{Name: "kind", Values: []space.Value{"float", "a,b"}},
		{Name: "scale", Values: []space.Value{0.5, 1.0}},
		{Name: "only", Values: []space.Value{7}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want, wrong string }{
		{text: "block=16,kind=float,scale=1", want: "block=16, kind=float, scale=1.0, only=7"},
		{text: " scale = 0.5, only=8 ,kind=a,b,block=48", want: "block=48, kind=a,b, scale=0.5, only=8"},
		{text: "block=16,kind=float", wrong: "no value for the parameter scale"},
		{text: "block=16,kind=float,scale=1,blok=2", wrong: `no parameter is named blok; did you mean "block"?`},
		{text: "block=16,block=32", wrong: "block is given twice"},
		{text: "", wrong: `"" is not of the form name=value`},
		{text: "16", wrong: `"16" is not of the form name=value`},
		{text: "block=,kind=float,scale=1", wrong: "block: no value is given"},
	} {
		got, err := ParseConfiguration(p, c.text)
		switch {
		case c.wrong != "" && (err == nil || err.Error() != c.wrong):
			t.Errorf("%q: error %v, want %s", c.text, err, c.wrong)
		case c.wrong == "" && (err != nil || got.String() != c.want):
			t.Errorf("%q: %v, %v, want %s", c.text, got, err, c.want)
		}
	}
}
