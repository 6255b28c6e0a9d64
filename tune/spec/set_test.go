package spec

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ndtune/ndtune/tune/definition"
)

func TestSetKeys(t *testing.T) {
	const text = "measure: &m {launches: 5, observe: [clock]}\n" +
		"metrics: {joules: 2 * energy}\n"
	d := loaded(t, text, Options{Set: map[string]string{
		"spec.measure.cache": "cold", "spec.measure.window": "2s", "spec.measure.early_stop": "0", "spec.measure.observe[1]": "energy",
		"spec.objective": "time, minimize joules", "spec.choose": "joules <= 1.1 * best.joules",
		"spec.metrics.watts": "joules / time", "spec.baseline": "{block_size_x: 64}",
		"spec.arguments[0].size": "2 * n",
	}}).Definition
	timing := definition.Timing{Cache: definition.CacheCold, Launches: 5, EarlyStop: definition.NoEarlyStop}
	if d.Measure.Timing != timing || d.Measure.Window != 2*time.Second || strings.Join(d.Measure.Observe, " ") != "clock energy" {
		t.Errorf("measure: %+v", d.Measure)
	}
	if d.Objective.String() != "minimize time, minimize joules" || d.Objective.Choose != "joules <= 1.1 * best.joules" {
		t.Errorf("objective: %+v", d.Objective)
	}
	if len(d.Metrics) != 2 || d.Metrics[1].Name != "watts" || d.Baseline["block_size_x"] != 64 || d.Arguments[0].Size != "2 * n" {
		t.Errorf("metrics %v, baseline %v, arguments %v", d.Metrics, d.Baseline, d.Arguments)
	}
}

// TestSetKeysOfALongList adds twelve items to a list, each after the last one.
func TestSetKeysOfALongList(t *testing.T) {
	set := map[string]string{}
	for i := range 12 {
		set[fmt.Sprintf("spec.restrictions[%d]", i)] = fmt.Sprintf("block_size_x >= %d", i)
	}
	all := loaded(t, "", Options{Set: set}).Definition.Restrictions
	for i, r := range all {
		if want := fmt.Sprintf("block_size_x >= %d", i); r.Expression != want {
			t.Errorf("restriction %d is %q, want %q", i, r.Expression, want)
		}
	}
	if len(all) != 12 {
		t.Errorf("%d restrictions, want 12", len(all))
	}
}

// TestSetKeysOfSharedNodes sets keys of mappings that the file shares with aliases.
func TestSetKeysOfSharedNodes(t *testing.T) {
	fsys := fstest.MapFS{"k.yaml": &fstest.MapFile{Data: []byte(with(
		"arguments: [&a {name: a, type: float*, size: 8}, *a, *a]\n"))}}
	doc := newDocument(files{fsys}, "k.yaml")
	root, errs := doc.parse()
	if errs != nil {
		t.Fatal(errs)
	}
	root = Options{Set: map[string]string{"spec.arguments[1].size": "9", "spec.arguments[2].size": "10"}}.setKeys(doc, root)
	d := doc.field("", root).definition()
	if d.Arguments[0].Size != "8" || d.Arguments[1].Size != "9" || d.Arguments[1].Type != "float*" || d.Arguments[2].Size != "10" {
		t.Errorf("the sizes are %v", d.Arguments)
	}
}

func TestWrongKeys(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"measure.cache", "tepid", `good.yaml: --set spec.measure.cache=tepid: "tepid" is neither warm nor cold`},
		{"measure.cach", "cold", `good.yaml: --set spec.measure.cach=cold: unknown key; did you mean "cache"?`},
		{"mesure.cache", "cold", `good.yaml: --set spec.mesure.cache=cold: unknown key; did you mean "measure"?`},
		{"measure", "{launchs: 3}", `good.yaml: --set spec.measure={launchs: 3}: measure.launchs: unknown key; did you mean "launches"?`},
		{"measure.window", "100us", `good.yaml: --set spec.measure.window=100us: 100µs: want a duration from 1ms to 1h0m0s, such as 2s`},
		{"measure.early_stop", "0.5", `good.yaml: --set spec.measure.early_stop=0.5: 0.5: want a factor above 1, or 0 for never`},
		{"measure.early_stop", ".nan", `.nan is not a finite number`},
		{"objective", "tme", `good.yaml: --set spec.objective=tme: "tme" is neither a metric nor a time (time, time_median, time_mean, time_min); did you mean "time"?`},
		{"objective", "time,,", `good.yaml: --set spec.objective=time,,: "time,,": an objective has no name`},
		{"arguments[7].size", "1", `good.yaml: --set spec.arguments[7].size=1: arguments has no item 7`},
		{"kernel.name.first", "1", `good.yaml: --set spec.kernel.name.first=1: kernel.name has no keys: it is the text`},
		{"measure..", "1", `".." is no path; write one such as measure.cache or arguments[0].size`},
		{"choose", "", `good.yaml: --set spec.choose=: no value is given`},
		{"choose", "{", `good.yaml: --set spec.choose={: not YAML: did not find expected node content`},
	} {
		_, err := LoadFS(library(), "good.yaml", Options{Set: map[string]string{"spec." + c.key: c.value}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s:\n got %v\nwant %s", c.key, c.value, err, c.want)
		}
	}
}
