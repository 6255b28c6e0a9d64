package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/capture"
	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
)

// runWith runs the program without and with the best configurations of a folder, as far as they can be injected.
func (k *capturing) runWith(ctx context.Context, folder string) error {
	recorded, err := capture.ReadProfile(folder)
	if err != nil {
		return &usageError{err}
	}
	var check []string
	if text := k.options.check; text != "" {
		if check, err = process.Words(text); err != nil {
			return wrong("--check: %w", err)
		}
	}
	if k.app.Folder, err = os.MkdirTemp("", "ndtune-capture-"); err != nil {
		return err
	}
	defer os.RemoveAll(k.app.Folder)
	k.say("%s runs without injection.", k.app.Args[0])
	before, err := k.app.Measure()
	if err = k.judge(ctx, before, err, check); err != nil {
		return err
	}
	var injection capture.Injection
	var injected []string
	for _, a := range answersOf(recorded, folder) {
		if a.folder == "" {
			continue
		}
		change, err := a.inject(&injection, recorded, before.Launches, len(check) > 0)
		if err != nil {
			k.say("%s: %v.", a.name, err)
		}
		if change != nil {
			injected = append(injected, fmt.Sprintf("%s: %v", a.name, change))
		}
	}
	if len(injected) == 0 {
		return fmt.Errorf("nothing in %s can be injected into this run", folder)
	}
	k.say("%s runs twice with %s. The second run counts: the first builds what is new to the driver's cache.", k.app.Args[0],
		strings.Join(injected, "; "))
	var after *capture.Profile
	for range 2 {
		after, err = k.app.MeasureWith(injection)
		if err = k.judge(ctx, after, err, check); err != nil {
			return err
		}
	}
	printTitled(k.out, beforeAfter(before, after, injection))
	if len(check) == 0 {
		k.say("Whether the output of the application is right, ndtune does not know; --check COMMAND asks a check of yours.")
	}
	return nil
}

// judge returns why a run counts nothing: the program failed, or the check of the user's.
func (k *capturing) judge(ctx context.Context, p *capture.Profile, err error, check []string) error {
	if err != nil {
		return err
	}
	if k.ended(p); k.failed != nil || len(check) == 0 {
		return cmp.Or(ctx.Err(), k.failed)
	}
	c := exec.CommandContext(ctx, check[0], check[1:]...)
	c.Stdout, c.Stderr = k.notes, k.notes
	if err := c.Run(); err != nil {
		k.say("After this run, the check fails: %v.", err)
		return errIncorrect
	}
	k.say("After this run, the check passes.")
	return nil
}

// worthwhile is the gain from which on a configuration is injected: less may be the scatter of times.
const worthwhile = 1.02

// inject adds the best configuration of a captured launch that can be injected; nil: none. The error says why it is not the best that is known.
func (a *answer) inject(j *capture.Injection, of *capture.Profile, all []capture.Launches, judged bool) (change *capture.Change, first error) {
	launch, err := capture.Read(filepath.Join(a.folder, capture.LaunchFolder))
	if err != nil {
		return nil, err
	}
	p, err := a.read(of)
	if err != nil {
		return nil, err
	}
	if a.Gain < worthwhile {
		return nil, errors.New("no configuration is known that is better by 2 %")
	}
	for _, i := range tune.Rank(p.Objective(), a.record.Results).Indices {
		r := &a.record.Results[i]
		if gain, _ := r.GainOver(p.Objective(), a.own); gain < worthwhile || !r.Verified {
			continue
		}
		change, err := a.changeOf(p, r, launch)
		if err == nil {
			err = j.Add(change, all, judged)
		}
		if err == nil {
			return change, first
		}
		if first == nil {
			first = fmt.Errorf("the best configuration, %v, is not injected: %w; change the application to have %v", r.Configuration, err, change)
		}
	}
	return nil, first
}

