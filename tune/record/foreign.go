package record

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
)

// The functions here read members of files that others write. Of what a run does not need
// they take what they understand and leave out the rest; raw is nil where the file has no
// such member.

// maximized are the objectives of which Kernel Tuner takes more to be better.
var maximized = []string{
	"GFLOP/s", "TFLOP/s", "GB/s", "TB/s", "GFLOPS/W", "TFLOPS/W", "GFLOP/J", "TFLOP/J", "fitness",
}

func objectiveOf(name string) tune.Objective {
	if name == "" {
		name = "time"
	}
	return tune.Objective{Name: name, Maximize: slices.Contains(maximized, name)}
}

// textMember is the text of a value, of a value that is no text its JSON.
func textMember(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		return unquote(raw)
	}
	return strings.Trim(string(raw), "{}[]\n ")
}

// objectiveMember is the name of the objective, the first one where there are several.
func objectiveMember(raw []byte) string {
	if len(raw) > 0 && raw[0] == '[' {
		for first := range elements(raw) {
			return textMember(first)
		}
	}
	if len(raw) > 0 && raw[0] == '"' {
		return unquote(raw)
	}
	return ""
}

// sizeMember is a problem size: a number or a list of numbers. Kernel Tuner also writes
// expressions, which are left out.
func sizeMember(raw []byte) []int {
	if len(raw) == 0 {
		return nil
	}
	if raw[0] != '[' {
		if n, err := strconv.Atoi(string(raw)); err == nil {
			return []int{n}
		}
		return nil
	}
	var size []int
	for element := range elements(raw) {
		n, err := strconv.Atoi(string(element))
		if err != nil {
			return nil
		}
		size = append(size, n)
	}
	return size
}

// number is parseNumber for a member that may be missing.
func number(raw []byte) (float64, error) {
	if len(raw) == 0 {
		return 0, errors.New("no number")
	}
	return parseNumber(raw)
}

// numbersMember is a list of numbers in a unit; nil where there is none.
func numbersMember(raw []byte, unit float64) ([]float64, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	fs, err := parseNumbers(raw)
	if unit != 1 {
		for i := range fs {
			fs[i] *= unit
		}
	}
	return fs, err
}

// millisecondsMember is a duration that a file gives in a unit of so many milliseconds; 0
// where it is none.
func millisecondsMember(raw []byte, unit float64) time.Duration {
	ms, err := number(raw)
	if err != nil {
		return 0
	}
	return durationOf(ms * unit)
}

// durationOf is a duration of so many milliseconds; 0 where there is no such duration.
func durationOf(ms float64) time.Duration {
	if !(math.Abs(ms) < 1e12) { // 30 years
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
