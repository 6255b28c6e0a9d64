package definition

import (
	"math"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

// TestWith: another value has the type of the one that it replaces, or is an error.
func TestWith(t *testing.T) {
	for _, c := range []struct {
		old, given, want space.Value
	}{
		{1.0, 2, 2.0}, {1000.0, 2.5, 2.5}, {"1e5", 4, 4.0}, {"1.", 0.5, 0.5}, {1.0, "0.5f", "0.5f"}, {1.0, true, 1.0},
		{0.5, "1 / 3.0", "1 / 3.0"}, {"0.225f", 1, "1.0f"}, {"1.5L", -2, "-2.0L"}, {"1h", 2048, "2048.0h"}, {"1.0h", 2048, "2048.0h"}, {1.0, math.MinInt, -0x1p63},
		{4096, 1e3, 1000}, {4096, -1, -1}, {4096, "0x10u", "0x10u"}, {"100000u", 4096, "4096u"}, {"16", 2.0, 2}, {4096, "width * 2", "width * 2"},
		{4096, "18446744073709551615", "18446744073709551615"}, {"1UL", "18446744073709551615", "18446744073709551615UL"}, {"7ul", 1e3, "1000ul"},
		{4096, false, 0}, {true, 0, false}, {false, 1.0, true}, {false, true, true}, {true, "other", "other"},
		{"float", 2, 2}, {"float", "double", "double"}, {"nx * ny", 2.5, 2.5},
	} {
		got, err := Constant{Name: "c", Value: c.old}.With(c.given)
		if err != nil || got.Value != c.want {
			t.Errorf("%v (%T) with %v (%T) is %v (%T), %v; want %v (%T)", c.old, c.old, c.given, c.given, got.Value, got.Value, err, c.want, c.want)
		}
	}
	for _, c := range []struct {
		old, given space.Value
		want       string
	}{
		{4096, 2.5, "the type of 4096 holds no 2.5"}, {"16u", 0.5, "the type of 16u holds no 0.5"}, {4096, 1e300, "the type of 4096 holds no 1"},
		{"16u", -1, "the type of 16u holds no -1"}, {1.0, 1<<53 + 1, "the type of 1.0 holds no 9007199254740993"},
		{"1.0f", 1<<24 + 1, "the type of 1.0f holds no 16777217"}, {"1.0f", 1e300, "the type of 1.0f holds no 1e+300"},
		{"1.0h", 65536, "the type of 1.0h holds no 65536"}, {1.0, "18446744073709551615", "the type of 1.0 holds no 18446744073709551615"},
		{true, 2, "the type of 1 holds no 2"}, {false, 0.5, "the type of 0 holds no 0.5"},
	} {
		if got, err := (Constant{Name: "c", Value: c.old}).With(c.given); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v with %v is %v, %v; want %q", c.old, c.given, got.Value, err, c.want)
		}
	}
}
