package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// The values of --allow.
const (
	allowCommands = "commands" // an agent runs commands that specifications name
	allowSettings = "settings" // specifications change settings of devices
)

func newAllowFlag(usage string) cli.Flag {
	return &cli.StringFlag{Name: "allow", Category: categoryEvaluation, Usage: usage, Action: func(_ *cli.Context, value string) error {
		for what := range strings.SplitSeq(value, ",") {
			if what != allowCommands && what != allowSettings {
				return wrong("--allow %s: want %s, %s, or both with a comma", value, allowCommands, allowSettings)
			}
		}
		return nil
	}}
}

// allows reports whether --allow has a value.
func allows(c *cli.Context, what string) bool {
	return slices.Contains(strings.Split(c.String("allow"), ","), what)
}

// settingsFolder is where the files are that say which settings of devices are to be restored.
func settingsFolder() (string, error) {
	folder, err := record.StateFolder()
	return filepath.Join(folder, "settings"), err
}

// A settingsError says that settings of a device cannot be changed as the specification wants.
type settingsError struct{ err error }

func (e *settingsError) Error() string { return "measure.settings: " + e.err.Error() }
func (e *settingsError) Unwrap() error { return e.err }

// controls change the settings of some devices.
type controls []*observe.Control

// openControl is [observe.OpenControl]. Tests without a GPU replace it.
var openControl = observe.OpenControl

// openControls opens controls of the settings that a problem changes. Check checks the settings of all configurations on one device.
func openControls(devices []device.Listed, p *problem.Problem, check func(hardware.Device, func([]hardware.Setting) error) error) (controls, error) {
	names := p.SettingNames()
	if len(names) == 0 {
		return nil, nil
	}
	folder, err := settingsFolder()
	if err != nil {
		return nil, err
	}
	var all controls
	for _, d := range devices {
		c, err := openControl(*d.Identity, names, folder)
		if err != nil {
			return nil, errors.Join(&settingsError{err}, all.close())
		}
		all = append(all, c)
		if err := check(*d.Identity, c.Check); err != nil {
			return nil, errors.Join(err, all.close())
		}
	}
	for _, c := range all {
		if err := c.Begin(); err != nil {
			return nil, errors.Join(&settingsError{err}, all.close())
		}
	}
	return all, nil
}

// setters returns what changes the settings, for each device.
func (all controls) setters() []device.Setter {
	var setters []device.Setter
	for _, c := range all {
		setters = append(setters, c.Set)
	}
	return setters
}

// restore gives the devices their settings back, for work that is not the search's.
func (all controls) restore() error {
	var errs []error
	for _, c := range all {
		errs = append(errs, c.Restore())
	}
	return errors.Join(errs...)
}

func (all controls) close() error {
	var errs []error
	for _, c := range all {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// checkSettingsAllowed refuses a problem that changes settings of a device unless a flag allows it.
func checkSettingsAllowed(c *cli.Context, p *problem.Problem) error {
	if names := p.SettingNames(); len(names) > 0 && !allows(c, allowSettings) {
		return wrong("the specification changes settings of the device (measure.settings: %s): allow it with --allow settings; they are restored at the end (docs/observers.md)", strings.Join(names, ", "))
	}
	return nil
}

// openControls opens controls of the settings that the specification of a search changes, and checks all their values.
func (t *tuning) openControls() (err error) {
	t.controls, err = openControls(t.devices, t.spec.Problem, func(d hardware.Device, permitted func([]hardware.Setting) error) error {
		all, err := t.spec.Space(t.cli.Context, d)
		if err != nil {
			return err
		}
		return t.spec.CheckSettings(t.cli.Context, all, d, permitted)
	})
	if len(t.controls) > 0 {
		t.say("%s of the device will be changed, and restored at the end.", strings.Join(t.spec.Problem.SettingNames(), ", "))
	}
	return err
}

// A controlledPool is a pool of an agent, with the settings of its device.
type controlledPool struct {
	*worker.Pool
	controls controls
	note     func(string)
}

// openControlled opens a pool that may change settings of its device, if the problem does.
func openControlled(ctx context.Context, l device.Listed, p *problem.Problem, o worker.Options) (*controlledPool, error) {
	all, err := openControls([]device.Listed{l}, p, func(d hardware.Device, permitted func([]hardware.Setting) error) error {
		s, err := p.Space(ctx, d)
		if err != nil {
			return err
		}
		return p.CheckSettings(ctx, s, d, permitted)
	})
	if err != nil {
		return nil, err
	}
	o.Set = all.setters()
	pool, err := worker.Open(ctx, []device.Listed{l}, p, o)
	if err != nil {
		return nil, errors.Join(err, all.close())
	}
	return &controlledPool{pool, all, o.Note}, nil
}

// Evaluate implements tune.Evaluator. The settings are restored when there is nothing left to evaluate, since an agent keeps its pool.
func (p *controlledPool) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return errors.Join(p.Pool.Evaluate(ctx, in, out), p.controls.restore())
}

// Remeasure implements tune.Remeasurer, and restores the settings.
func (p *controlledPool) Remeasure(ctx context.Context, configurations []space.Configuration, rounds int) ([][]float64, error) {
	times, err := p.Pool.Remeasure(ctx, configurations, rounds)
	return times, errors.Join(err, p.controls.restore())
}

func (p *controlledPool) Close() {
	p.Pool.Close()
	if err := p.controls.close(); err != nil {
		p.note(err.Error())
	}
}

// restoreAbandoned restores settings of devices that killed processes have left behind, and says so. It reports whether all are restored.
func restoreAbandoned(c *cli.Context) bool {
	folder, err := settingsFolder()
	if err != nil {
		return true // there is no place where anything could have been left
	}
	restored, err := observe.RestoreAbandoned(folder)
	for _, text := range restored {
		fmt.Fprintln(c.App.ErrWriter, text)
	}
	if err != nil {
		fmt.Fprintf(c.App.ErrWriter, "ndtune: %v\n", err)
	}
	return err == nil
}

// restoreSettings is devices --restore-settings. What could be restored has been restored when the program started.
func restoreSettings(c *cli.Context) error {
	folder, err := settingsFolder()
	if err != nil {
		return err
	}
	if _, err := observe.RestoreAbandoned(folder); err != nil {
		return errReported // said at the start
	}
	fmt.Fprintln(c.App.Writer, "No settings of a device are left to restore.")
	return nil
}
