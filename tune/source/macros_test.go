package source

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestOverride(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   string // "": unchanged
		places string
	}{
		"plain":                       {"#define N 4\nint a[N];\n", "\nint a[N];\n", "line 1 of the source: #define N 4"},
		"another macro":               {"#define NN 4\n#define M N\n", "", ""},
		"guarded":                     {"#ifndef N\n#define N 4\n#endif\n", "", ""},
		"guarded by defined":          {"#if !defined(N)\n#define N 4\n#endif\n", "", ""},
		"guarded by defined, no ()":   {"#if ! defined N\n#define N 4\n#endif\n", "", ""},
		"guarded by the else":         {"#ifdef N\n#else\n#define N 4\n#endif\n", "", ""},
		"under #if 0":                 {"#if 0\n#define N 4\n#endif\n", "", ""},
		"else of #if 0":               {"#if 0\n#else\n#define N 4\n#endif\n", "#if 0\n#else\n\n#endif\n", "line 3 of the source: #define N 4"},
		"guarded by another":          {"#ifndef M\n#define N 4\n#endif\n", "#ifndef M\n\n#endif\n", "line 2 of the source: #define N 4"},
		"for another specification":   {"#ifdef M\n#define N M\n#endif\n", "", ""},
		"of a macro defined here":     {"#define M 8\n#ifdef M\n#define N M\n#endif\n", "#define M 8\n#ifdef M\n\n#endif\n", "line 3 of the source: #define N M"},
		"of an extension":             {"#ifdef cl_khr_fp64\n#define N 4\n#endif\n", "#ifdef cl_khr_fp64\n\n#endif\n", "line 2 of the source: #define N 4"},
		"under an unknown condition":  {"#if __M > 2\n#define N 4\n#else\n#define N 8\n#endif\n", "#if __M > 2\n\n#else\n\n#endif\n", "line 2 of the source: #define N 4; line 4 of the source: #define N 8"},
		"under a condition of C":      {"#if M > 2\n#define N 4\n#else\n#define N 8\n#endif\n", "#if M > 2\n#define N 4\n#else\n\n#endif\n", "line 4 of the source: #define N 8"},
		"in the guard's else":         {"#ifndef N\n#else\n#define N 4\n#endif\n", "#ifndef N\n#else\n\n#endif\n", "line 3 of the source: #define N 4"},
		"after an elif":               {"#define M\n#ifndef N\n#elif M\n#define N 4\n#endif\n", "#define M\n#ifndef N\n#elif M\n\n#endif\n", "line 4 of the source: #define N 4"},
		"after an elif of no macro":   {"#ifndef N\n#elif M\n#define N 4\n#endif\n", "", ""},
		"removed and defined again":   {"#undef N\n#define N 4\n", "\n\n", "line 1 of the source: #undef N; line 2 of the source: #define N 4"},
		"with a comment":              {"#define N /* the\nsize */ 4 // of it\nN\n", "\n // of it\nN\n", "line 1 of the source: #define N 4"},
		"continued":                   {"# define \\\n  N \\\n 4\nN\n", "\n\n\nN\n", "line 1 of the source: #define N 4"},
		"in a comment or a literal":   {"/*\n#define N 4\n*/\n// #define N 4\nchar *s = \"#define N 4\";\n", "", ""},
		"with arguments":              {"#define N(x) x\n", "\n", "line 1 of the source: #define N(x) x (arguments)"},
		"after #line":                 {"#line 1 \"dir/a b.h\"\n\n#define N 4\n#line 7 \"k.cl\"\n#define N 8\n", "#line 1 \"dir/a b.h\"\n\n\n#line 7 \"k.cl\"\n\n", "dir/a b.h:2: #define N 4; k.cl:7: #define N 8"},
		"at the end without new line": {"#define N 4", "", "line 1 of the source: #define N 4"},
	} {
		got, removed := Override(c.source, []string{"N"}, nil)
		var places []string
		for _, r := range removed {
			place := r.At.String() + ": " + r.Text
			if r.Arguments {
				place += " (arguments)"
			}
			places = append(places, place)
		}
		if c.want == "" && c.places == "" {
			c.want = c.source
		}
		if got != c.want || strings.Join(places, "; ") != c.places {
			t.Errorf("%s: %q, %q; want %q, %q", name, got, places, c.want, c.places)
		}
	}
}

// TestOverrideAgainstPreprocessor preprocesses random sources: the value of the option holds in every
// line that the preprocessor reaches, and nothing is redefined.
func TestOverrideAgainstPreprocessor(t *testing.T) {
	cpp, err := exec.LookPath("cpp")
	if err != nil {
		t.Skip("there is no C preprocessor (cpp) to compare with")
	}
	r := rand.New(rand.NewPCG(14, 1))
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	overridden := 0
	for range 200 {
		var b strings.Builder
		depth := 0
		for range 3 + r.IntN(25) {
			switch r.IntN(8) {
			case 0, 1:
				fmt.Fprintln(&b, pick("#ifdef N", "#ifndef N", "#if defined(N)", "#if !defined N", "#if 0", "#if 1", "#if M == 1", "#ifndef M", "#if defined(N) && M"))
				depth++
			case 2:
				if depth > 0 {
					fmt.Fprintln(&b, pick("#elif M == 2", "#elif defined N"))
				}
			case 3:
				if depth > 0 {
					fmt.Fprintln(&b, "#else\nuse N\n#endif")
					depth--
				}
			case 4, 5:
				fmt.Fprintln(&b, pick("#define N 4", "#undef N", "# define N \\\n 4"))
			default:
				fmt.Fprintln(&b, "use N")
			}
		}
		b.WriteString(strings.Repeat("#endif\n", depth) + "use N\n")
		text, removed := Override(b.String(), []string{"N"}, []string{"M"})
		overridden += len(removed)
		if strings.Count(text, "\n") != strings.Count(b.String(), "\n") {
			t.Fatalf("other lines:\n%s\nof\n%s", text, b.String())
		}
		command := exec.Command(cpp, "-P", "-DN=8", "-DM="+pick("0", "1", "2"))
		var messages bytes.Buffer
		command.Stdin, command.Stderr = strings.NewReader(text), &messages
		output, err := command.Output()
		if err != nil || messages.Len() > 0 {
			t.Fatalf("%v: %s\n%s", err, &messages, text)
		}
		for _, line := range strings.Fields(strings.ReplaceAll(string(output), "use", "")) {
			if line != "8" {
				t.Fatalf("N is %s in\n%s\nof\n%s", line, output, text)
			}
		}
	}
	if overridden == 0 {
		t.Error("no directive was removed")
	}
}

func TestIdentifiers(t *testing.T) {
	words := Identifiers("#define A B // C\nint d = E[1] + 'F'; /* G */ char *s = \"H\"; x##I; #pragma unroll J\n#if K\n#endif")
	var got []string
	for w := range words {
		if len(w) == 1 && w >= "A" && w <= "Z" {
			got = append(got, w)
		}
	}
	slices.Sort(got)
	if strings.Join(got, "") != "ABEIJK" {
		t.Error(got)
	}
}
