package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// openDevices chooses the devices and the names of their logs.
func (k *comparing) openDevices(ctx context.Context) (err error) {
	if k.spec == nil {
		return nil
	}
	var all, chosen []device.Listed
	selector, languages := k.options.devices, k.spec.Problem.Languages()
	choose := func(among []device.Listed) (err error) {
		all = device.For(among, languages...)
		chosen, err = device.SelectEach(all, selector)
		return err
	}
	if k.fleet, err = k.options.Fleet.Join(ctx, k.Console, choose); err == nil && k.fleet == nil {
		if all, err = device.ListFor(selector, languages...); err == nil {
			err = choose(all)
		}
	}
	if err != nil {
		return err
	}
	if len(chosen)*len(k.sizes) == 1 && len(k.session.Given) == 0 {
		return &device.SelectionError{
			Selector: selector,
			Problem:  "one device alone has nothing to be compared with: name more, or records of others; ndtune tune is for one",
			Devices:  all,
		}
	}
	// Of all, so that the labels do not depend on which are chosen.
	labels := compare.Labels(each.Of(all, func(l device.Listed) hardware.Device { return *l.Identity }))
	for _, l := range chosen {
		if err := k.addTargets([]device.Listed{l}, labels[slices.Index(all, l)]); err != nil {
			return err
		}
	}
	k.atOnce = k.fleet != nil && len(chosen) > 1
	return k.nameLogs()
}

// nameLogs names the logs of each target: after the file of --log, or after a new file in the user's state folder, with the device
// unless there is one alone, and the size if there are several.
func (k *comparing) nameLogs() (err error) {
	if k.stem = k.options.Log; k.stem == "" {
		if k.stem, err = record.DefaultPath(record.Header{Kernel: k.spec.Problem.KernelName()}); err != nil {
			return fmt.Errorf("choose a place for the run logs: %w (name one with --log FILE)", err)
		}
	}
	for i, t := range k.session.Targets {
		path := k.stem
		if !k.oneDevice {
			path = ui.Labelled(path, ui.FileLabel(k.places[i].label))
		}
		t.SearchLog = ui.Labelled(path, ui.FileLabel(t.Size.String()))
		t.CrossLog = ui.Labelled(t.SearchLog, "compared")
	}
	return nil
}

// measure tunes on each device, and then runs the best configurations of all on each.
func (k *comparing) measure(ctx context.Context) error {
	if k.spec == nil {
		return nil
	}
	if k.options.Log == "" {
		defer os.Remove(k.stem) // an empty file that reserves the name for the logs beside it
	}
	switch n := len(k.session.Targets) / max(1, len(k.spec.Sizes)); {
	case k.atOnce:
		k.Say("%d kinds of devices, at the same time; those that share a machine take turns.", n)
	case n > 1:
		k.Say("%s, one after the other: two drivers of one chip, or a device and the processor that builds for it, "+
			"would disturb each other.", figure.Count(n, "device"))
	}
	s := &k.session
	s.Retry = k.options.Retry
	s.Tune, s.Open, s.Refused, s.Fatal = k.tune, k.open, ui.IsSpaceError, ui.IsUsage
	return s.Run(ctx)
}

// begin says what begins on a target, after an empty line unless it is one of several at the same time.
func (k *comparing) begin(format string, a ...any) {
	if !k.atOnce {
		k.Say("")
	}
	k.Say(format, a...)
}

// jobOf returns a search on one device, at one size, and its place among the targets for messages. If there are others
// at the same time, all that it prints has its label.
func (k *comparing) jobOf(on *compare.Target, log string) (j *job.Job, where string) {
	i := slices.Index(k.session.Targets, on)
	one, at := *k.job, k.places[i]
	one.Plan.Spec, one.Plan.Size, one.Place.Devices = at.spec, on.Size, at.devices
	one.Plan.LogPath, one.Compared = log, true
	of := *k.Console
	if notes, ok := of.Notes.(*ui.NoteWriter); ok && k.atOnce {
		of.Notes = notes.Labelled(on.Label)
	}
	one.Console, one.Evaluation = &of, k.options.Evaluation.On(&of)
	if k.fleet != nil {
		one.Place.Fleet = k.fleet.Connection
	}
	return &one, fmt.Sprintf("%s (%s), %d of %d", on.Label, on.Listing, i+1, len(k.places))
}

// tune searches on one target, unless a record of its search was given.
func (k *comparing) tune(ctx context.Context, on *compare.Target) error {
	j, place := k.jobOf(on, on.SearchLog)
	if on.Given != nil {
		k.begin("%s: %s holds its search.", place, on.Given.Name)
		return nil
	}
	k.begin("Tuning on %s", place)
	neighbours, names, err := k.session.Neighbours(on)
	if err != nil {
		return err
	}
	j.BeginWith(neighbours, strings.Join(names, " and "))
	defer j.Close()
	outcome, err := j.SearchAndShow(ctx)
	if j.Session == nil || j.Session.Log == nil {
		return err
	}
	if err == nil { // else it may be that of the log
		err = j.Session.Log.Check()
	}
	return errors.Join(err, k.environment(outcome, j))
}

