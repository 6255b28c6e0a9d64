package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// openDevices chooses the devices and the names of their logs.
func (k *comparing) openDevices() error {
	if k.spec == nil {
		return nil
	}
	all, err := device.List()
	if err != nil {
		return err
	}
	if k.chosen, err = device.SelectEach(all, k.cli.String("devices")); err != nil {
		return err
	}
	identities := make([]hardware.Device, len(all))
	for i, l := range all {
		// A device that cannot describe itself cannot be tuned either, which the session reports.
		if identities[i], err = device.Describe(l.Device); err != nil {
			identities[i] = hardware.Device{Name: l.Name, Type: l.Type}
		}
	}
	labels := compare.Labels(identities) // of all, so that they do not depend on which are chosen
	for _, l := range k.chosen {
		k.session.Targets = append(k.session.Targets, k.session.NewTarget(identities[l.Index], labels[l.Index], l.Selector()))
	}
	if len(k.chosen) == 1 && len(k.session.Given) == 0 {
		return &device.SelectionError{Selector: k.cli.String("devices"), Problem: "one device alone has nothing to be compared with: name more, or records of others; ndtune tune is for one", Devices: all}
	}
	return k.nameLogs()
}

// nameLogs names the logs of each device: after the file of --log, or after a new file in the
// user's state folder.
func (k *comparing) nameLogs() (err error) {
	if k.stem = k.cli.String("log"); k.stem == "" {
		if k.stem, err = record.DefaultPath(record.Header{Kernel: k.spec.Problem.KernelName()}); err != nil {
			return fmt.Errorf("choose a place for the run logs: %w (name one with --log FILE)", err)
		}
	}
	for _, t := range k.session.Targets {
		word := fileLabel(t.Label)
		t.SearchLog, t.CrossLog = labelled(k.stem, word), labelled(k.stem, word+".compared")
		for _, path := range []string{t.SearchLog, t.CrossLog} {
			if err := repairLog(k.cli, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure tunes on each device, and then runs the best configurations of all on each.
func (k *comparing) measure() error {
	if k.spec == nil {
		return nil
	}
	if k.cli.String("log") == "" {
		defer os.Remove(k.stem) // an empty file that reserves the name for the logs beside it
	}
	if len(k.chosen) > 1 {
		k.say("%s, one after the other: two drivers of one chip, or a device and the processor that builds for it, would disturb each other.", countNoun(len(k.chosen), "device"))
	}
	s := &k.session
	s.Problem, s.Header, s.Retry = k.spec.Problem, problemHeader(k.spec.Problem, k.path), retried(k.cli)
	s.Tune, s.Open, s.Refused, s.Fatal = k.tune, k.open, isSpaceError, isUsage
	return s.Run(k.cli.Context)
}

func (k *comparing) say(format string, a ...any) {
	if !k.cli.Bool("quiet") {
		fmt.Fprintf(k.cli.App.ErrWriter, format+"\n", a...)
	}
}

// tuningOf returns a search on one device, and its place among the devices for messages.
func (k *comparing) tuningOf(on *compare.Target, log string) (t *tuning, place string) {
	i := slices.Index(k.session.Targets, on)
	search := *k.tuning
	search.logPath, search.devices, search.compared, search.quick = log, k.chosen[i:i+1], true, &quickPeaks{}
	return &search, fmt.Sprintf("%s (%s), %d of %d", on.Label, on.Listing, i+1, len(k.chosen))
}

// tune searches on one device, unless a record of its search was given.
func (k *comparing) tune(on *compare.Target) error {
	t, place := k.tuningOf(on, on.SearchLog)
	if on.Given != nil {
		k.say("\n%s: %s holds its search.", place, on.Given.Name)
		return nil
	}
	k.say("\nTuning on %s", place)
	defer t.close()
	outcome, err := t.run()
	if t.log == nil {
		return err
	}
	return errors.Join(err, k.environment(outcome, t), t.log.Check())
}

// environment returns an error if the environment stopped a run.
func (k *comparing) environment(o *tune.Outcome, t *tuning) error {
	if o == nil || o.Stop != tune.Environment {
		return nil
	}
	return fmt.Errorf("%s. %s", o.Cause, environmentText(o, t.log.Path(), goOnCommand(k.cli, k.stem)))
}

// open opens an evaluator for the configurations that are wanted on a device.
func (k *comparing) open(on *compare.Target, wanted []space.Configuration) (*compare.Opened, error) {
	t, place := k.tuningOf(on, on.CrossLog)
	t.strategy = compare.Strategy
	peaksOf := on.SearchLog
	if on.Given != nil {
		peaksOf = on.Given.Name
	}
	if err := t.findPeaks(peaksOf); err != nil {
		return nil, err
	}
	k.say("\nRunning %s on %s: the bests of all devices, and candidates for the best over all", countNoun(len(wanted), "configuration"), place)
	if err := t.openEvaluator(true); err != nil {
		return nil, err
	}
	if err := t.openLog(); err != nil {
		t.close()
		return nil, err
	}
	shown := newPrinter(k.cli, k.spec.Problem, len(wanted), true)
	shown.bar.start()
	return &compare.Opened{Evaluator: t.evaluator, Log: t.log, OnResult: shown.result, Close: func(o *tune.Outcome) error {
		defer t.close()
		shown.bar.finish()
		if o != nil {
			k.say("%s", shown.summary(o, t.evaluator.Evaluated()))
		}
		return errors.Join(k.environment(o, t), t.log.Check())
	}}, nil
}
