package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/capture"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/initial"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/report"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/task"
)

// An answer is what is known of launches of an application. Times are in milliseconds.
type answer struct {
	capture.Launches
	Share         float64 `json:"share"`             // of the application's device time
	Here          float64 `json:"here_ms,omitempty"` // the captured configuration, as measured here
	Best          float64 `json:"best_ms,omitempty"`
	Configuration string  `json:"best,omitempty"`
	Gain          float64 `json:"gain,omitempty"`
	DeviceGain    float64 `json:"device_gain,omitempty"` // of the application's device time
	ProgramGain   float64 `json:"program_gain_at_most,omitempty"`
	Note          string  `json:"note,omitempty"`

	name              string // of the folder, else of the kernel
	folder, spec, log string // the paths; "": nothing was captured
	own, best         *tune.Result
	on                device.Listed
	open, failed      bool // there are values to try; nothing more can be done
	record            *record.Record
}

// answersOf returns what is known of the launches of a profile without their searches.
func answersOf(p *capture.Profile, folder string) (all []*answer) {
	for _, l := range p.Launches {
		a := &answer{Launches: l, Share: p.Share(l.Cost), Note: l.Refused, name: cmp.Or(l.Folder, l.Kernel)}
		if l.Folder != "" {
			a.folder = filepath.Join(folder, l.Folder)
			a.spec, a.log = filepath.Join(a.folder, "kernel.yaml"), filepath.Join(a.folder, "kernel.jsonl")
		}
		all = append(all, a)
	}
	return all
}

// tune makes the specification of each captured launch, launches the captured configuration, and tunes those with values to try, if there is
// time for that.
func (k *capturing) tune(ctx context.Context) ([]*answer, error) {
	o, all, total := k.options, answersOf(k.profile, k.app.Folder), 0.0
	each := func(until context.Context, do func(a *answer) error) {
		for _, a := range all {
			if a.folder == "" || until.Err() != nil || a.failed {
			} else if err := do(a); err != nil && ctx.Err() == nil {
				a.Note, a.failed = excerpt.FirstLine(err.Error()), true
			}
		}
	}
	each(ctx, func(a *answer) error { return k.prepare(ctx, a) })
	for _, a := range all {
		if a.open {
			total += a.Share
		}
	}
	if o.timeLimit > 0 || o.maxEvaluations > 0 {
		each(ctx, func(a *answer) error {
			if !a.open {
				return nil
			}
			return k.search(ctx, k.console, a, time.Duration(float64(o.timeLimit)*a.Share/total), o.maxEvaluations)
		})
	}
	each(context.Background(), func(a *answer) error { _, err := a.read(k.profile); return err }) // also what an interrupted search has found
	return all, ctx.Err()
}

// prepare makes the specification of a captured launch, if there is none yet, and launches the captured configuration, if it was not.
func (k *capturing) prepare(ctx context.Context, a *answer) error {
	devices, err := device.List()
	if err != nil {
		return err
	}
	if a.on, err = device.Select(devices, cmp.Or(k.options.device, a.Device)); err != nil {
		return err
	}
	if _, err := os.Stat(a.spec); os.IsNotExist(err) {
		launch, err := capture.Read(filepath.Join(a.folder, capture.LaunchFolder))
		if err != nil {
			return err
		}
		k.say("%s: repeating the captured launch, and writing %s", a.name, a.spec)
		compiler := initial.Compiler{Device: a.on, Timeout: k.options.evaluation.buildTimeout}
		if _, err := initial.FromCapture(ctx, launch, a.spec, compiler); err != nil {
			return err
		}
	}
	s, err := spec.Load(a.spec, spec.Options{})
	if err != nil {
		return err
	}
	a.open = len(openParameters(s.Problem)) > 0
	if _, err := os.Stat(a.log); err == nil {
		return nil
	}
	quiet := *k.console
	quiet.quiet = true
	return k.search(ctx, &quiet, a, 0, 1) // the baseline
}

