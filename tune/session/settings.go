package session

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// SettingsFolder is where the files are that say which settings of devices are to be restored.
func SettingsFolder() (string, error) {
	folder, err := record.StateFolder()
	return filepath.Join(folder, "settings"), err
}

// A SettingsError says that settings of a device cannot be changed as the specification wants.
type SettingsError struct{ err error }

func (e *SettingsError) Error() string { return "measure.settings: " + e.err.Error() }
func (e *SettingsError) Unwrap() error { return e.err }

// controls change the settings of some devices.
type controls []*observe.Control

// OpenControl is [observe.OpenControl]. Tests without a GPU replace it.
var OpenControl = observe.OpenControl

// A settled problem or specification says which settings its configurations have on a device.
type settled interface {
	Space(context.Context, hardware.Device) (*space.Space, error)
	CheckSettings(_ context.Context, _ *space.Space, _ hardware.Device, permitted func([]hardware.Setting) error) error
}

// openControls opens controls of some settings, if there are any.
func openControls(ctx context.Context, devices []device.Listed, names []string, p settled) (all controls, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, all.close())
		}
	}()
	folder, err := SettingsFolder()
	if err != nil {
		return nil, err
	}
	for _, d := range devices {
		c, err := OpenControl(*d.Identity, names, folder)
		if err != nil {
			return all, &SettingsError{err}
		}
		all = append(all, c)
		s, err := p.Space(ctx, *d.Identity)
		if err == nil {
			err = p.CheckSettings(ctx, s, *d.Identity, c.Check)
		}
		if err != nil {
			return all, err
		}
	}
	for _, c := range all {
		if err := c.Begin(); err != nil {
			return all, &SettingsError{err}
		}
	}
	return all, nil
}

// setters returns what changes the settings, for each device.
func (all controls) setters() []device.Setter {
	return each.Of(all, func(c *observe.Control) device.Setter { return c.Set })
}

// restore gives the devices their settings back, for work that is not the search's.
func (all controls) restore() error {
	return errors.Join(each.Of(all, (*observe.Control).Restore)...)
}

func (all controls) close() error {
	return errors.Join(each.Of(all, (*observe.Control).Close)...)
}

// A ControlledPool is a pool of an agent, with the settings of its device.
type ControlledPool struct {
	*worker.Pool
	controls controls
	note     func(string)
}

// OpenControlled opens a pool that may change settings of its device, if the problem does.
func OpenControlled(ctx context.Context, l device.Listed, p *problem.Problem, o worker.Options) (*ControlledPool, error) {
	devices := []device.Listed{l}
	all, err := openControls(ctx, devices, p.SettingNames(), p)
	if err != nil {
		return nil, err
	}
	o.Set = all.setters()
	pool, err := worker.Open(ctx, devices, p, o)
	if err != nil {
		return nil, errors.Join(err, all.close())
	}
	return &ControlledPool{pool, all, o.Note}, nil
}

// Evaluate implements tune.Evaluator. The settings are restored when there is nothing left to evaluate, since an agent keeps its pool.
func (p *ControlledPool) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return errors.Join(p.Pool.Evaluate(ctx, in, out), p.controls.restore())
}

// Remeasure implements tune.Remeasurer, and restores the settings.
func (p *ControlledPool) Remeasure(ctx context.Context, card string, configurations []space.Configuration, rounds int, observe bool) ([]tune.Turns, error) {
	turns, err := p.Pool.Remeasure(ctx, card, configurations, rounds, observe)
	return turns, errors.Join(err, p.controls.restore())
}

// Close ends the pool and restores the settings.
func (p *ControlledPool) Close() {
	p.Pool.Close()
	if err := p.controls.close(); err != nil {
		p.note(err.Error())
	}
}
