package record

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// Losses says what of a record would be lost in a format, one of [Formats], for people: «the
// problem's digest», «reasons (155 results)». It writes the record in that format, reads it
// back and compares, so that it can neither forget nor invent a loss.
func Losses(r *Record, format string) ([]string, error) {
	e, err := encodingNamed(format)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := e.encode(&b, r); err != nil {
		return nil, err
	}
	back, err := Decode(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("read back what was written: %w", err)
	}
	return append(headerLosses(&r.Header, &back.Header), resultLosses(r, back)...), nil
}

// headerLosses are the fields that were something and are something else now.
func headerLosses(was, is *Header) []string {
	var lost []string
	for _, f := range []struct {
		what    string
		was, is any
	}{
		{"the problem's digest", was.Digest, is.Digest},
		{"the kernel's digest", was.KernelDigest, is.KernelDigest},
		{"the measurement's digest", was.MeasurementDigest, is.MeasurementDigest},
		{"the kernel's name", was.Kernel, is.Kernel},
		{"the specification's name", was.Source, is.Source},
		{"the device's name", was.Device.Name, is.Device.Name},
		{"what else is known of the device", nameless(was.Device), nameless(is.Device)},
		{"the lists of the parameters' values as they were", was.Parameters, is.Parameters},
		{"the constants", was.Constants, is.Constants},
		{"the problem size", was.ProblemSize, is.ProblemSize},
		{"its name among several sizes", was.Size, is.Size},
		{"the objective", was.Objective.String(), is.Objective.String()},
		{"the choice among the front", was.Objective.Choose, is.Objective.Choose},
		{"the baseline", was.Baseline, is.Baseline},
		{"the list of metrics", was.Metrics, is.Metrics},
		{"the number of iterations", was.Iterations, is.Iterations},
		{"the state of the caches", was.Cache, is.Cache},
		{"whether outputs are verified", was.Verified, is.Verified},
		{"the strategy", was.Strategy, is.Strategy},
		{"the seed", was.Seed, is.Seed},
		{"the priors", was.Priors, is.Priors},
		{"the start of the run", instant(was.Started), instant(is.Started)},
		{"the program that wrote it", was.Tool, is.Tool},
	} {
		if !isEmpty(f.was) && !reflect.DeepEqual(f.was, f.is) {
			lost = append(lost, f.what)
		}
	}
	return lost
}

// nameless is a device without its name, and without the timer that other formats are
// assumed to have used.
func nameless(d hardware.Device) hardware.Device {
	d.Name = ""
	if d.Timer == hardware.TimerEvent {
		d.Timer = ""
	}
	return d
}

// instant is a point in time that can be compared, in whatever zone it is.
func instant(t time.Time) time.Time { return t.UTC().Round(0) }

func isEmpty(v any) bool {
	r := reflect.ValueOf(v)
	return r.IsZero() || r.Kind() == reflect.Slice && r.Len() == 0
}

