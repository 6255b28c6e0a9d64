package record

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestTimeIsTheMedianOfTheLaunchesThatFilesHold reads files of older programs and of Kernel Tuner, whose time is the mean. Only a file without
// launches keeps it.
func TestTimeIsTheMedianOfTheLaunchesThatFilesHold(t *testing.T) {
	header := `{"format":"ndtune-run-log","version":2,"device":{},"parameters":[{"name":"x","values":[1,2]}],"objective":{"name":"time"},"verified":false}`
	lines := []string{`{"kind":"result","configuration":{"x":1},"status":"correct","times":[1,1,100],"objective":34}`,
		`{"kind":"result","configuration":{"x":2},"status":"correct","times":[2,2,2],"objective":2}`}
	var log bytes.Buffer
	for _, line := range append([]string{header}, lines...) {
		log.Write(endLine([]byte(line)))
	}
	cache := `{"device_name":"d","kernel_name":"k","tune_params_keys":["x"],"tune_params":{"x":[1,2]},"cache":{` +
		`"1":{"x":1,"time":34,"times":[1,1,100]},"2":{"x":2,"time":2%s}}}`
	t4 := `{"metadata":{"timeunit":"miliseconds"%s},"results":[{"configuration":{"x":1},"times":{"runtimes":[1,1,100]},"invalidity":"correct",` +
		`"measurements":[{"name":"time","value":34}],"objectives":["time"]%s},{"configuration":{"x":2},"times":{"runtimes":[2,2,2]},"invalidity":"correct",` +
		`"measurements":[{"name":"time","value":2}],"objectives":["time"]%s}],"schema_version":"1.0.0"}`
	for name, file := range map[string]string{
		"log": log.String(), "cache": fmt.Sprintf(cache, `,"times":[2,2,2]`), "foreign T4": fmt.Sprintf(t4, "", "", ""),
		"T4":                  fmt.Sprintf(t4, `,"ndtune":`+header, `,"ndtune":`+lines[0], `,"ndtune":`+lines[1]),
		"cache with one mean": fmt.Sprintf(cache, ""),
	} {
		r, err := Decode([]byte(file))
		if err != nil {
			t.Fatal(name, err)
		}
		if a, b := r.Results[0], r.Results[1]; a.Objective != 1 || a.Time() != 1 || b.Objective != 2 || len(a.Times) != 3 {
			t.Errorf("%s: the objectives are %v and %v, the first time %v", name, a.Objective, b.Objective, a.Time())
		}
		if got, want := r.Header.MeansOnly, strings.Count(name, "one mean"); got != want {
			t.Errorf("%s: %d results have a mean only, want %d", name, got, want)
		}
	}
}