// timed is the time that the timed launches of a configuration may take together.
const timed = time.Second / 2

// search searches for some time, or with some evaluations.
func (k *capturing) search(ctx context.Context, t *console, a *answer, limit time.Duration, most int) error {
	s, err := spec.Load(a.spec, spec.Options{})
	if err != nil {
		return err
	}
	j, err := newJob(ctx, t, &k.options.searchOptions, s, a.spec)
	if err != nil {
		return err
	}
	j.plan.LogPath, j.plan.TimeLimit, j.plan.MaxEvaluations = a.log, limit, most
	j.compared, j.place.Devices, j.outputs = true, []device.Listed{a.on}, nil
	if err := j.checkFiles(); err != nil {
		return err
	}
	// A kernel that takes long is launched less often: always as often, since a run log has results of one number of launches.
	if n := int(float64(timed) / max(1, a.Mean())); n < task.DefaultLaunches && k.options.evaluation.iterations == 0 {
		j.evaluation.Iterations = max(1, n)
		if most != 1 {
			k.say("%s: %s of each configuration, since one takes %s ms", a.name, figure.Count(j.evaluation.Iterations, "timed launch"),
				figure.Milliseconds(a.Mean()/1e6))
		}
	}
	if _, err = j.searchAndWrite(ctx); errors.Is(err, errIncorrect) {
		err = nil
	}
	return err
}

// read reads the specification and the log of a search.
func (a *answer) read(of *capture.Profile) (*problem.Problem, error) {
	s, err := spec.Load(a.spec, spec.Options{})
	if err != nil {
		return nil, err
	}
	if a.record, err = record.Read(a.log); err != nil {
		return nil, err
	}
	p, results, values := s.Problem, a.record.Results, map[string]space.Value{}
	if baseline, known := p.Baseline(); known {
		baseline.Assign(values)
	}
	switch a.own, a.best = tune.ResultOf(results, values), tune.Best(p.Objective(), results); {
	case a.own == nil:
		return nil, errors.New("the captured configuration was not launched")
	case a.own.Status != tune.Correct:
		a.Note = "the captured configuration does not reproduce the output: " + shortReason(*a.own)
	default:
		a.Here = a.own.Figures().Time
		a.Note = comparedText(a.Launches, a.Here, strings.TrimSpace(a.record.Header.Device.Name))
	}
	if a.best == nil || len(results) < 2 {
		return p, nil
	}
	a.Best, a.Configuration = a.best.Figures().Time, a.best.Configuration.String()
	gain, known := a.best.GainOver(p.Objective(), a.own)
	for _, f := range tune.Finalists(p.Objective(), results) {
		if f.Result == a.own && f.Standing == tune.Indistinguishable {
			known = false // noise explains it
		}
	}
	if known && a.best != a.own {
		a.Gain = gain
		a.DeviceGain, a.ProgramGain = gains(of, a.saved())
	}
	return p, nil
}

// saved is the device time that the application saves, in nanoseconds.
func (a *answer) saved() float64 {
	if a.Gain == 0 {
		return 0
	}
	return a.Cost * (1 - 1/a.Gain)
}

// gains returns what a saving is worth for the device time of an application and, at most, for all of its time, by Amdahl's law.
func gains(p *capture.Profile, saved float64) (device, program float64) {
	share := p.Share(saved)
	return 1 / (1 - share), 1 / (1 - min(share, saved/float64(max(1, p.Wall))))
}

// likeness is how far the times of a launch here and in the application may be apart without an explanation.
const likeness = 1.2

// comparedText explains why a launch takes another time here than in the application; "": it does not.
func comparedText(l capture.Launches, here float64, on string) string {
	mean, least := l.Mean()/1e6, float64(l.Min)/1e6
	why := "there, its data may be in the caches, or the device less busy"
	switch {
	case l.Calls == 0 || here < likeness*mean && mean < likeness*here:
		return ""
	case l.Device != on:
		why = "the devices differ"
	case here < mean && least < likeness*here:
		why = fmt.Sprintf("there, the fastest took %s ms, and others waited for other work, or for memory that was new", figure.Milliseconds(least))
	case here < mean:
		why = "here, its data are in the caches; measure: {cache: cold} in the specification measures without"
	}
	return fmt.Sprintf("it takes %s ms here, and %s ms in the application: %s", figure.Milliseconds(here), figure.Milliseconds(mean), why)
}

