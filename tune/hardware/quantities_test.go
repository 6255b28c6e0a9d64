package hardware

import (
	"encoding/json"
	"math"
	"testing"
)

func TestReadingsAsJSONAndText(t *testing.T) {
	for _, r := range []Reading{
		{Quantity: Energy, Value: 2.5, Uncertainty: 0.25}, {Quantity: Throttled, Value: 0.5, Note: "power cap"}, {Quantity: Clock}, MissingReading(Power, "no counter"),
	} {
		data, err := json.Marshal(r)
		var back Reading
		if err == nil {
			err = json.Unmarshal(data, &back)
		}
		same := back.Value == r.Value || math.IsNaN(back.Value) && math.IsNaN(r.Value)
		if back.Value, r.Value = 0, 0; err != nil || !same || back != r {
			t.Errorf("%s became %v (%v)", data, back, err)
		}
	}
	for _, c := range []struct{ got, want string }{
		{Reading{Quantity: Energy, Value: 2.5, Uncertainty: 0.25}.String(), "2.500 ± 0.2500 J"},
		{Reading{Quantity: Throttled, Value: 0.5, Note: "power cap"}.String(), "0.5000 (power cap)"},
		{MissingReading(Power, "no counter").String(), "missing: no counter"},
		{Instrument{Source: "counter", TickMS: 100, Idle: 79.5, IdleOff: 0.5}.String(), "counter, every 100.0 ms; idle 79.50 ± 0.5000 W"},
		{Instrument{Missing: "no library"}.String(), "cannot be observed: no library"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
