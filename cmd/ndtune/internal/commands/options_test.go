package commands

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// parse returns the options that a command reads from a command line, flags first. The command is not run.
func parse[O any](t *testing.T, of func(flags.Runner[O]) *cli.Command, line string) (*O, *ui.Console, error) {
	t.Helper()
	var options *O
	var on *ui.Console
	app := &cli.App{
		Commands:                  []*cli.Command{of(func(_ context.Context, c *ui.Console, o *O) error { options, on = o, c; return nil })},
		DisableSliceFlagSeparator: true, Reader: strings.NewReader(""), Writer: io.Discard, ErrWriter: io.Discard,
	}
	err := app.Run(strings.Fields("ndtune " + line))
	return options, on, err
}

func TestTuneOptions(t *testing.T) {
	evaluation := func(o *tuneOptions, c *ui.Console) any {
		e := o.Evaluation.On(c)
		return []any{e.InProcess, e.Workers, e.Iterations, e.BuildTimeout, e.KernelTimeout, e.AllowSettings, e.Output != nil}
	}
	for _, test := range []struct {
		line string
		of   func(*tuneOptions, *ui.Console) any
		want any
	}{
		{"--set n=4 -p x=1,2 -p y=3 --observe energy,clock k.yaml", func(o *tuneOptions, _ *ui.Console) any {
			return []any{o.Spec.Path, o.Spec.Changes.Set, o.Spec.Changes.Parameters["x"], o.Spec.Changes.Observe}
		}, []any{"k.yaml", map[string]string{"n": "4"}, []space.Value{1, 2}, []string{"energy", "clock"}}},
		{"k.yaml", evaluation, []any{false, 0, 0, worker.DefaultBuildTimeout, worker.DefaultKernelTimeout, false, false}},
		{"--workers 3 --iterations 9 --build-timeout 2s --kernel-timeout 3s --allow settings -v k.yaml", evaluation,
			[]any{false, 3, 9, 2 * time.Second, 3 * time.Second, true, true}},
		{"--workers 0 k.yaml", evaluation, []any{true, 0, 0, worker.DefaultBuildTimeout, worker.DefaultKernelTimeout, false, false}},
		{"--strategy pso:popsize=9 --seed 3 k.yaml", func(o *tuneOptions, _ *ui.Console) any { return []any{o.By, o.Seed} },
			[]any{session.Strategy{Name: "pso", Options: map[string]string{"popsize": "9"}}, uint64(3)}},
		{"--max-evals 7 --time-limit 90s --patience 5 k.yaml", func(o *tuneOptions, _ *ui.Console) any {
			return []any{o.MaxEvaluations, o.TimeLimit, o.Patience}
		}, []any{7, 90 * time.Second, 5}},
		{"--prior a.jsonl --prior find k.yaml", func(o *tuneOptions, _ *ui.Console) any { return []any{o.Prior.Paths, o.Prior.Find} }, []any{[]string{"a.jsonl"}, true}},
		{"--prior none k.yaml", func(o *tuneOptions, _ *ui.Console) any { return o.Prior.Find }, false},
		{"--log l --retry-failures=compile,timeout k.yaml", func(o *tuneOptions, _ *ui.Console) any { return []tune.Status(o.Retry) },
			[]tune.Status{tune.Compile, tune.Timeout}},
		{"-o a.json -o b.csv -q --check -d gpu k.yaml", func(o *tuneOptions, c *ui.Console) any {
			return []any{o.Outputs.Value(), c.Quiet, c.Verbose, o.check, o.Device}
		}, []any{[]string{"a.json", "b.csv"}, true, false, true, "gpu"}},
		{"--json -", func(o *tuneOptions, c *ui.Console) any { return []any{o.Spec.IsInput(), o.json, c.Stream != nil} }, []any{true, true, true}},
	} {
		o, c, err := parse(t, tuneCommand, "tune "+test.line)
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
		} else if got := test.of(o, c); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %v, want %v", test.line, got, test.want)
		}
	}
	for line, want := range map[string]string{
		"a.yaml b.yaml":                         "one specification at a time",
		"--workers -1 k.yaml":                   "--workers -1",
		"--workers 0 --build-timeout 1s k.yaml": "leave out --build-timeout",
		"--strategy pso,mls k.yaml":             "a search has one strategy",
		"--prior none --prior a k.yaml":         "none excludes all records",
		"-p x k.yaml":                           "-p: ",
	} {
		if o, _, err := parse(t, tuneCommand, "tune "+line); o != nil || err == nil || !ui.IsUsage(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestRunOptions(t *testing.T) {
	for line, iterations := range map[string]int{"k.yaml": 0, "--iterations 4 k.yaml": 4, "--iterations 0 k.yaml": device.Untimed} {
		o, c, err := parse(t, runCommand, "run "+line)
		if err != nil || o.evaluation.On(c).Iterations != iterations {
			t.Errorf("%s: %v, %v", line, o, err)
		}
	}
}

func TestCompareOptions(t *testing.T) {
	o, _, err := parse(t, compareCommand, "compare -d 0,1:0 --default x=1 --time-limit 5s --log l.jsonl -o c.json k.yaml a.jsonl")
	if err != nil || o.devices != "0,1:0" || o.configuration != "x=1" || o.TimeLimit != 5*time.Second || o.Log != "l.jsonl" ||
		!reflect.DeepEqual(o.paths, []string{"k.yaml", "a.jsonl"}) || !reflect.DeepEqual(o.Outputs.Value(), []string{"c.json"}) {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestCaptureOptions(t *testing.T) {
	run, _, err := parse(t, func(run flags.Runner[captureRunOptions]) *cli.Command { return captureCommand(run, nil, nil) },
		"capture run --once -k a -k b -- sh -c true")
	if err != nil || !run.once || run.folder != "sh.capture" || run.limit != captureLimit ||
		!reflect.DeepEqual(run.kernels.Value(), []string{"a", "b"}) || !reflect.DeepEqual(run.program, []string{"sh", "-c", "true"}) {
		t.Errorf("%+v, %v", run, err)
	}
	try, _, err := parse(t, func(run flags.Runner[captureTryOptions]) *cli.Command { return captureCommand(nil, nil, run) },
		"capture try --check true folder sh -c true")
	if err != nil || try.folder != "folder" || try.check != "true" || !reflect.DeepEqual(try.program, []string{"sh", "-c", "true"}) {
		t.Errorf("%+v, %v", try, err)
	}
}
