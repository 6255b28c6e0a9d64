package figure

import (
	"math"
	"testing"
)

func TestNumber(t *testing.T) {
	for _, test := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {1, "1.000"}, {-1, "-1.000"}, {0.5, "0.5000"}, {12345.6, "12346"}, {1234.56, "1235"}, {1000, "1000"}, {9999.96, "10000"}, {0.001, "0.001000"},
		{123.456, "123.5"}, {0.00012345678, "0.0001235"}, {1.2346e-12, "1.235e-12"}, {1e20, "100000000000000000000"},
		{math.NaN(), "NaN"}, {math.Inf(1), "+Inf"}, {math.Inf(-1), "-Inf"},
	} {
		if got := Number(test.v); got != test.want {
			t.Errorf("Number(%v) is %s, want %s", test.v, got, test.want)
		}
	}
}

func TestMilliseconds(t *testing.T) {
	for _, test := range []struct {
		ms   float64
		want string
	}{
		{0, "0.000"}, {1, "1.000"}, {147.69778, "147.698"}, {0.494, "0.4940"}, {0.0123456, "0.01235"},
		{-2, "-2.000"}, {math.NaN(), "NaN"}, {12345.6789, "12345.679"},
	} {
		if got := Milliseconds(test.ms); got != test.want {
			t.Errorf("Milliseconds(%v) is %s, want %s", test.ms, got, test.want)
		}
	}
}
