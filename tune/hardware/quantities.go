package hardware

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/ndtune/ndtune/internal/figure"
)

// The quantities that ndtune observes itself. They are the names of metrics.
const (
	Energy      = "energy"       // joules of a launch
	Power       = "mean_power"   // watts while the kernel runs; «power» is a function of expressions
	IdlePower   = "idle_power"   // watts before the search
	Clock       = "clock"        // MHz of the compute units, the mean while the kernel runs
	MemoryClock = "memory_clock" // MHz, the mean while the kernel runs
	Temperature = "temperature"  // °C, the mean while the kernel runs
	Throttled   = "throttled"    // the share of the readings, 0 to 1, in which the device had slowed itself down
)

// The quantities that the verification gives. They are names of metrics, too: see array.Deviation.
const (
	Error    = "error"     // the largest error of an output, relative to the largest value of the reference
	ErrorRMS = "error_rms" // the root mean square error, relative to that of the values of the reference
)

// Quantities returns the names of those that instruments observe, in the order of results.
func Quantities() []string {
	return []string{Energy, Power, IdlePower, Clock, MemoryClock, Temperature, Throttled}
}

// Errors returns the names of those that the verification gives, in the order of results.
func Errors() []string { return []string{Error, ErrorRMS} }

// Unit returns the unit of a quantity that ndtune observes itself, "" for any other.
func Unit(quantity string) string {
	return map[string]string{Energy: "J", Power: "W", IdlePower: "W", Clock: "MHz", MemoryClock: "MHz", Temperature: "°C"}[quantity]
}

// An Instrument says how a quantity of a device is observed, or why it cannot be.
type Instrument struct {
	Quantity string  `json:"quantity"`
	Source   string  `json:"source,omitempty"`   // where readings come from
	TickMS   float64 `json:"tick_ms,omitempty"`  // between two values of a counter, in milliseconds; 0: unknown
	Missing  string  `json:"missing,omitempty"`  // why the quantity cannot be observed; "": it can
	Idle     float64 `json:"idle,omitempty"`     // of energy and power: watts before the search
	IdleOff  float64 `json:"idle_off,omitempty"` // the standard uncertainty of Idle
}

// String says how the quantity is observed, or why it is not.
func (i Instrument) String() string {
	if i.Missing != "" {
		return "cannot be observed: " + i.Missing
	}
	text := i.Source
	if i.TickMS > 0 {
		text += fmt.Sprintf(", every %s ms", figure.Number(i.TickMS))
	}
	if i.Idle > 0 {
		text += fmt.Sprintf("; idle %s W", uncertain(i.Idle, i.IdleOff))
	}
	return text
}

// uncertain formats a value with its uncertainty.
func uncertain(value, off float64) string {
	if off > 0 {
		return figure.Number(value) + " ± " + figure.Number(off)
	}
	return figure.Number(value)
}

// Instrument returns the instrument of a quantity.
func (d Device) Instrument(quantity string) (Instrument, bool) {
	for _, i := range d.Instruments {
		if i.Quantity == quantity {
			return i, true
		}
	}
	return Instrument{}, false
}

// A Reading is the value of a quantity while a kernel ran.
type Reading struct {
	Quantity    string
	Value       float64 // NaN if Missing says why there is none
	Uncertainty float64 // the standard uncertainty of Value; 0: unknown
	Missing     string
	Note        string // about a value, for people: the reasons of Throttled
}

// String returns the value with its uncertainty and its unit, or the reason why it is missing.
func (r Reading) String() string {
	if r.Missing != "" {
		return "missing: " + r.Missing
	}
	text := uncertain(r.Value, r.Uncertainty)
	if unit := Unit(r.Quantity); unit != "" {
		text += " " + unit
	}
	if r.Note != "" {
		text += " (" + r.Note + ")"
	}
	return text
}

// jsonReading is the form of a Reading in JSON, which has no NaN.
type jsonReading struct {
	Quantity    string   `json:"quantity"`
	Value       *float64 `json:"value,omitempty"`
	Uncertainty float64  `json:"uncertainty,omitempty"`
	Missing     string   `json:"missing,omitempty"`
	Note        string   `json:"note,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (r Reading) MarshalJSON() ([]byte, error) {
	j := jsonReading{Quantity: r.Quantity, Missing: r.Missing, Note: r.Note}
	if finite(r.Value) {
		j.Value = &r.Value
	}
	if finite(r.Uncertainty) {
		j.Uncertainty = r.Uncertainty
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Reading) UnmarshalJSON(data []byte) error {
	var j jsonReading
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = Reading{Quantity: j.Quantity, Value: math.NaN(), Uncertainty: j.Uncertainty, Missing: j.Missing, Note: j.Note}
	if j.Value != nil {
		r.Value = *j.Value
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// MissingReading returns the reading of a quantity that has no value.
func MissingReading(quantity, why string) Reading {
	return Reading{Quantity: quantity, Value: math.NaN(), Missing: why}
}

// ReadingOf returns the reading of a quantity.
func ReadingOf(readings []Reading, quantity string) (Reading, bool) {
	for _, r := range readings {
		if r.Quantity == quantity {
			return r, true
		}
	}
	return Reading{}, false
}

// PowerLimit is the setting of the highest power of a device in watts. The names of the other settings are [Clock] and
// [MemoryClock]: the clocks are locked, in MHz.
const PowerLimit = "power_limit"

// A Setting of a device, at which a configuration is measured.
type Setting struct {
	Name  string
	Value float64
}

// SettingNames returns the names of all settings, in the order in which they are applied.
func SettingNames() []string { return []string{MemoryClock, Clock, PowerLimit} }

// SettingUnit returns the unit of a setting.
func SettingUnit(name string) string {
	if name == PowerLimit {
		return "W"
	}
	return "MHz"
}

// String returns the setting with its unit.
func (s Setting) String() string {
	return fmt.Sprintf("%s %g %s", s.Name, s.Value, SettingUnit(s.Name))
}

// What an instrument of the user's own frames, for each configuration.
const (
	EachWindow        = "window"        // launches that are repeated for some time, between one Begin and one End
	EachLaunch        = "launch"        // each of as many further launches as were timed
	EachConfiguration = "configuration" // nothing: it computes quantities from the configuration and its times
)

// Frames returns what instruments can frame.
func Frames() []string { return []string{EachWindow, EachLaunch, EachConfiguration} }
