package record

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
)

// difference says in what two results differ, to the last bit; empty where they do not.
func difference(got, want tune.Result) string {
	switch {
	case !sameConfiguration(got, want):
		return fmt.Sprintf("configuration %v, want %v", got.Configuration, want.Configuration)
	case got.Status != want.Status:
		return fmt.Sprintf("status %q, want %q", got.Status, want.Status)
	case got.Reason != want.Reason:
		return fmt.Sprintf("reason %q, want %q", got.Reason, want.Reason)
	case !slices.EqualFunc(got.Times, want.Times, sameFloat):
		return fmt.Sprintf("times %v, want %v", got.Times, want.Times)
	case got.Verified != want.Verified:
		return fmt.Sprintf("verified %v, want %v", got.Verified, want.Verified)
	case got.EarlyStopped != want.EarlyStopped:
		return fmt.Sprintf("early stopped %v, want %v", got.EarlyStopped, want.EarlyStopped)
	case got.Device != want.Device:
		return fmt.Sprintf("device %q, want %q", got.Device, want.Device)
	case !slices.EqualFunc(got.Metrics, want.Metrics, func(a, b score.MetricValue) bool {
		return a.Name == b.Name && sameFloat(a.Value, b.Value)
	}):
		return fmt.Sprintf("metrics %v, want %v", got.Metrics, want.Metrics)
	case !sameFloat(got.Objective, want.Objective):
		return fmt.Sprintf("objective %v, want %v", got.Objective, want.Objective)
	case got.Durations != want.Durations:
		return fmt.Sprintf("durations %v, want %v", got.Durations, want.Durations)
	case !got.Timestamp.Equal(want.Timestamp):
		return fmt.Sprintf("timestamp %v, want %v", got.Timestamp, want.Timestamp)
	case !slices.EqualFunc(got.Final, want.Final, sameFloat):
		return fmt.Sprintf("final times %v, want %v", got.Final, want.Final)
	case !sameLaunches(&got, &want):
		return fmt.Sprintf("launches %v, want %v", got.Launches(), want.Launches())
	case got.FinalDevice != want.FinalDevice:
		return fmt.Sprintf("the final measurement is of %q, want %q", got.FinalDevice, want.FinalDevice)
	case !sameFinals(&want, &got):
		return fmt.Sprintf("at the final times %+v, want %+v", got.AtFinal, want.AtFinal)
	case !sameReadings(&want, &got):
		return fmt.Sprintf("readings %+v and %+v, want %+v and %+v", got.Readings, got.FinalReadings, want.Readings, want.FinalReadings)
	}
	return ""
}

// sameFloat compares bits; all NaN are one.
func sameFloat(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// sameConfiguration compares names, values and the types of values.
func sameConfiguration(a, b tune.Result) bool {
	c, d := a.Configuration, b.Configuration
	if c.Len() != d.Len() || c.String() != d.String() {
		return false
	}
	for i := range c.Len() {
		if c.At(i) != d.At(i) {
			return false
		}
	}
	return true
}

func sameLaunches(a, b *tune.Result) bool {
	return slices.Equal(a.Global, b.Global) && slices.Equal(a.Local, b.Local) && slices.Equal(a.Offset, b.Offset) && reflect.DeepEqual(a.Parts, b.Parts)
}

// sameReadings does not mind values, which are metrics.
func sameReadings(a, b *tune.Result) bool {
	same := func(x, y hardware.Reading) bool {
		return x.Quantity == y.Quantity && sameNumber(x.Value, y.Value) && x.Uncertainty == y.Uncertainty && x.Missing == y.Missing && x.Note == y.Note
	}
	return slices.EqualFunc(a.Readings, b.Readings, same) && slices.EqualFunc(a.FinalReadings, b.FinalReadings, same)
}

// sameFinals does not mind the order of metrics.
func sameFinals(a, b *tune.Result) bool {
	if a.AtFinal == nil || b.AtFinal == nil {
		return a.AtFinal == b.AtFinal
	}
	return sameNumber(a.AtFinal.Objective, b.AtFinal.Objective) && len(a.AtFinal.Metrics) == len(b.AtFinal.Metrics) &&
		!slices.ContainsFunc(a.AtFinal.Metrics, func(m score.MetricValue) bool {
			v, ok := b.AtFinal.Metric(m.Name)
			return !ok || !sameNumber(m.Value, v)
		})
}

// sameNumber takes all NaN for one.
func sameNumber(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
