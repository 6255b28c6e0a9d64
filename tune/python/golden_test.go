package python

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/golden"
	"github.com/ndtune/ndtune/tune/expression"
)

// TestGoldenTranslations compares translations with testdata/translations.txt. The digest of a
// problem covers the text of a translation: where one changes, the logs of T1 files that have
// such an expression do not go on. A section gives the values of names, as «name = list», and
// expressions; each is translated as a condition and as a number.
func TestGoldenTranslations(t *testing.T) {
	golden.Check(t, "testdata/translations.txt", func(name, text string) string {
		var out strings.Builder
		names := Scope{}
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			parameter, list, isParameter := strings.Cut(line, " = ")
			if isParameter {
				line = list
			}
			e, err := Parse(line)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if isParameter {
				names[parameter] = domainOfList(t, e)
				continue
			}
			fmt.Fprintln(&out, line)
			for _, as := range []struct {
				name      string
				translate func(Scope) (string, error)
			}{{"condition", e.Condition}, {"number", e.Number}} {
				source, err := as.translate(names)
				if err != nil {
					source = "error: " + err.Error()
				}
				fmt.Fprintf(&out, "  %s: %s\n", as.name, source)
			}
		}
		return out.String()
	})
}

func domainOfList(t *testing.T, e *Expression) expression.Domain {
	t.Helper()
	v, err := e.Eval(nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := expression.DomainOf(v.([]any))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