// environment returns an error if the environment stopped a run.
func (k *comparing) environment(o *tune.Outcome, j *job.Job) error {
	if o == nil || o.Stop != tune.Environment {
		return nil
	}
	return fmt.Errorf("%s. %s", o.Cause, job.EnvironmentText(o, j.Session.Log.Path(), k.options.GoOnCommand(k.stem)))
}

// open opens an evaluator for the configurations that are wanted on a device.
func (k *comparing) open(ctx context.Context, on *compare.Target, wanted []space.Configuration) (*compare.Opened, error) {
	j, place := k.jobOf(on, on.CrossLog)
	j.Plan.Strategy, j.Evaluation.Single = session.Strategy{Name: record.StrategyCompare}, true
	peaksOf := on.SearchLog
	if on.Given != nil {
		peaksOf = on.Given.Name
	}
	j.Begin()
	s := j.Session
	if err := s.FindPeaks(ctx, record.Begun(peaksOf)); err != nil {
		return nil, err
	}
	k.begin("Running %s on %s: the bests of all, and candidates for the best over all", figure.Count(len(wanted), "configuration"), place)
	err := s.OpenEvaluator(ctx)
	if err == nil {
		err = s.OpenLog()
	}
	if err != nil {
		j.Close()
		return nil, err
	}
	shown := job.NewPrinter(j, on.Problem, len(wanted))
	shown.Bar.Start()
	return &compare.Opened{Evaluator: s.Evaluator, Log: s.Log, OnResult: shown.Result, Close: func(o *tune.Outcome) error {
		defer j.Close()
		shown.Bar.Finish()
		if o != nil {
			j.Say("%s", shown.Summary(o, s.Evaluator.Evaluated()))
		}
		return errors.Join(k.environment(o, j), s.Log.Check())
	}}, nil
}

// A place is the specification and the devices of a target.
type place struct {
	spec    *spec.Spec
	devices []device.Listed // several of one model share a search
	label   string          // of the device
}

// tuneSizes tunes a specification at its sizes, and compares these.
func tuneSizes(ctx context.Context, t *ui.Console, o *tuneOptions, s *spec.Spec) error {
	switch {
	case o.check:
		return ui.Wrong("--check is for a search at one size: use ndtune check SPEC --set %s --record FILE", s.Sizes[0])
	case o.json || o.Spec.IsInput():
		return ui.Wrong("--json and a specification on standard input are for one search, and this command has %d sizes; give one with --set",
			len(s.Sizes))
	case o.Serve != "":
		return tooManyToServe(len(s.Sizes))
	}
	if err := job.CheckOneObjective(s.Problem.Objective(), "a search at several sizes", s.Path, "--set spec.objective=NAME"); err != nil {
		return err
	}
	k := newComparing(t, &compareOptions{Options: o.Options})
	k.oneDevice, k.spec = true, s
	if err := k.options.checkOutputs(); err != nil {
		return err
	}
	return k.run(ctx, k.checkSpec, k.openOne)
}

func tooManyToServe(sizes int) error {
	return ui.Wrong("--serve shows one search, and this command has %d sizes; give one with --set", sizes)
}

// openOne opens the device that all sizes are tuned on, or several of one model.
func (k *comparing) openOne(ctx context.Context) (err error) {
	if k.fleet, err = k.job.ChooseDevices(ctx); err != nil {
		return err
	}
	devices := k.job.Place.Devices
	if err := k.addTargets(devices, devices[0].Identity.Name); err != nil {
		return err
	}
	return k.nameLogs()
}

// addTargets adds a target on devices of one model, or of a kind in the fleet, for each size. Its problem is in the language of the devices.
func (k *comparing) addTargets(devices []device.Listed, label string) error {
	on := devices[0]
	listing, machines := on.Selector(), []string(nil)
	if k.fleet != nil {
		var names []string
		for _, a := range k.fleet.Members[on.Index].Devices {
			names, machines = append(names, a.Name()), append(machines, a.Machine)
		}
		listing = fmt.Sprintf("kind %d: %s", on.Index, strings.Join(names, ", "))
	}
	for _, s := range k.sizes {
		in, err := s.In(device.LanguageOf(*on.Identity))
		if err != nil {
			return err
		}
		k.places = append(k.places, place{in, devices, label})
		t := &compare.Target{
			Identity: *on.Identity, Label: label, Listing: listing, Machines: machines,
			Size: s.Size, Problem: in.Problem, Header: record.NewHeader(in.Problem, k.spec.Path),
		}
		if s.Size != nil {
			t.Header.Size = s.Size.String()
			t.Label += ", " + t.Header.Size
		}
		k.session.Add(t)
	}
	return nil
}
