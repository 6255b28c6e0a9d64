package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
)

// A local is a device of this machine that takes part in a comparison.
type local struct {
	listed    device.Listed
	identity  tune.Device     // without a timer
	label     string          // of it among all devices of the machine
	given     *compare.Source // a record of a search on it that was given; nil: it is to be tuned
	logPath   string          // of its search
	crossPath string          // of what was run on it for the comparison
	trouble   string          // why it could not be tuned
	lost      bool            // nothing can be run on it
}

// openDevices chooses the devices and the names of their logs.
func (k *comparing) openDevices() error {
	if k.spec == nil {
		return nil
	}
	all, err := device.List()
	if err != nil {
		return err
	}
	chosen, err := device.SelectEach(all, k.cli.String("devices"))
	if err != nil {
		return err
	}
	identities := make([]tune.Device, len(all))
	for i, l := range all {
		// One that cannot describe itself cannot be tuned either, which then is said.
		if identities[i], err = device.Describe(l.Device); err != nil {
			identities[i] = tune.Device{Name: l.Name, Type: l.Type}
		}
	}
	labels := compare.Labels(identities) // of all, so that they do not depend on which are chosen
	for _, l := range chosen {
		d := &local{listed: l, identity: identities[l.Index], label: labels[l.Index]}
		i := slices.IndexFunc(k.given, func(s compare.Source) bool {
			h := &s.Record.Header
			return h.Strategy != compare.Strategy && compare.SameDevice(h.Device, d.identity)
		})
		if i >= 0 {
			d.given = &k.given[i]
		}
		k.locals = append(k.locals, d)
	}
	if len(k.locals) == 1 && len(k.given) == 0 {
		return &device.SelectionError{Selector: k.cli.String("devices"), Problem: "one device alone has nothing to be compared with: name more, or records of others; ndtune tune is for one", Devices: all}
	}
	return k.nameLogs()
}