// changeOf returns what a configuration of a captured launch changes in the application. The error says why that cannot be injected.
func (a *answer) changeOf(p *problem.Problem, r *tune.Result, launch *capture.Launch) (*capture.Change, error) {
	c := &capture.Change{Launch: launch, Launches: a.Launches}
	old, err := p.Variant(a.own.Configuration, a.record.Header.Device)
	if err != nil {
		return c, err
	}
	v, err := p.Variant(r.Configuration, a.record.Header.Device)
	if err != nil {
		return c, err
	}
	names, included := clc.Identifiers(launch.Source), clc.HasIncludes(launch.Source)
	others := len(old.Options) != len(v.Options) || old.Source != v.Source || !reflect.DeepEqual(old.Settings, v.Settings)
	for i := 0; i < len(v.Options) && !others; i++ {
		define, macro := strings.CutPrefix(v.Options[i], "-D ")
		name, value, _ := strings.Cut(define, "=")
		if _, before, _ := strings.Cut(old.Options[i], "="); macro && value != before && (names[name] || included) {
			c.Macros = append(c.Macros, [3]string{name, before, value})
		}
		others = !macro && v.Options[i] != old.Options[i]
	}
	x, y := old.Launches[0], v.Launches[0]
	if local := y.NDRange.WorkGroup(); !slices.Equal(x.NDRange.WorkGroup(), local) {
		c.Local = local
	}
	switch global := y.NDRange.Global(); {
	case !slices.Equal(global, launch.Global):
		c.Global = global
		return c, fmt.Errorf("its global size is %s, which the host computes", figure.Sizes(global))
	case a.Local != nil && len(y.NDRange.WorkGroup()) == 0:
		return c, errors.New("it needs a local size that the driver chooses, and the application gives one")
	case others:
		return c, errors.New("it needs another source, other options, or settings of the device")
	case !reflect.DeepEqual([]any{x.Scalars, x.LocalBytes, old.Elements, old.Pixels}, []any{y.Scalars, y.LocalBytes, v.Elements, v.Pixels}):
		return c, errors.New("it needs other arguments: values, sizes of buffers, or local memory")
	}
	return c, nil
}

// beforeAfter compares two runs of an application. Kernels that an injection does not change show how much the runs differ anyway.
func beforeAfter(before, after *capture.Profile, j capture.Injection) figure.Table {
	t := figure.Table{
		Title:  before.Program[0] + " without and with injection",
		Head:   []string{"kernel", "global size", "local size", "calls", "ms before", "ms after", "gain"},
		Number: []bool{false, false, false, true, true, true, true},
	}
	row := func(name, global, local, calls string, was, is float64) {
		t.Rows = append(t.Rows, []string{name, global, local, calls, figure.Milliseconds(was / 1e6), figure.Milliseconds(is / 1e6),
			fmt.Sprintf("%.2f×", was/max(1, is))})
	}
	type both struct {
		capture.Launches
		local string // before
		calls [2]int
		cost  [2]float64
	}
	all, order := map[string]*both{}, []string{}
	for i, p := range []*capture.Profile{before, after} {
		for _, l := range p.Launches {
			key := fmt.Sprint(l.Device, l.Kernel, l.Build(), l.Global, l.Offset) // an injected local size changes
			if all[key] == nil {
				all[key] = &both{local: l.LocalText()}
				order = append(order, key)
			}
			b := all[key]
			b.Launches = l
			b.calls[i], b.cost[i] = b.calls[i]+l.Calls, b.cost[i]+l.Cost
		}
	}
	least, most := 1.0, 1.0
	for i, key := range order {
		b := all[key]
		if _, changed := j.Options[b.Build()]; !changed && b.local == b.LocalText() && before.Share(b.cost[0]) > 0.01 && b.calls[0] == b.calls[1] {
			least, most = min(least, b.cost[1]/b.cost[0]), max(most, b.cost[1]/b.cost[0])
		}
		if i < maxRows {
			row(b.Kernel, figure.Sizes(b.Global), b.LocalText(), fmt.Sprint(b.calls[1]), b.cost[0], b.cost[1])
		}
		if b.calls[0] != b.calls[1] {
			t.Notes = append(t.Notes, fmt.Sprintf("NOT THE SAME WORK: %s with the global size %s was launched %d times before, and %d times with injection",
				b.Kernel, figure.Sizes(b.Global), b.calls[0], b.calls[1]))
		}
	}
	if least < 0.9 || most > 1.1 {
		t.Notes = append(t.Notes, fmt.Sprintf("Kernels that are not changed took %.2f to %.2f times as long: the device was not the same, and gains like that mean nothing.",
			least, most))
	}
	row("all kernels", "", "", "", before.Kernels(), after.Kernels())
	row("device", "", "", "", before.Kernels()+float64(before.Transfers), after.Kernels()+float64(after.Transfers))
	row("program", "", "", "", float64(before.Wall), float64(after.Wall))
	return t
}
