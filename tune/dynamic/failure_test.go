package dynamic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/wisdom"
)

// TestWisdomThatIsWrong: a record of the file that turns out wrong is not used, and a search begins.
func TestWisdomThatIsWrong(t *testing.T) {
	a := newApplication(t)
	p := problemWith(t, true, none, wrong)
	identity, err := device.Describe(a.launcher.Device)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "saxpy.wisdom")
	if _, err := wisdom.Add(t.Context(), path, &wisdom.File{
		Key: "saxpy", Parameters: p.Parameters().Names(), Objective: p.Objective(),
	}); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf(`{"config":[64,2,1],"problem_size":[%[1]d],"constants":{"n":%[1]d},"environment":{"device_name":%[2]q,"vendor":%[3]q,"device_type":%[4]q},"time":1e-9,"verified":true,"source_digest":%[5]q}`+"\n",
		n, identity.Name, identity.Vendor, identity.Type, p.KernelDigest())
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(line); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	k := a.open(p, Options{Wisdom: wisdom.Options{File: path}})
	if k.known == nil {
		t.Fatal("the record is not known")
	}
	if o := a.finish(k, false); o == nil || o.Best.Configuration.Int("fault") != none {
		t.Errorf("%+v", o)
	}
}

// TestWisdomThatCannotBeKept: if the best cannot be added to the file of wisdom, the application is told.
func TestWisdomThatCannotBeKept(t *testing.T) {
	a := newApplication(t)
	path := filepath.Join(t.TempDir(), "saxpy.wisdom")
	k := a.open(problemWith(t, true, none), Options{Wisdom: wisdom.Options{File: path}})
	a.step(k, false)
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	var err error
	for over := false; err == nil && !over; _, over = k.Outcome() {
		err = k.Do(t.Context(), func(s *Step) error { return s.Run(a.y, a.x, float32(0)) })
	}
	if err = errors.Join(err, k.Close()); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}

// TestLaunchesThatFail: a launch that fails in the midst of a step is a failure of the configuration.
func TestLaunchesThatFail(t *testing.T) {
	a := newApplication(t)
	p := problemWith(t, true, unlaunchable, none, unbuildable)
	o := a.finish(a.open(p, Options{EarlyStop: 1, Wisdom: wisdom.Options{
		Open: func(context.Context) (wisdom.Evaluator, error) { return credulous{}, nil },
	}}), false)
	if got := fmt.Sprint(statuses(o)); got != "map[0 correct:6 2 compile:6 4 runtime:6]" {
		t.Error(got)
	}
}

// TestNothingIsCorrect: without a correct configuration, a step is an error that says why.
func TestNothingIsCorrect(t *testing.T) {
	a := newApplication(t)
	k := a.open(problemWith(t, true, wrong), Options{})
	for range 2 {
		err := k.Do(t.Context(), func(*Step) error { t.Error("work was called"); return nil })
		if err == nil || err.Error() != "tune saxpy: none of 6 configurations is correct" {
			t.Error(err)
		}
	}
	if _, ok := k.Best(); ok {
		t.Error("there is a best")
	}
}

// TestVerifierThatFails: if nothing can be verified any more, steps go on with the best, and Close says why.
func TestVerifierThatFails(t *testing.T) {
	a := newApplication(t)
	opened := 0
	k := a.open(problemWith(t, true, none), Options{Wisdom: wisdom.Options{
		Open: func(context.Context) (wisdom.Evaluator, error) {
			if opened++; opened > 1 {
				return nil, errors.New("no memory")
			}
			return credulous{}, nil
		},
	}})
	for {
		if _, ok := k.Best(); ok && k.trial == nil {
			break
		}
		a.step(k, false)
	}
	k.closeVerifier()
	for range 3 {
		c, trial := a.step(k, false)
		if best, ok := k.Best(); !ok || trial || c.Key() != best.Key() {
			t.Errorf("%s, a trial: %t; the best is %s", c, trial, best)
		}
	}
	if err := k.Close(); err == nil || err.Error() != "no memory" {
		t.Error(err)
	}
}
