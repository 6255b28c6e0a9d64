package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/hardware"
)

// LastReadings returns the readings of the final measurement, and those of the search of quantities that it did not observe.
func (r *Result) LastReadings() []hardware.Reading {
	all := slices.Clone(r.Readings)
	for i := range all {
		if again, ok := hardware.ReadingOf(r.FinalReadings, all[i].Quantity); ok && again.Missing == "" {
			all[i] = again
		}
	}
	return all
}

// Notices says what a reader of some results must know: which finalists failed, how many launches were repeated, and, for each quantity that
// some results lack, how many there are and why. It leaves out the quantities that a device is known not to give.
func Notices(results []Result, d hardware.Device) (texts []string) {
	var quantities []string
	missing, first := map[string]int{}, map[string]string{}
	launches, configurations := 0, 0
	for i := range results {
		if why := results[i].FinalFailure; why != "" {
			texts = append(texts, fmt.Sprintf("%s was among the best, but failed in the final measurement: %s", results[i].Configuration, Headline("", why)))
		}
		launches += results[i].Repeated
		configurations += min(1, results[i].Repeated)
		for _, r := range results[i].Readings {
			if known, _ := d.Instrument(r.Quantity); r.Missing == "" || known.Missing != "" {
				continue
			}
			if missing[r.Quantity]++; missing[r.Quantity] == 1 {
				quantities, first[r.Quantity] = append(quantities, r.Quantity), strings.TrimSuffix(r.Missing, ".")
			}
		}
	}
	if launches > 0 {
		texts = append(texts, fmt.Sprintf("Other work seems to use the device: %s of %s took far longer than the others. "+
			"As many were added; all count in the median", figure.Count(launches, "launch"), figure.Count(configurations, "configuration")))
	}
	slices.Sort(quantities)
	for _, q := range quantities {
		texts = append(texts, fmt.Sprintf("%s is missing in %d of %d results, in the first of them because %s",
			q, missing[q], len(results), first[q]))
	}
	return texts
}
