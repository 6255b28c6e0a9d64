package record

import (
	"fmt"
	"strings"
	"testing"
)

// TestManyValues: the time to read a parameter's values grows with their number, not with
// its square.
func TestManyValues(t *testing.T) {
	const n = 1 << 16
	values, results := make([]string, n), make([]string, n)
	for i := range n {
		values[i] = fmt.Sprintf(`"value %d"`, i)
		results[i] = fmt.Sprintf(`{"configuration": {"x": %s}, "times": {"runtimes": [1]}, "invalidity": "correct"}`, values[i])
	}
	cache := fmt.Sprintf(`{"tune_params": {"x": [%s]}, "cache": {"v": {"x": %s, "time": 1}}}`, strings.Join(values, ","), values[n-1])
	t4 := fmt.Sprintf(`{"results": [%s]}`, strings.Join(results, ","))
	for i := range n { // read as integers, given as floats
		values[i] = fmt.Sprint(i)
		results[i] = fmt.Sprintf(`{"configuration": {"x": %d.0}, "times": {"runtimes": [1]}, "invalidity": "correct"}`, i)
	}
	own := fmt.Sprintf(`{"metadata": {"ndtune": {"parameters": [{"name": "x", "values": [%s]}]}}, "results": [%s]}`, strings.Join(values, ","), strings.Join(results, ","))
	for _, text := range []string{cache, t4, own} {
		if got := len(mustDecode(t, text).Header.Parameters[0].Values); got != n {
			t.Errorf("%.20s…: %d values, want %d", text, got, n)
		}
	}
}

// TestTooManyColumns: each parameter and each metric is one.
func TestTooManyColumns(t *testing.T) {
	result := func(configuration, measurements string) string {
		return fmt.Sprintf(`{"configuration": {%s}, "times": {"runtimes": [1]}, "invalidity": "correct", "measurements": [%s]}`, configuration, measurements)
	}
	parameters, metrics := make([]string, maxParameters+1), make([]string, maxMetrics+1)
	for i := range parameters {
		parameters[i] = fmt.Sprintf(`"p%d": 1`, i)
	}
	for i := range metrics {
		metrics[i] = result(fmt.Sprintf(`"x": %d`, i), fmt.Sprintf(`{"name": "m%d", "value": 1}`, i))
	}
	for _, c := range []struct{ results, want string }{
		{result(strings.Join(parameters[1:], ","), ""), ""},
		{result(strings.Join(parameters, ","), ""), "its results have 10001 parameters, more than the 10000 that are read"},
		{strings.Join(metrics[1:], ","), ""},
		{strings.Join(metrics, ","), "its results have 2001 metrics, more than the 2000 that are read"},
	} {
		_, err := Decode([]byte(`{"results": [` + c.results + `]}`))
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
