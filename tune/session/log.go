package session

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
)

// header returns the header of the run log, without the time of its start.
func (s *Session) header(priors []Prior) record.Header {
	p := s.plan.Spec.Problem
	h := record.NewHeader(p, s.plan.Source)
	h.Size = s.plan.Size.String()
	h.Device = s.Evaluator.Device()
	if s.Space != nil {
		h.SpaceSize = s.Space.Len()
		h.Capacity = s.Evaluator.Capacity()
	}
	h.Metrics, h.Verified = p.MetricNames(h.Device), p.Verified()
	h.Iterations, h.Strategy, h.Seed, h.Tool = s.options().Iterations, s.plan.Strategy.Name, s.plan.Seed, s.plan.Tool
	for i, prior := range priors {
		text := filepath.Base(prior.Path)
		if i >= len(s.plan.Priors.Named) {
			text += ": " + prior.Name
		}
		h.Priors = append(h.Priors, text)
	}
	return h
}

// OpenLog opens the run log. It continues with what the log holds, also of other search spaces.
func (s *Session) OpenLog() error {
	if s.started.IsZero() {
		s.started = time.Now()
	}
	header := s.header(s.learnsFrom)
	header.Started = s.started
	path := s.plan.LogPath
	var err error
	if path == "" {
		if path, err = record.DefaultPath(header); err != nil {
			return fmt.Errorf("choose a place for the run log: %w (name one with --log FILE)", err)
		}
	}
	if s.Log, err = record.OpenReusing(path, header, s.has); err != nil && s.plan.LogPath != "" {
		return wrongOption("--log: %w", err)
	}
	return err
}

// has reports whether a result of another search space can be one of this.
func (s *Session) has(r tune.Result) bool {
	if s.Space == nil {
		// A comparison notes a configuration that restrictions exclude as a failure.
		return r.Status != tune.Constraints && s.plan.Spec.Problem.Admit(r.Configuration, s.Evaluator.Device()) == nil
	}
	_, ok := s.Space.Index(r.Configuration)
	return ok
}
