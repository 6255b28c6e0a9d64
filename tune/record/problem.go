package record

import (
	"fmt"

	"github.com/ndtune/ndtune/tune/space"
)

// sameRun tells whether results under the header have and those under the header want can
// stand in one record, and if not, why.
func sameRun(have, want Header) error {
	if have.Digest != want.Digest {
		return fmt.Errorf("it holds results of another problem: %s, not %s", have.problem(), want.problem())
	}
	if err := sameParameters(have.Parameters, want.Parameters); err != nil {
		return fmt.Errorf("it holds results of another search space: %w", err)
	}
	if err := have.Device.SameKind(want.Device); err != nil {
		return fmt.Errorf("it holds results of another device, %q, and this run is on %q: %w", have.Device.Name, want.Device.Name, err)
	}
	return nil
}

// problem names the problem for people.
func (h Header) problem() string {
	text := h.Kernel
	if h.Source != "" {
		text += " of " + h.Source
	}
	digest := h.Digest
	if len(digest) > 19 {
		digest = digest[:19] + "…" // enough to tell them apart
	}
	return fmt.Sprintf("%s (digest %s)", text, digest)
}

func sameParameters(have, want []space.Parameter) error {
	if len(have) != len(want) {
		return fmt.Errorf("%d parameters, not %d", len(have), len(want))
	}
	for i, p := range have {
		q := want[i]
		if p.Name != q.Name {
			return fmt.Errorf("parameter %d is %s, not %s", i+1, p.Name, q.Name)
		}
		if len(p.Values) != len(q.Values) {
			return fmt.Errorf("%s has %d values, not %d", p.Name, len(p.Values), len(q.Values))
		}
		for j, v := range p.Values {
			if !space.SameValue(v, q.Values[j]) {
				return fmt.Errorf("value %d of %s is %s, not %s", j+1, p.Name, space.FormatValue(v), space.FormatValue(q.Values[j]))
			}
		}
	}
	return nil
}