// resultLosses counts the results that differ, by what they differ in.
func resultLosses(was, is *Record) []string {
	if len(was.Results) != len(is.Results) {
		return []string{fmt.Sprintf("results (%d of %d)", len(was.Results)-len(is.Results), len(was.Results))}
	}
	sameObjective := objectiveName(was.Header.Objective) == objectiveName(is.Header.Objective)
	var lost []string
	for _, f := range []struct {
		what string
		same func(a, b *tune.Result) bool
	}{
		{"configurations", func(a, b *tune.Result) bool { return sameValues(a.Configuration, b.Configuration) }},
		{"statuses", func(a, b *tune.Result) bool { return a.Status == b.Status }},
		{"reasons", func(a, b *tune.Result) bool { return a.Reason == b.Reason }},
		{"times", func(a, b *tune.Result) bool { return slices.EqualFunc(a.Times, b.Times, sameNumber) }},
		{"which outputs were verified", func(a, b *tune.Result) bool { return a.Verified == b.Verified }},
		{"marks of being measured once", func(a, b *tune.Result) bool { return a.EarlyStopped == b.EarlyStopped }},
		{"which device measured", func(a, b *tune.Result) bool { return a.Device == b.Device }},
		{"sizes of the launches", sameLaunches},
		{"metrics", sameMetrics},
		{"uncertainties and reasons of what was observed", sameReadings},
		{"values of the objective", func(a, b *tune.Result) bool { return !sameObjective || sameNumber(a.Objective, b.Objective) }},
		{"durations as they were", func(a, b *tune.Result) bool { return a.Durations == b.Durations }},
		{"timestamps as they were", func(a, b *tune.Result) bool { return a.Timestamp.Equal(b.Timestamp) }},
		{"launches of the final measurement", func(a, b *tune.Result) bool { return slices.EqualFunc(a.Final, b.Final, sameNumber) }},
		{"which device made the final measurement", func(a, b *tune.Result) bool { return a.FinalDevice == b.FinalDevice }},
		{"metrics and objective of the final measurement", sameFinals},
		{"times on several cards", func(a, b *tune.Result) bool { return slices.EqualFunc(a.Cards, b.Cards, sameCard) }},
	} {
		n := 0
		for i := range was.Results {
			if !f.same(&was.Results[i], &is.Results[i]) {
				n++
			}
		}
		switch {
		case n == 1:
			lost = append(lost, f.what+" (1 result)")
		case n > 1:
			lost = append(lost, fmt.Sprintf("%s (%d results)", f.what, n))
		}
	}
	return lost
}

func sameLaunches(a, b *tune.Result) bool {
	return slices.Equal(a.Global, b.Global) && slices.Equal(a.Local, b.Local) && slices.Equal(a.Offset, b.Offset) && reflect.DeepEqual(a.Parts, b.Parts)
}

func sameCard(a, b tune.CardTimes) bool {
	return a.Device == b.Device && slices.EqualFunc(a.Times, b.Times, sameNumber)
}

// sameNumber takes all NaN for one.
func sameNumber(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// sameValues reports whether two configurations are the same for a kernel.
func sameValues(a, b space.Configuration) bool {
	if a.Len() != b.Len() {
		return false
	}
	for _, name := range a.Parameters().Names() {
		v, _ := a.Get(name)
		if w, ok := b.Get(name); !ok || !space.SameValue(v, w) {
			return false
		}
	}
	return true
}

// sameMetrics does not mind the order.
func sameMetrics(a, b *tune.Result) bool {
	return len(a.Metrics) == len(b.Metrics) && !slices.ContainsFunc(a.Metrics, func(m problem.MetricValue) bool {
		v, ok := b.Metric(m.Name)
		return !ok || !sameNumber(m.Value, v)
	})
}

// sameReadings does not mind values, which are metrics.
func sameReadings(a, b *tune.Result) bool {
	same := func(x, y hardware.Reading) bool {
		return x.Quantity == y.Quantity && sameNumber(x.Value, y.Value) && x.Uncertainty == y.Uncertainty && x.Missing == y.Missing && x.Note == y.Note
	}
	return slices.EqualFunc(a.Readings, b.Readings, same) && slices.EqualFunc(a.FinalReadings, b.FinalReadings, same)
}

// sameFinals minds only what was known: some of it is derived from the times when a file is read.
func sameFinals(a, b *tune.Result) bool {
	if a.AtFinal == nil {
		return true
	}
	if b.AtFinal == nil {
		return math.IsNaN(a.AtFinal.Objective) && len(a.AtFinal.Metrics) == 0
	}
	x, y := tune.Result{Metrics: a.AtFinal.Metrics}, tune.Result{Metrics: b.AtFinal.Metrics}
	return sameMetrics(&x, &y) && sameNumber(a.AtFinal.Objective, b.AtFinal.Objective)
}