// maxRows is the number of launches that a table has.
const maxRows = 25

// table is the answer: what the launches cost, what is known of the captured ones, and what that is worth.
func (k *capturing) table(all []*answer) figure.Table {
	p := k.profile
	show := func(known float64, text string) string {
		if known == 0 {
			return ""
		}
		return text
	}
	ms := func(v float64) string { return show(v, figure.Milliseconds(v)) }
	gain := func(v float64) string { return show(v, fmt.Sprintf("%.2f×", v)) }
	t := figure.Table{
		Title: fmt.Sprintf("%s: %s ms in kernels, %s ms in transfers, %s ms in all", excerpt.Of(strings.Join(p.Program, " ")),
			figure.Milliseconds(p.Kernels()/1e6), figure.Milliseconds(float64(p.Transfers)/1e6), figure.Milliseconds(float64(p.Wall)/1e6)),
		Head:   []string{"kernel", "global size", "local size", "calls", "share", "ms each", "ms here", "ms best", "gain", "device", "program"},
		Number: []bool{false, false, false, true, true, true, true, true, true, true, true},
	}
	saved, next := 0.0, ""
	for i, a := range all {
		if i < maxRows || a.folder != "" {
			t.Rows = append(t.Rows, []string{a.name, figure.Sizes(a.Global), a.LocalText(), show(float64(a.Calls), strconv.Itoa(a.Calls)),
				show(a.Share, fmt.Sprintf("%.1f %%", 100*a.Share)), ms(a.Mean() / 1e6), ms(a.Here), ms(a.Best), gain(a.Gain), gain(a.DeviceGain), gain(a.ProgramGain)})
		}
		if saved += a.saved(); a.Note != "" {
			t.Notes = append(t.Notes, a.name+": "+a.Note)
		}
		switch {
		case a.Gain > 0:
			t.Notes = append(t.Notes, fmt.Sprintf("%s: best: %s (%s)", a.name, a.Configuration, a.log))
		case a.Best > 0:
			t.Notes = append(t.Notes, fmt.Sprintf("%s: no better configuration than the captured one was found (%s)", a.name, a.log))
		case a.open || a.folder != "" && a.Note == "" && a.Here == 0: // interrupted
			t.Notes = append(t.Notes, fmt.Sprintf("%s: captured: %s", a.name, a.spec))
			next = fmt.Sprintf("next: ndtune capture -o %s --time-limit 10m", k.app.Folder)
		case a.Here > 0:
			t.Notes = append(t.Notes, fmt.Sprintf("%s: no values to try yet: its DECIDEs say what could be some: %s", a.name, a.spec))
		}
	}
	if saved > 0 {
		device, program := gains(p, saved)
		t.Rows = append(t.Rows, []string{"all", "", "", "", "", "", "", "", "", gain(device), gain(program)})
		t.Notes = append(t.Notes, "device, program: what the gain is worth for the device time, and at most for the whole time, of the application")
	}
	if next != "" {
		t.Notes = append(t.Notes, next)
	}
	return t
}

// writeSearches writes reports of all searches.
func writeSearches(all []*answer, paths []string) error {
	var sources []report.Source
	for _, a := range all {
		if a.record != nil {
			sources = append(sources, report.Source{Name: filepath.Base(a.folder), Record: a.record})
		}
	}
	if len(sources) == 0 || len(paths) == 0 {
		return nil
	}
	made, err := report.New(sources, "ndtune "+versionText(), time.Now())
	if err != nil {
		return err
	}
	return made.WriteFiles(paths, false)
}
