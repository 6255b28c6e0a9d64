package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/capture"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/report"
	"github.com/ndtune/ndtune/tune/scaffold"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/spec"
)

func (o *captureTuneOptions) Read(c *cli.Context) error {
	paths, err := flags.Paths(c, "the folder of a capture")
	switch {
	case err != nil:
		return err
	case len(paths) > 1:
		return ui.Wrong("one folder at a time")
	}
	o.folder = paths[0]
	return cmp.Or(ui.CheckOutputs("report", o.pages.Value(), report.CheckPath), o.ReadSearch(c))
}

// tuneCapture tunes the captured launches of a folder.
func tuneCapture(ctx context.Context, t *ui.Console, o *captureTuneOptions) (err error) {
	k := &capturing{Console: t, options: &o.Options, app: &capture.Application{Folder: o.folder}}
	if k.profile, err = capture.ReadProfile(o.folder); err != nil {
		return ui.Usage(err)
	}
	answers, err := k.examine(ctx)
	return errors.Join(err, k.show(answers, o.json), writeSearches(answers, o.pages.Value()))
}

// examine makes the specification of each captured launch, launches the captured configuration, and tunes those with values to try, if
// there is time for that.
func (k *capturing) examine(ctx context.Context) ([]*capture.Answer, error) {
	o, all, total := k.options, k.profile.Answers(k.app.Folder), 0.0
	failed := map[*capture.Answer]bool{}
	each := func(until context.Context, do func(a *capture.Answer) error) {
		for _, a := range all {
			if a.Path == "" || until.Err() != nil || failed[a] {
			} else if err := do(a); err != nil && ctx.Err() == nil {
				a.Note, failed[a] = excerpt.FirstLine(err.Error()), true
			}
		}
	}
	each(ctx, func(a *capture.Answer) error { return k.prepare(ctx, a) })
	for _, a := range all {
		if a.Open {
			total += a.Share
		}
	}
	if o.TimeLimit > 0 || o.MaxEvaluations > 0 {
		each(ctx, func(a *capture.Answer) error {
			if !a.Open {
				return nil
			}
			return k.search(ctx, k.Console, a, time.Duration(float64(o.TimeLimit)*a.Share/total), o.MaxEvaluations)
		})
	}
	each(context.Background(), func(a *capture.Answer) error { // also what an interrupted search has found
		s, err := spec.Load(a.Spec, spec.Options{})
		if err != nil {
			return err
		}
		return a.Read(s.Problem, k.profile)
	})
	return all, ctx.Err()
}

// show prints what is known of the launches.
func (k *capturing) show(all []*capture.Answer, json bool) error {
	if json {
		return k.JSON(struct {
			*capture.Profile
			Launches []*capture.Answer `json:"launches"`
		}{k.profile, all})
	}
	table := k.profile.Table(all, "next: ndtune capture tune "+k.app.Folder+" --time-limit 10m")
	table.WriteTitled(k.Out)
	return nil
}

// deviceFor selects the device for a captured launch.
func (k *capturing) deviceFor(a *capture.Answer) (device.Listed, error) {
	return device.SelectFor(cmp.Or(k.options.Device, a.Device), source.OpenCL)
}

// prepare makes the specification of a captured launch, if there is none yet, and launches the captured configuration, if it was not.
func (k *capturing) prepare(ctx context.Context, a *capture.Answer) error {
	on, err := k.deviceFor(a)
	if err != nil {
		return err
	}
	if _, err := os.Stat(a.Spec); os.IsNotExist(err) {
		launch, err := capture.Read(filepath.Join(a.Path, capture.LaunchFolder))
		if err != nil {
			return err
		}
		k.say("%s: repeating the captured launch, and writing %s", a.Name, a.Spec)
		compiler := scaffold.Compiler{Device: on, Timeout: k.options.Evaluation.BuildTimeout}
		if _, err := scaffold.FromCapture(ctx, launch, a.Spec, compiler); err != nil {
			return err
		}
	}
	s, err := spec.Load(a.Spec, spec.Options{})
	if err != nil {
		return err
	}
	a.Open = len(openParameters(s.Problem)) > 0
	if _, err := os.Stat(a.Log); err == nil {
		return nil
	}
	quiet := *k.Console
	quiet.Quiet = true
	return k.search(ctx, &quiet, a, 0, 1) // the baseline
}

// timed is the time that the timed launches of a configuration may take together.
const timed = time.Second / 2

