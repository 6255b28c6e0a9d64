package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// readRecords takes finalists from the records that the flags name.
func (b *bench) readRecords() error {
	for _, path := range b.cli.StringSlice("tuned") {
		r, err := record.Read(path)
		if err != nil {
			return fmt.Errorf("--tuned: %w", err)
		}
		k, err := b.kernelOf(r)
		if err != nil {
			return fmt.Errorf("--tuned %s: %w", path, err)
		}
		best := bestConfigurations(r.Header.Objective, r.Results)
		if len(best) == 0 {
			return fmt.Errorf("--tuned %s: no configuration is correct in it", path)
		}
		finalists := matmul.Finalists{Configurations: best}
		if size := r.Header.ProblemSize; len(size) == 2 && size[0] == size[1] {
			finalists.N = size[0]
		}
		k.finalists = append(k.finalists, finalists)
	}
	return nil
}

// kernelOf is the kernel that a record is of, among those to measure: the one that it names,
// else the one with its parameters.
func (b *bench) kernelOf(r *record.Record) (*benchKernel, error) {
	names := map[string]bool{}
	for _, p := range r.Header.Parameters {
		names[p.Name] = true
	}
	var fitting []*benchKernel
	for i := range b.kernels {
		k := &b.kernels[i]
		s, err := matmul.LoadKernel(k.path, b.sizes[0])
		if err != nil {
			return nil, err
		}
		fits := len(names) == s.Problem.Parameters().Len()
		for _, name := range s.Problem.Parameters().Names() {
			fits = fits && names[name]
		}
		if fits && r.Header.Source == k.path {
			return k, nil
		}
		if fits {
			fitting = append(fitting, k)
		}
	}
	if len(fitting) != 1 {
		return nil, errors.New("it is not of a kernel that --kernel names")
	}
	return fitting[0], nil
}

// bestConfigurations are the first of the ranking of a search's results.
func bestConfigurations(o tune.Objective, results []tune.Result) []string {
	places := o.Rank(results).Places
	var texts []string
	for _, i := range places[:min(benchFinalistCount, len(places))] {
		texts = append(texts, results[i].Configuration.String())
	}
	return texts
}

// tune searches the kernels that no record was given of, each at a few sizes: all together in
// their share of the time limit, of which what one does not need goes to those that follow.
func (b *bench) tune(ctx context.Context) error {
	sizes := b.sizesToTune()
	searches := 0
	for _, k := range b.kernels {
		if len(k.finalists) == 0 {
			searches += len(sizes)
		}
	}
	until := b.began.Add(time.Duration(benchTuneShare * float64(b.cli.Duration("time-limit"))))
	for i := range b.kernels {
		k := &b.kernels[i]
		if len(k.finalists) > 0 {
			continue
		}
		for _, n := range sizes {
			share := time.Until(until) / time.Duration(searches)
			searches--
			found, err := b.tuneAt(ctx, k, n, max(share, 0))
			if ctx.Err() != nil {
				return errInterrupted
			}
			if err != nil {
				fmt.Fprintf(b.cli.App.ErrWriter, "tune %s at N = %d: %v\n", k.name, n, err)
				k.why = "no configuration of it is known to be correct"
				continue
			}
			k.finalists = append(k.finalists, matmul.Finalists{N: n, Configurations: found})
		}
		if len(k.finalists) > 0 {
			k.why = ""
		}
	}
	return nil
}

// sizesToTune are those of the flag, else the defaults, each brought between the least and the
// largest size that is measured.
func (b *bench) sizesToTune() []int {
	if b.tuneSizes != nil {
		return b.tuneSizes
	}
	defaults := benchTuneSizes
	if b.device.Type == "cpu" {
		defaults = benchTuneSizesCPU
	}
	var sizes []int
	for _, n := range defaults {
		sizes = append(sizes, min(max(n, b.sizes[0]), b.sizes[len(b.sizes)-1]))
	}
	return slices.Compact(sizes)
}

// tuneAt searches a kernel at a size, and gives its best configurations. A search that does not
// end in twice its time, because of what its workers hold, is stopped.
func (b *bench) tuneAt(ctx context.Context, k *benchKernel, n int, limit time.Duration) ([]string, error) {
	began := time.Now()
	s, err := matmul.LoadKernel(k.path, n)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, 2*limit+10*time.Second)
	defer cancel()
	pool, err := worker.Open(limited, []device.Listed{b.device}, s.Problem, worker.Options{
		Iterations: b.cli.Int("iterations"), EarlyStop: device.DefaultEarlyStop,
		Note: func(text string) { fmt.Fprintln(b.cli.App.ErrWriter, text) },
	})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	configurations, err := s.Space(limited, pool.Device())
	if err != nil {
		return nil, err
	}
	total := configurations.Len()
	if most := b.cli.Int("max-evals"); most > 0 {
		total = min(total, most)
	}
	bar := newProgress(b.cli.App.ErrWriter, total, s.Problem.Objective(), false)
	outcome, err := tune.Run(limited, s.Problem, pool, tune.Options{
		Space: configurations, MaxEvaluations: b.cli.Int("max-evals"), TimeLimit: max(limit, time.Second),
		Strategy: func(of *space.Space) (search.Strategy, error) {
			return search.New(search.Auto, of, search.Options{Seed: b.cli.Uint64("seed"), Budget: b.cli.Int("max-evals")})
		},
		OnResult: func(r tune.Result, _ bool) { bar.add(r, b.cli.App.ErrWriter, "") },
	})
	bar.finish()
	if outcome == nil {
		return nil, err
	}
	if outcome.Stop == tune.Environment {
		return nil, fmt.Errorf("stopped: %s", outcome.Cause)
	}
	best := bestConfigurations(s.Problem.Objective(), outcome.Results)
	if len(best) == 0 {
		return nil, errors.Join(err, fmt.Errorf("none of %s is correct", countNoun(len(outcome.Results), "configuration")))
	}
	fmt.Fprintf(b.cli.App.ErrWriter, "tuned %s at N = %d: %s of %d in %s, best %s\n", k.name, n,
		countNoun(len(outcome.Results), "configuration"), configurations.Len(), roundElapsed(time.Since(began)), best[0])
	return best, nil
}
