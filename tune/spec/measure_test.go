package spec

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/definition"
)

// loadMeasure loads a specification with a measure from a folder.
func loadMeasure(t *testing.T, measure string, o Options) (folder string, s *Spec, err error) {
	t.Helper()
	folder = t.TempDir()
	path := filepath.Join(folder, "k.yaml")
	text := "kernel: {name: k, source: '__kernel void k(__global int *y) { *y = 1; }'}\nproblem_size: 1\n" +
		"arguments: [{name: y, type: int32, size: 1}]\nparameters: {block_size_x: [1]}\nmeasure: " + measure + "\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err = Load(path, o)
	return folder, s, err
}

func TestMeasure(t *testing.T) {
	folder, s, err := loadMeasure(t, "{observe: clock, window: 1500ms, settings: {power_limit: 2 * 150, clock: block_size_x}, instruments: [{command: [meter, -v], quantities: [wall, water], window: 2s, timeout: 30s}, {registered: gauge, quantities: pressure}]}",
		Options{Observe: []string{"energy", "clock", "wall"}})
	if err != nil {
		t.Fatal(err)
	}
	want := definition.Measure{Observe: []string{"clock", "energy", "wall"}, Instruments: []definition.Instrument{
		{Quantities: []string{"wall", "water"}, Window: 2 * time.Second, Command: &definition.Command{Args: []string{"meter", "-v"}, Dir: folder, Timeout: 30 * time.Second}},
		{Quantities: []string{"pressure"}, Registered: "gauge"},
	}, Window: 1500 * time.Millisecond, Settings: []definition.Setting{{Name: "power_limit", Expression: "2 * 150"}, {Name: "clock", Expression: "block_size_x"}}}
	if !reflect.DeepEqual(s.Definition.Measure, want) {
		t.Errorf("got  %+v\nwant %+v", s.Definition.Measure, want)
	}
	if got := strings.Join(s.Problem.Observed(), " "); got != "energy clock wall" {
		t.Errorf("observed are %s", got)
	}
}

func TestWrongMeasures(t *testing.T) {
	for _, c := range []struct {
		measure, observe, want string
	}{
		{"{observe: [clock, energi]}", "", `k.yaml:5:28: measure.observe[1]: "energi" cannot be observed; did you mean "energy"?`},
		{"{observe: clock}", "litres", `k.yaml: --observe litres: "litres" cannot be observed; the quantities are energy, mean_power, idle_power, clock, memory_clock, temperature, throttled`},
		{"{watch: clock}", "", `k.yaml:5:11: measure.watch: unknown key`},
		{"{instruments: [{command: meter}]}", "", `k.yaml:5:25: measure.instruments[0].quantities: the key is missing`},
		{"{instruments: [{registered: a, quantities: wall, timeout: 3s}]}", "", `measure.instruments[0].timeout: belongs to command`},
		{"{instruments: [{command: meter, quantities: wall, window: long}]}", "", `measure.instruments[0].window: "long" is no time; write one such as 30s or 5m`},
	} {
		o := Options{}
		if c.observe != "" {
			o.Observe = []string{c.observe}
		}
		folder, _, err := loadMeasure(t, c.measure, o)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), ""), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.measure, err, c.want)
		}
	}
}