// search searches for some time, or with some evaluations.
func (k *capturing) search(ctx context.Context, t *ui.Console, a *capture.Answer, limit time.Duration, most int) error {
	s, err := spec.Load(a.Spec, spec.Options{})
	if err != nil {
		return err
	}
	on, err := k.deviceFor(a)
	if err != nil {
		return err
	}
	j, err := job.New(ctx, t, k.options, s, a.Spec)
	if err != nil {
		return err
	}
	j.Plan.LogPath, j.Plan.TimeLimit, j.Plan.MaxEvaluations = a.Log, limit, most
	j.Compared, j.Place.Devices, j.Outputs = true, []device.Listed{on}, nil
	if err := j.CheckFiles(); err != nil {
		return err
	}
	// A kernel that takes long is launched less often: always as often, since a run log has results of one number of launches.
	if n := int(float64(timed) / max(1, a.Mean())); n < definition.DefaultLaunches && k.options.Evaluation.Iterations == 0 {
		j.Evaluation.Iterations = max(1, n)
		if most != 1 {
			k.say("%s: %s of each configuration, since one takes %s ms", a.Name, figure.Count(j.Evaluation.Iterations, "timed launch"),
				figure.Milliseconds(a.Mean()/1e6))
		}
	}
	if _, err = j.SearchAndWrite(ctx); errors.Is(err, ui.ErrIncorrect) {
		err = nil
	}
	return err
}

// writeSearches writes reports of all searches.
func writeSearches(all []*capture.Answer, paths []string) error {
	var sources []report.Source
	for _, a := range all {
		if a.Record != nil {
			sources = append(sources, report.Source{Name: filepath.Base(a.Path), Record: a.Record})
		}
	}
	if len(sources) == 0 || len(paths) == 0 {
		return nil
	}
	made, err := report.New(sources, "ndtune "+ui.VersionText(), time.Now())
	if err != nil {
		return err
	}
	return made.WriteFiles(paths, false)
}

func (o *captureTryOptions) Read(c *cli.Context) (err error) {
	if c.NArg() == 0 {
		return ui.Wrong("name the folder of a capture: %s %s", c.Command.HelpName, c.Command.ArgsUsage)
	}
	o.folder = c.Args().First()
	o.program, err = programArguments(c, c.Args().Tail())
	return err
}

// tryCapture runs the program without and with the best configurations of a folder, as far as they can be injected.
func tryCapture(ctx context.Context, t *ui.Console, o *captureTryOptions) error {
	k := &capturing{Console: t, app: &capture.Application{Args: o.program, Limit: captureLimit << 20}}
	recorded, err := capture.ReadProfile(o.folder)
	if err != nil {
		return ui.Usage(err)
	}
	var check []string
	if o.check != "" {
		if check, err = process.Words(o.check); err != nil {
			return ui.Wrong("--check: %w", err)
		}
	}
	if k.app.Loader, err = capture.FindLoader(); err != nil {
		return ui.Usage(err)
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
	for _, a := range recorded.Answers(o.folder) {
		if a.Path == "" {
			continue
		}
		change, err := inject(a, &injection, recorded, before.Launches, len(check) > 0)
		if err != nil {
			k.say("%s: %v.", a.Name, err)
		}
		if change != nil {
			injected = append(injected, fmt.Sprintf("%s: %v", a.Name, change))
		}
	}
	if len(injected) == 0 {
		return fmt.Errorf("nothing in %s can be injected into this run", o.folder)
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
	table := injection.Against(before, after)
	table.WriteTitled(t.Out)
	if len(check) == 0 {
		k.say("Whether the output of the application is right, ndtune does not know; --check COMMAND asks a check of yours.")
	}
	return nil
}

// inject reads what is known of a captured launch, and adds its best configuration to an injection, if that can be.
func inject(a *capture.Answer, to *capture.Injection, of *capture.Profile, all []capture.Launches, judged bool) (*capture.Change, error) {
	s, err := spec.Load(a.Spec, spec.Options{})
	if err != nil {
		return nil, err
	}
	if err := a.Read(s.Problem, of); err != nil {
		return nil, err
	}
	return a.Inject(to, s.Problem, all, judged)
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
	c.Stdout, c.Stderr = k.Notes, k.Notes
	if err := c.Run(); err != nil {
		k.say("After this run, the check fails: %v.", err)
		return ui.ErrIncorrect
	}
	k.say("After this run, the check passes.")
	return nil
}
