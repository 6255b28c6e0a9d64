package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// The functions here read members of files that others write. Of what a run does not need
// they take what they understand and leave out the rest; raw is nil where the file has no
// such member.

// maximized are the objectives of which Kernel Tuner takes more to be better.
var maximized = []string{
	"GFLOP/s", "TFLOP/s", "GB/s", "TB/s", "GFLOPS/W", "TFLOPS/W", "GFLOP/J", "TFLOP/J", "fitness",
}

func objectiveOf(name string) score.Objective {
	name = cmp.Or(name, "time")
	return score.Objective{Name: name, Maximize: slices.Contains(maximized, name)}
}

// textMember is the text of a value, of a value that is no text its JSON.
func textMember(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		return unquote(raw)
	}
	return strings.Trim(string(raw), "{}[]\n ")
}

// listMember is a list, or a value that stands alone; nil where it is neither. Kernel Tuner also writes
// expressions as problem sizes.
func listMember[T any](raw []byte) (list []T) {
	var one T
	switch {
	case json.Unmarshal(raw, &list) == nil:
		return list
	case json.Unmarshal(raw, &one) == nil:
		return []T{one}
	}
	return nil
}

// millisecondsMember is a duration that a file gives in a unit of so many milliseconds; 0
// where it is none.
func millisecondsMember(raw []byte, unit float64) time.Duration {
	ms, err := parseNumber(raw)
	if ms *= unit; err != nil || !(math.Abs(ms) < 1e12) { // 30 years
		return 0
	}
	return time.Duration(math.Round(ms * 1e6))
}

// timestampMember is a point in time in one of the forms that Python gives it; zero where
// it is none.
func timestampMember(raw []byte) time.Time {
	if len(raw) == 0 || raw[0] != '"' {
		return time.Time{}
	}
	text := strings.Replace(unquote(raw), "T", " ", 1)
	for _, form := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// errorValue is what old versions of Kernel Tuner write as the time of any failure.
const errorValue = 1e20

// errorName is the name of a failure. Kernel Tuner has three, and writes one where the value of
// the objective would stand, in its cache files and in T4. Readers know no others.
func errorName(s tune.Status) string {
	switch s {
	case tune.Compile:
		return "CompilationFailedConfig"
	case tune.Constraints:
		return "InvalidConfig"
	}
	return "RuntimeFailedConfig" // of a timeout and a wrong output too
}

// statusOfError is the status of a failure by the name that Kernel Tuner, in whatever
// version, gives it. Some versions write an empty name.
func statusOfError(name string) tune.Status {
	has := func(part string) bool { return strings.Contains(strings.ToLower(name), part) }
	switch {
	case has("compil"):
		return tune.Compile
	case has("invalid"), has("constraint"):
		return tune.Constraints
	case has("timeout"):
		return tune.Timeout
	case has("correctness"), has("verif"):
		return tune.Correctness
	}
	return tune.Runtime
}

// A gatherer makes the list of parameters of a file that has none, or an incomplete one,
// from the configurations in it.
type gatherer struct {
	parameters []space.Parameter
	index      map[string]int
	seen       []map[string]bool // the JSON of values
	texts      []map[string]bool // values, and plain values, as texts
}

func newGatherer(names []string) *gatherer {
	g := &gatherer{index: map[string]int{}}
	for _, name := range names {
		g.name(name)
	}
	return g
}

func (g *gatherer) name(name string) int {
	i, ok := g.index[name]
	if !ok {
		i = len(g.parameters)
		g.index[name] = i
		g.parameters = append(g.parameters, space.Parameter{Name: name})
		g.seen, g.texts = append(g.seen, map[string]bool{}), append(g.texts, map[string]bool{})
	}
	return i
}

// value adds a value to parameter i unless it has one that is the same for a kernel.
func (g *gatherer) value(i int, raw []byte) error {
	if g.seen[i][string(raw)] {
		return nil
	}
	p := &g.parameters[i]
	v, err := space.ParseValue(raw)
	if err != nil {
		return fmt.Errorf("parameter %s: %w", p.Name, err)
	}
	g.seen[i][string(raw)] = true
	text, plain := space.FormatValue(v), space.FormatValue(space.Plain(v))
	if !g.texts[i][text] && !g.texts[i][plain] {
		g.texts[i][text], g.texts[i][plain] = true, true
		p.Values = append(p.Values, v)
	}
	return nil
}

// sort puts the values of parameters that have nothing but numbers in ascending order.
func (g *gatherer) sort() {
	for _, p := range g.parameters {
		other := func(v space.Value) bool {
			_, isInt := v.(int)
			_, isFloat := v.(float64)
			return !isInt && !isFloat
		}
		if !slices.ContainsFunc(p.Values, other) {
			slices.SortStableFunc(p.Values, func(a, b space.Value) int {
				x, _ := space.Number(a)
				y, _ := space.Number(b)
				return cmp.Compare(x, y)
			})
		}
	}
}
