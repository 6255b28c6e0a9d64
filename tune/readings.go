package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/hardware"
)

// MissingReadings says, for each quantity that some results lack, how many there are and why. It leaves out the quantities
// that a device is known not to give.
func MissingReadings(results []Result, d hardware.Device) []string {
	var quantities, texts []string
	missing, first := map[string]int{}, map[string]string{}
	for i := range results {
		for _, r := range results[i].Readings {
			if known, _ := d.Instrument(r.Quantity); r.Missing == "" || known.Missing != "" {
				continue
			}
			if missing[r.Quantity]++; missing[r.Quantity] == 1 {
				quantities, first[r.Quantity] = append(quantities, r.Quantity), strings.TrimSuffix(r.Missing, ".")
			}
		}
	}
	slices.Sort(quantities)
	for _, q := range quantities {
		texts = append(texts, fmt.Sprintf("%s is missing in %d of %d results, in the first of them because %s", q, missing[q], len(results), first[q]))
	}
	return texts
}
