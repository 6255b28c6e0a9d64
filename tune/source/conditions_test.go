package source

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestValue(t *testing.T) {
	macros := []Macro{{Name: "A", Text: "(B + 1)"}, {Name: "B", Text: "2u"}, {Name: "LOOP", Text: "LOOP"}, {Name: "TYPE", Text: "float"}}
	for text, want := range map[string]int64{
		"1": 1, "A": 3, "A == 3 && B != 3": 1, "2 + 3 * 4 - 1": 13, "(2 + 3) * 4": 20, "!A": 0, "-B + 5": 3, "0x10 >> 2": 4, "7 - 2 - 1": 4,
		"NOBODY": 0, "TYPE == 1": 0, "NOBODY == 1 || B < 2": 0, "defined(A) && !defined(NOBODY)": 1, "defined B + 1": 2, "1 << 4 | 3": 19, "7 % 4 / 2": 1, "A >= 3 & B <= 2 ^ 1": 0,
	} {
		if got, known := Value(text, macros); !known || got != want {
			t.Errorf("%s: %d, known %v, want %d", text, got, known, want)
		}
	}
	for _, text := range []string{"", "1 +", "(1", "1 2", "LOOP", "1 / 0", "1 % 0", "f(1)", "__VERSION__ > 1", "cl_khr_fp64", "defined(cl_khr_fp64)", "1 ? 2 : 3", "'a'", "defined"} {
		if got, known := Value(text, macros); known {
			t.Errorf("%s is known to be %d", text, got)
		}
	}
}

// TestDefined knows which names a compiler may define: not all that begin as one of OpenCL C does.
func TestDefined(t *testing.T) {
	for name, want := range map[string]truth{"HALF_STORE": no, "M_TILE": no, "INT_TYPE": no, "HALF_MAX": unknown, "M_PI_F": unknown, "__V": unknown, "__CUDA_ARCH__": no, "__HIPCC__": no, "cl_khr_fp16": unknown, "FP_FAST_FMA": unknown} {
		if got := (macroTable{}).defined(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestActive(t *testing.T) {
	const text = `#define LOCAL
#if WIDTH == 1
typedef a one;
#elif WIDTH == 2
#define TWO 1
typedef a two;
#if TWO
inner
#else
not
#endif
#elif WIDTH == 2
typedef a again;
#else
typedef a more;
#endif
#ifdef TWO
yes
#endif
#undef TWO
#ifdef TWO
no
#endif
#if defined(cl_khr_fp64)
perhaps
#else
otherwise
#endif
#if 0
#define TWO 1
#endif
#ifndef TWO // still
end
#endif
`
	got := Active(text, []Macro{{Name: "WIDTH", Text: "2"}})
	if strings.Count(got, "\n") != strings.Count(text, "\n") {
		t.Errorf("the lines have other numbers:\n%s", got)
	}
	words := strings.Join(tokens(got), " ")
	if want := "typedef a two ; inner yes perhaps otherwise end"; words != want {
		t.Errorf("%s, want %s", words, want)
	}
	if same := "a\n#if X\nb\n"; Active(same, []Macro{{Name: "X", Text: "?"}}) != same {
		t.Errorf("a condition that is not known leaves out text: %q", Active(same, nil))
	}
}

// TestMacrosThatGrow has a macro whose text would have 8^12 words.
func TestMacrosThatGrow(t *testing.T) {
	var macros []Macro
	for c := 'a'; c < 'm'; c++ {
		macros = append(macros, Macro{Name: string(c), Text: strings.Repeat(string(c+1)+" + ", 7) + string(c+1)})
	}
	if v, known := Value("a", macros); known {
		t.Errorf("%d", v)
	}
	if v, known := Value("k", macros); !known || v != 0 {
		t.Errorf("%d, %v", v, known)
	}
}

func TestDeepConditions(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(4 << 20))
	for _, sign := range []string{"(", "!", "-", "+", "(-"} {
		if v, known := Value(strings.Repeat(sign, 100_000)+"1", nil); known {
			t.Errorf("%s: %d", sign, v)
		}
	}
	if v, known := Value(strings.Repeat("(", 200)+"7"+strings.Repeat(")", 200), nil); !known || v != 7 {
		t.Errorf("200 brackets: %d, known %v", v, known)
	}
}
