package main

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/compare"
)

// TestPrintedComparisonIsPlain: records of others do not rule the terminal.
func TestPrintedComparisonIsPlain(t *testing.T) {
	c := &compare.Comparison{
		Kernel: "k\x1b[31m",
		Devices: []compare.Device{
			{Letter: "A", Label: "dévice\u009b2J", Best: &compare.Best{Configuration: "x=\x07", WhyNoGain: "\r"}},
			{Letter: "B", Label: "other"},
		},
		Matrix:  [][]compare.Cell{{{State: compare.StateMissing}, {State: compare.StateFailed, Status: tune.Compile, Reason: "\x1b]0;title\x07"}}, {}},
		Notices: []string{"n\x1b[2J"},
	}
	var out, notes strings.Builder
	printedComparison{&out, &notes, false}.print(c)
	for _, text := range []string{out.String(), notes.String()} {
		if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || 0x7f <= r && r < 0xa0 }); i >= 0 {
			t.Errorf("a control character at %d of %q", i, text)
		}
	}
	for _, want := range []string{"k\uFFFD[31m", "dévice\uFFFD2J", "x=\uFFFD", "compile: \uFFFD]0;title\uFFFD", "\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
	if notes.String() != "\n\nn\uFFFD[2J\n" {
		t.Errorf("the notes are %q", notes.String())
	}
}
