package expression

import (
	"strings"
	"testing"
)

// TestListsAreBounded: neither a nested list nor a nested computation of lists takes the memory of the machine.
func TestListsAreBounded(t *testing.T) {
	for text, want := range map[string]string{
		"all(1..900000, # > 0)":                  "",
		"sum(map(1..1000, sum(1..900)))":         "",
		"len(1..1000001)":                        "column 6: its lists have more than 1000000 items",
		"len(map(1..3000, 1..3000))":             "column 19: its lists have more than 1000000 items",
		"all(1..900000, len(1..900000) > 0)":     "its lists have more than 1000000 items",
		"len(map(1..1000, map(1..1000, # + #)))": "its lists have more than 1000000 items",
	} {
		e, err := Compile(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = e.Eval(nil); err == nil != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestNotInTheLanguage: what the parser knows and the language has not is refused before anything is computed.
func TestNotInTheLanguage(t *testing.T) {
	for text, column := range map[string]string{
		"reduce(1..3, #acc + #)": "1: reduce", "find(1..3, # > 1)": "1: find", "x ?? 1": "3: ??", "nil": "1: nil", "{a: 1}.a": "1: {a: 1}",
		"[1, 2][0:1]": "7: [1, 2][0:1]",
	} {
		_, err := Compile(text, Scope{"x": 1})
		if err == nil || !strings.HasSuffix(err.Error(), "column "+column+" is not in the language of expressions") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
