package device

import (
	"context"
	"errors"
	"time"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A Setter changes settings of a device and reports whether they were others before, as observe.Control.Set does. Its owner
// restores them.
type Setter func([]hardware.Setting) (changed bool, err error)

// ErrNotSet is the reason why a configuration with settings cannot be measured.
var ErrNotSet = errors.New("the problem changes settings of the device (measure.settings), and this was not allowed")

// Set calls the setter; nil means that no setting may be changed.
func (set Setter) Set(all []hardware.Setting) (changed bool, err error) {
	if set == nil {
		return false, ErrNotSet
	}
	return set(all)
}

// set changes the settings of the device to those of the configuration. If they were others before, it repeats the launches until the
// device has followed.
func (t *trial) set(ctx context.Context) (changed bool, err error) {
	if len(t.variant.Settings) == 0 {
		return false, nil
	}
	if changed, err = t.supervisor.Set(ctx, t.variant.Settings); err != nil || !changed {
		return false, err
	}
	n := 1
	if t.session.batches() && t.first > 0 {
		n = int(max(1, min(batchable/t.first, batchMost)))
	}
	for began := time.Now(); time.Since(began) < definition.SettingWarmup; {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		t.supervisor.Begin(StageMeasure, n)
		if err := t.session.begin(); err != nil {
			return true, err
		}
		if _, err := t.built.Times(n); err != nil {
			return true, err
		}
	}
	return true, nil
}

// batchMost is the largest number of launches that are enqueued together to pass the time.
const batchMost = 1000
