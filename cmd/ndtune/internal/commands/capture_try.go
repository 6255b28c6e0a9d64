package commands

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/capture"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/spec"
)

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