// nameLogs gives each device its logs: beside the file of --log, or beside a name in the user's
// state folder that nobody else has.
func (k *comparing) nameLogs() error {
	k.stem = k.cli.String("log")
	if k.stem == "" {
		if k.cli.Bool("skip-damaged") {
			return &usageError{errSkipWithoutLog}
		}
		path, err := record.DefaultPath(record.Header{Kernel: k.spec.Problem.KernelName()})
		if err != nil {
			return fmt.Errorf("choose a place for the run logs: %w (name one with --log FILE)", err)
		}
		k.stem, k.reserve = path, path
	}
	for _, l := range k.locals {
		word := fileLabel(l.label)
		l.logPath, l.crossPath = labelled(k.stem, word), labelled(k.stem, word+".compared")
		for _, path := range []string{l.logPath, l.crossPath} {
			if err := repairLog(k.cli, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// fileLabel is a label as a part of a file's name on any system.
func fileLabel(label string) string {
	words := strings.FieldsFunc(strings.ToLower(label), func(c rune) bool {
		return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_')
	})
	return strings.Join(words, "-")
}

// source is the record at a path, as one of this device; nil where there is none.
func (l *local) source(path string) (*compare.Source, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && info.Size() == 0) {
		return nil, nil
	}
	r, err := record.Read(path)
	if err != nil {
		return nil, err
	}
	return &compare.Source{Name: filepath.ToSlash(path), Record: r, Listing: l.listed.Selector(), Trouble: l.trouble}, nil
}

// measure tunes on each device, and then runs on each what is wanted of the others. It goes on
// with the next device where one fails, and ends where it is interrupted.
func (k *comparing) measure() error {
	if k.spec == nil {
		return nil
	}
	defer func() {
		if k.reserve != "" {
			_ = os.Remove(k.reserve) // it is empty: the logs beside it have the name now
		}
	}()
	if len(k.locals) > 1 {
		k.say("%s, one after the other: two drivers of one chip, or a device and the processor that builds for it, would disturb each other.", countNoun(len(k.locals), "device"))
	}
	var errs []error
	for _, stage := range []func(*local) error{k.tune, k.cross} {
		for _, l := range k.locals {
			err := stage(l)
			if k.cli.Context.Err() != nil {
				return errInterrupted
			}
			var usage *usageError
			if errors.As(err, &usage) {
				return err // it would be the same on the next
			}
			if err != nil {
				// That the restrictions refuse everything there is an answer too: for each
				// configuration that is wanted, it will be said.
				l.trouble, l.lost = err.Error(), !isSpaceError(err)
				err = fmt.Errorf("%s (%s): %s", l.label, l.listed.Selector(), l.trouble) // status 1: the others were compared
			}
			errs = append(errs, err)
		}
	}
	return joined(errs)
}

func (k *comparing) say(format string, a ...any) {
	if !k.cli.Bool("quiet") {
		fmt.Fprintf(k.cli.App.ErrWriter, format+"\n", a...)
	}
}

// place is where a device stands among those of this machine: «1 of 3».
func (k *comparing) place(l *local) string {
	return fmt.Sprintf("%d of %d", slices.Index(k.locals, l)+1, len(k.locals))
}

// tune searches on one device, unless a record of it was given.
func (k *comparing) tune(l *local) error {
	if l.given != nil {
		k.say("\n%s (%s), %s: %s holds its search.", l.label, l.listed.Selector(), k.place(l), l.given.Name)
		return nil
	}
	k.say("\nTuning on %s (%s), %s", l.label, l.listed.Selector(), k.place(l))
	t := &tuning{cli: k.cli, spec: k.spec, source: k.path, logPath: l.logPath, devices: []device.Listed{l.listed}, quick: &quickPeaks{}}
	defer t.close()
	for _, stage := range []func() error{t.openDevice, t.openSpace, t.openLog} {
		if err := stage(); err != nil {
			return err
		}
	}
	total := t.space.Len()
	if n := t.maxEvaluations(); n > 0 {
		total = min(total, n)
	}
	shown := k.newProgress(t.spec.Problem, total)
	shown.begin(t.evaluator.Device(), t.devices, t.space, t.log, t.peaks.later)
	outcome, err := tune.Run(k.cli.Context, t.spec.Problem, t.evaluator, tune.Options{
		Space: t.space, Strategy: t.newStrategy, MaxEvaluations: t.maxEvaluations(), TimeLimit: k.cli.Duration("time-limit"),
		Log: t.log, OnResult: shown.result, Retry: retried(k.cli),
	})
	if outcome != nil && err == nil {
		err = t.addLimits(outcome)
	}
	if outcome != nil {
		shown.end(outcome, t.evaluator.Evaluated())
	}
	return errors.Join(err, k.environment(outcome, t), t.log.Check())
}

// environment is an error where a search was stopped by its environment.
func (k *comparing) environment(o *tune.Outcome, t *tuning) error {
	if o == nil || o.Stop != tune.Environment {
		return nil
	}
	return fmt.Errorf("%s. %s", o.Cause, environmentText(o, t.log.Path(), goOnCommand(k.cli, k.stem)))
}

// cross runs on one device what is wanted of the others.
func (k *comparing) cross(l *local) error {
	if l.lost {
		return nil // why is known, and said
	}
	sources, err := k.sources()
	if err != nil {
		return err
	}
	wanted, err := compare.Wanted(sources, k.options)
	if err != nil {
		return err
	}
	t := &tuning{cli: k.cli, spec: k.spec, source: k.path, logPath: l.crossPath, devices: []device.Listed{l.listed}, strategy: compare.Strategy}
	defer t.close()
	peaksOf := l.logPath
	if l.given != nil {
		peaksOf = l.given.Name
	}
	found, err := findPeaks(k.cli, l.listed, k.spec.Problem, peaksOf)
	if err != nil {
		return err
	}
	k.say("\nRunning %s on %s (%s), %s: the bests of all, and what comes close to being the best over all", countNoun(len(wanted), "configuration"), l.label, l.listed.Selector(), k.place(l))
	if t.evaluator, err = openEvaluator(k.cli, t.devices, k.spec.Problem, found.peaks, true); err != nil {
		return err
	}
	if err := t.openLog(); err != nil {
		return err
	}
	known := slices.DeleteFunc(slices.Clone(sources), func(s compare.Source) bool {
		return s.Listing != l.listed.Selector() && (l.given == nil || s.Name != l.given.Name)
	})
	shown := k.newProgress(k.spec.Problem, len(wanted))
	shown.bar.start()
	outcome, err := compare.Cross(k.cli.Context, k.spec.Problem, t.evaluator, t.log, known, wanted, retried(k.cli), shown.result)
	shown.bar.finish()
	if outcome != nil && !k.cli.Bool("quiet") {
		k.say("%s", shown.summary(outcome, t.evaluator.Evaluated()))
	}
	return errors.Join(err, k.environment(outcome, t), t.log.Check())
}
