package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// topRange is the part by which a result in a results file of Kernel Tuner may be worse than the best.
const topRange = 0.03

// A resultsFile is a file of store_results of Kernel Tuner. Each result has device_name, problem_size,
// tunable_parameters and the value of the objective under the objective's name.
type resultsFile struct {
	Version    string                       `json:"version_number"`
	Kernel     string                       `json:"kernel_name"`
	Source     string                       `json:"kernel_string,omitempty"`
	Objective  string                       `json:"objective"`
	Maximize   bool                         `json:"objective_higher_is_better"`
	Parameters []string                     `json:"tunable_parameters"`
	Data       []map[string]json.RawMessage `json:"data"`
}

// KernelTuner returns the results file that store_results of Kernel Tuner would write after the runs of some
// records of a problem, and the header that create_device_targets makes of it. Of each device and size, the file
// has the results that are less than 3 % worse than the best, and only finalists if there are any. Old is the file
// of earlier runs, or nil: its results of other devices and sizes stay.
func KernelTuner(old []byte, p *problem.Problem, records []*record.Record) (results, header []byte, err error) {
	var source table // "": it is made for each configuration
	if err := source.addSource(p); err != nil {
		return nil, nil, err
	}
	o := p.Objective()
	f := &resultsFile{"1.0", p.KernelName(), strings.Join(source.Source, ""), o.Name, o.Maximize, p.Parameters().Names(), nil}
	if old != nil {
		if err := f.addOld(old); err != nil {
			return nil, nil, err
		}
	}
	merged, err := mergeRecords(p, records)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range merged {
		device, size := underscored(r.Header.Device.Name), sizeText(r.Header.ProblemSize)
		f.Data = slices.DeleteFunc(f.Data, func(e map[string]json.RawMessage) bool {
			return text(e["device_name"]) == device && text(e["problem_size"]) == size
		})
		for _, top := range topOf(o, r.Results) {
			parameters := map[string]record.JSONValue{}
			for i, name := range p.Parameters().Names() {
				parameters[name] = record.JSONValue{Value: top.Configuration.At(i)}
			}
			e := map[string]json.RawMessage{}
			for name, v := range map[string]any{
				"device_name": device, "problem_size": size, "tunable_parameters": parameters, o.Name: top.Figures().Objective,
			} {
				if e[name], err = json.Marshal(v); err != nil {
					return nil, nil, fmt.Errorf("%s of %s: %w", name, top.Configuration, err)
				}
			}
			f.Data = append(f.Data, e)
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(f); err != nil {
		return nil, nil, err
	}
	header, err = f.targets()
	return b.Bytes(), header, err
}

// addOld adds the results of an earlier file, which must be about the same.
func (f *resultsFile) addOld(data []byte) error {
	var old resultsFile
	if err := json.Unmarshal(data, &old); err != nil {
		return fmt.Errorf("it is not a results file of Kernel Tuner: %w", err)
	}
	switch {
	case old.Version != f.Version:
		return fmt.Errorf("it is not a results file of Kernel Tuner of version %s: version_number is %q", f.Version, old.Version)
	case old.Kernel != f.Kernel:
		return fmt.Errorf("it is about the kernel %s, not %s", old.Kernel, f.Kernel)
	case old.Objective != f.Objective || old.Maximize != f.Maximize:
		return fmt.Errorf("its objective is %s (higher is better: %t), not %s (%t)", old.Objective, old.Maximize, f.Objective, f.Maximize)
	case !slices.Equal(slices.Sorted(slices.Values(old.Parameters)), slices.Sorted(slices.Values(f.Parameters))):
		return fmt.Errorf("its parameters are %s, not %s", strings.Join(old.Parameters, ", "), strings.Join(f.Parameters, ", "))
	case old.Source != "" && old.Source != f.Source:
		return fmt.Errorf("its results are of another source of the kernel: remove it, or write to another folder")
	}
	f.Parameters, f.Data = old.Parameters, old.Data
	return nil
}

// topOf returns the results that are less than topRange worse than the best, the best first; only finalists if there
// are any.
func topOf(o judge.Objective, results []tune.Result) (top []*tune.Result) {
	k := tune.Rank(o, results)
	if k.Finalists > 0 {
		k.Indices = k.Indices[:k.Finalists]
	}
	for _, i := range k.Indices {
		best, own := results[k.Indices[0]].Figures().Objective, results[i].Figures().Objective
		if worse := math.Abs(own - best); worse == 0 || worse < topRange*math.Abs(best) {
			top = append(top, &results[i])
		}
	}
	return top
}

// targets returns the header with the configurations by device. As in Kernel Tuner, that of a device is the one that
// is in the file for most of its sizes, and of several such ones that with the best sum of the objective.
func (f *resultsFile) targets() ([]byte, error) {
	type candidate struct {
		values map[string]record.JSONValue
		count  int
		sum    float64
	}
	byDevice := map[string]map[string]*candidate{"": {}} // "": all devices
	for i, e := range f.Data {
		var values map[string]record.JSONValue
		var objective float64
		if json.Unmarshal(e["tunable_parameters"], &values) != nil || json.Unmarshal(e[f.Objective], &objective) != nil ||
			text(e["device_name"]) == "" {
			return nil, fmt.Errorf("data[%d] of the results file of Kernel Tuner has no device_name, tunable_parameters or %s", i, f.Objective)
		}
		key := ""
		for _, name := range f.Parameters {
			if _, ok := values[name]; !ok {
				return nil, fmt.Errorf("data[%d] of the results file of Kernel Tuner has no %s", i, name)
			}
			key += fmt.Sprintf("%q,", space.FormatValue(values[name].Value))
		}
		if f.Maximize {
			objective = -objective
		}
		for _, device := range []string{text(e["device_name"]), ""} {
			if byDevice[device] == nil {
				byDevice[device] = map[string]*candidate{}
			}
			if byDevice[device][key] == nil {
				byDevice[device][key] = &candidate{values: values}
			}
			c := byDevice[device][key]
			c.count++
			c.sum += objective
		}
	}
	if len(f.Data) == 0 {
		return nil, fmt.Errorf("the results file of Kernel Tuner has no results")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* The best configurations of %s by device, for -DTARGET_device, as Kernel Tuner writes them; by ndtune. */\n"+
		"#pragma once\n#ifndef kernel_tuner /* only use these when not tuning */\n\n", f.Kernel)
	directive := "#if"
	for _, device := range append(slices.Sorted(maps.Keys(byDevice))[1:], "") {
		if device == "" {
			fmt.Fprintf(&b, "#else /* default configuration */\n")
		} else {
			fmt.Fprintf(&b, "%s defined(TARGET_%s)\n", directive, device)
		}
		directive = "#elif"
		all := byDevice[device]
		best := slices.MinFunc(slices.Sorted(maps.Keys(all)), func(x, y string) int {
			return cmp.Or(cmp.Compare(all[y].count, all[x].count), cmp.Compare(all[x].sum, all[y].sum))
		})
		for _, name := range f.Parameters {
			fmt.Fprintf(&b, "#define %s %s\n", name, space.FormatValue(all[best].values[name].Value))
		}
	}
	fmt.Fprintf(&b, "#endif /* GPU TARGETS */\n\n#endif /* kernel_tuner */\n")
	return b.Bytes(), nil
}

// mergeRecords returns a record for each device and size of some records, in the order of these. Of a configuration that
// is in several of them, the last result counts: the measurements in turn, where there are some. It is an error if a
// record is of another source of the kernel, has another objective, or other constants at the same size.
func mergeRecords(p *problem.Problem, records []*record.Record) (merged []*record.Record, err error) {
	for _, r := range records {
		h := &r.Header
		at := fmt.Sprintf("on %s at %s", h.Device.Name, figure.Sizes(h.ProblemSize))
		switch {
		case h.KernelDigest != "" && h.KernelDigest != p.KernelDigest():
			return nil, fmt.Errorf("the record %s is of another source of the kernel: tune it again", at)
		case !h.Objective.Equal(p.Objective()):
			return nil, fmt.Errorf("the record %s has the objective %s, the specification %s", at, objectiveNames(h.Objective), objectiveNames(p.Objective()))
		case !slices.EqualFunc(h.Parameters, p.Parameters().Names(), func(q space.Parameter, name string) bool { return q.Name == name }):
			return nil, fmt.Errorf("the record %s has other parameters than the specification", at)
		}
		i := slices.IndexFunc(merged, func(m *record.Record) bool {
			return underscored(m.Header.Device.Name) == underscored(h.Device.Name) && slices.Equal(m.Header.ProblemSize, h.ProblemSize)
		})
		if i < 0 {
			i, merged = len(merged), append(merged, &record.Record{Header: *h})
		}
		m := merged[i]
		for _, c := range h.Constants {
			if !slices.Contains(m.Header.Constants, c) {
				return nil, fmt.Errorf("two records %s differ in the constant %s, which the files of other tuners cannot tell: give one of them", at, c.Name)
			}
		}
		m.Results = slices.DeleteFunc(m.Results, func(old tune.Result) bool {
			return slices.ContainsFunc(r.Results, func(own tune.Result) bool { return own.Configuration.String() == old.Configuration.String() })
		})
		m.Results = append(m.Results, r.Results...)
	}
	return merged, nil
}

// sizeText returns a problem size as Kernel Tuner writes it: 4096x1024.
func sizeText(size []int) string { return strings.ReplaceAll(figure.Sizes(size), "×", "x") }

var notAlphanumeric = regexp.MustCompile(`[^0-9a-zA-Z]+`)

// underscored returns a name in which underscores replace all that is neither a letter nor a digit.
func underscored(name string) string {
	return notAlphanumeric.ReplaceAllString(strings.TrimSpace(name), "_")
}

// text returns a text of JSON, "" if it is none.
func text(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

// objectiveNames returns the names of objectives for a message.
func objectiveNames(o judge.Objective) string {
	var names []string
	for _, one := range o.All() {
		names = append(names, one.Name)
	}
	return strings.Join(names, ", ")
}
