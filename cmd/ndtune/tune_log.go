package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
)

// header returns the header of the run log, without the time of its start.
func (t *tuning) header() record.Header {
	p := t.spec.Problem
	header := record.NewHeader(p, t.source)
	header.Size = t.size.String()
	header.Device = t.evaluator.Device()
	if t.space != nil { // nil: the log of the measurements of a comparison
		header.SpaceSize = t.space.Len()
	}
	header.Metrics, header.Verified = p.MetricNames(header.Device), p.Verified()
	header.Iterations, header.Strategy, header.Seed = t.iterations(), t.strategy.name, t.cli.Uint64("seed")
	header.Tool = "ndtune " + versionText()
	for i, prior := range t.priors {
		text := filepath.Base(prior.path)
		if i >= t.named {
			text += ": " + prior.name
		}
		header.Priors = append(header.Priors, text)
	}
	return header
}

// openLog opens the run log, which resumes what it holds, also of other search spaces.
func (t *tuning) openLog() error {
	if t.started.IsZero() {
		t.started = time.Now()
	}
	header := t.header()
	header.Started = t.started
	path := t.logPath
	var err error
	if path == "" {
		if path, err = record.DefaultPath(header); err != nil {
			return fmt.Errorf("choose a place for the run log: %w (name one with --log FILE)", err)
		}
	}
	t.log, err = record.OpenReusing(path, header, t.has)
	switch {
	case err != nil && t.logPath != "":
		return wrong("--log: %w", err) // the named file does not fit
	case err != nil:
		return err
	}
	t.log.Notify(func(text string) { fmt.Fprintln(t.cli.App.ErrWriter, text) })
	return nil
}

// has reports whether a result of another search space can be one of this.
func (t *tuning) has(r tune.Result) bool {
	if t.space == nil {
		// A comparison notes a configuration that restrictions exclude as a failure.
		return r.Status != tune.Constraints && t.spec.Problem.Admit(r.Configuration, t.evaluator.Device()) == nil
	}
	_, ok := t.space.Index(r.Configuration)
	return ok
}
