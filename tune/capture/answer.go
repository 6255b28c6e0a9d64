package capture

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// An Answer is what is known of launches of an application, and what their tuning is worth. Times are in milliseconds.
type Answer struct {
	Launches
	Share         float64 `json:"share"`             // of the application's device time
	Here          float64 `json:"here_ms,omitempty"` // the captured configuration, as measured here
	Best          float64 `json:"best_ms,omitempty"`
	Configuration string  `json:"best,omitempty"`
	Gain          float64 `json:"gain,omitempty"`
	DeviceGain    float64 `json:"device_gain,omitempty"` // of the application's device time
	ProgramGain   float64 `json:"program_gain_at_most,omitempty"`
	Note          string  `json:"note,omitempty"`

	Name            string         `json:"-"` // of the folder, else of the kernel
	Path, Spec, Log string         `json:"-"` // of the folder, the specification and the run log; "": nothing was captured
	Open            bool           `json:"-"` // there are values to try
	Record          *record.Record `json:"-"` // of [Answer.Read]

	own, best *tune.Result
}

// Answers returns what is known of the launches of the profile of a folder, without their searches.
func (p *Profile) Answers(folder string) (all []*Answer) {
	for _, l := range p.Launches {
		a := &Answer{Launches: l, Share: p.Share(l.Cost), Note: l.Refused, Name: cmp.Or(l.Folder, l.Kernel)}
		if l.Folder != "" {
			a.Path = filepath.Join(folder, l.Folder)
			a.Spec, a.Log = filepath.Join(a.Path, "kernel.yaml"), filepath.Join(a.Path, "kernel.jsonl")
		}
		all = append(all, a)
	}
	return all
}

// Read reads what the run log says of the problem of the launches.
func (a *Answer) Read(p *problem.Problem, of *Profile) (err error) {
	if a.Record, err = record.Read(a.Log); err != nil {
		return err
	}
	results, values := a.Record.Results, map[string]space.Value{}
	if baseline, known := p.Baseline(); known {
		baseline.Assign(values)
	}
	switch a.own, a.best = tune.ResultOf(results, values), tune.Best(p.Objective(), results); {
	case a.own == nil:
		return errors.New("the captured configuration was not launched")
	case a.own.Status != tune.Correct:
		a.Note = "the captured configuration does not reproduce the output: " + tune.Headline(a.own.Status, a.own.Reason)
	default:
		a.Here = a.own.Figures().Time
		a.Note = comparedText(a.Launches, a.Here, strings.TrimSpace(a.Record.Header.Device.Name))
	}
	if a.best == nil || len(results) < 2 {
		return nil
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
	return nil
}

// saved is the device time that the application saves, in nanoseconds.
func (a *Answer) saved() float64 {
	if a.Gain == 0 {
		return 0
	}
	return a.Cost * (1 - 1/a.Gain)
}

// gains returns what a saving is worth for the device time of an application and, at most, for all of its time, by Amdahl's law.
func gains(p *Profile, saved float64) (device, program float64) {
	share := p.Share(saved)
	return 1 / (1 - share), 1 / (1 - min(share, saved/float64(max(1, p.Wall))))
}

// likeness is how far the times of a launch here and in the application may be apart without an explanation.
const likeness = 1.2

// comparedText explains why a launch takes another time here than in the application; "": it does not.
func comparedText(l Launches, here float64, on string) string {
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

// Table shows what the launches cost, what is known of the captured ones, and what that is worth. Next says how to tune those that were not.
func (p *Profile) Table(all []*Answer, next string) figure.Table {
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
	saved, more := 0.0, false
	for i, a := range all {
		if i < maxRows || a.Path != "" {
			t.Rows = append(t.Rows, []string{a.Name, figure.Sizes(a.Global), a.LocalText(), show(float64(a.Calls), strconv.Itoa(a.Calls)),
				show(a.Share, fmt.Sprintf("%.1f %%", 100*a.Share)), ms(a.Mean() / 1e6), ms(a.Here), ms(a.Best), gain(a.Gain), gain(a.DeviceGain), gain(a.ProgramGain)})
		}
		if saved += a.saved(); a.Note != "" {
			t.Notes = append(t.Notes, a.Name+": "+a.Note)
		}
		switch {
		case a.Gain > 0:
			t.Notes = append(t.Notes, fmt.Sprintf("%s: best: %s (%s)", a.Name, a.Configuration, a.Log))
		case a.Best > 0:
			t.Notes = append(t.Notes, fmt.Sprintf("%s: no better configuration than the captured one was found (%s)", a.Name, a.Log))
		case a.Open || a.Path != "" && a.Note == "" && a.Here == 0: // interrupted
			t.Notes = append(t.Notes, fmt.Sprintf("%s: captured: %s", a.Name, a.Spec))
			more = true
		case a.Here > 0:
			t.Notes = append(t.Notes, fmt.Sprintf("%s: no values to try yet: its DECIDEs say what could be some: %s", a.Name, a.Spec))
		}
	}
	if saved > 0 {
		device, program := gains(p, saved)
		t.Rows = append(t.Rows, []string{"all", "", "", "", "", "", "", "", "", gain(device), gain(program)})
		t.Notes = append(t.Notes, "device, program: what the gain is worth for the device time, and at most for the whole time, of the application")
	}
	if more {
		t.Notes = append(t.Notes, next)
	}
	return t
}
