package device

import (
	"errors"
	"slices"
	"testing"
)

// TestSelectEach takes devices that no search could share.
func TestSelectEach(t *testing.T) {
	m := testMachine()
	all := m.listed()
	everything, err := selectEach(all, "all", m.describe)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range all {
		d, err := m.describe(l)
		again := slices.ContainsFunc(all[:i], func(e Listed) bool {
			f, other := m.describe(e)
			return err == nil && other == nil && f.Platform == d.Platform && sameCard(d, f)
		})
		if slices.Contains(everything, l) == again {
			t.Errorf("all has %s: %v, and it is another listing of an earlier one: %v", l.Selector(), !again, again)
		}
	}
	for _, test := range []struct {
		selector string
		want     []string
	}{
		{"cpu", []string{"0:0", "0:1", "4:0"}},
		{"0:1", []string{"0:1"}},
		{"2:1, CPU", []string{"2:1", "0:0", "0:1", "4:0"}},
		{"0:0,all", nil},
	} {
		got, err := selectEach(all, test.selector, m.describe)
		if err != nil {
			t.Errorf("%s: %v", test.selector, err)
			continue
		}
		var selectors []string
		for _, l := range got {
			selectors = append(selectors, l.Selector())
		}
		if test.want != nil && !slices.Equal(selectors, test.want) {
			t.Errorf("%s: %v, want %v", test.selector, selectors, test.want)
		}
		if test.want == nil && len(got) != len(everything) {
			t.Errorf("%s: %v, want all %d", test.selector, selectors, len(everything))
		}
	}
	for _, wrong := range []string{"accelerator", "9:9", "nothing of that name", "0:0,,0:1"} {
		var selection *SelectionError
		if _, err := selectEach(all, wrong, m.describe); !errors.As(err, &selection) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := selectEach(nil, "all", m.describe); err == nil {
		t.Error("no devices are no error")
	}
}
