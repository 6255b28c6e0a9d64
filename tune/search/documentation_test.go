package search

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/golden"
)

// documentation is the descriptions as Markdown. Strategies with the same option share a row.
func documentation() string {
	var b strings.Builder
	b.WriteString("\n| strategy | what it does | source |\n|---|---|---|\n")
	for _, d := range Descriptions() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d.Name, d.Summary, d.Source)
	}
	b.WriteString("\n| strategies | option | default | values | meaning |\n|---|---|---|---|---|\n")
	var options []string
	users := map[string][]string{} // of each option
	for _, d := range Descriptions() {
		for _, o := range d.Options {
			row := fmt.Sprintf("`%s` | %s | %s | %s |\n", o.Name, o.Default, o.Range(), o.Meaning)
			if users[row] == nil {
				options = append(options, row)
			}
			users[row] = append(users[row], "`"+d.Name+"`")
		}
	}
	for _, row := range options {
		fmt.Fprintf(&b, "| %s | %s", strings.Join(users[row], ", "), row)
	}
	return b.String()
}

func TestDocumentationIsThatOfTheCode(t *testing.T) {
	const path = "../../docs/strategies.md"
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "-update -->\n"
	text, _, found := strings.Cut(string(content), mark)
	if !found {
		t.Fatalf("%s has no line that ends in %q", path, mark)
	}
	golden.File(t, path, text+mark+documentation())
}

// TestDescriptionsAreWhole: each has a summary of one line, and options whose defaults are
// among their values, with a meaning.
func TestDescriptionsAreWhole(t *testing.T) {
	for _, d := range Descriptions() {
		if d.Summary == "" || strings.Contains(d.Summary, "\n") {
			t.Errorf("%s: the summary is %q", d.Name, d.Summary)
		}
		for _, o := range d.Options {
			if _, err := o.parse(o.Default); err != nil || o.Meaning == "" {
				t.Errorf("%s: option %s: %v, meaning %q", d.Name, o.Name, err, o.Meaning)
			}
		}
	}
}

func TestWrongOptionsSayWhatIsWanted(t *testing.T) {
	for _, c := range []struct{ name, option, value, want string }{
		{"genetic_algorithm", "popsiz", "3", `the strategy genetic_algorithm has no option "popsiz"; did you mean "popsize"? (options: popsize, method, mutation_chance, pressure)`},
		{"genetic_algorithm", "popsize", "abc", "the strategy genetic_algorithm: popsize=abc: want a whole number from 2 to 10000"},
		{"genetic_algorithm", "popsize", "1", "the strategy genetic_algorithm: popsize=1: want a whole number from 2 to 10000"},
		{"genetic_algorithm", "method", "unifrom", "the strategy genetic_algorithm: method=unifrom: want one of uniform, single_point, two_point, disruptive_uniform"},
		{"simulated_annealing", "T", "NaN", "the strategy simulated_annealing: T=NaN: want a number from 1e-09"},
		{"simulated_annealing", "T", "+Inf", "the strategy simulated_annealing: T=+Inf: want a number from 1e-09"},
		{"brute_force", "x", "1", `the strategy brute_force has no option "x": it has none`},
	} {
		if err := Check(c.name, map[string]string{c.option: c.value}, 1); err == nil || err.Error() != c.want {
			t.Errorf("%s, %s=%s: %v, want %s", c.name, c.option, c.value, err, c.want)
		}
	}
}
