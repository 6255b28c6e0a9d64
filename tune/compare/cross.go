package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// shortlisted is the number of candidates for the best over all that are measured on every device,
// besides the devices' bests.
const shortlisted = 5

// Wanted returns the configurations that should be measured on every device, each once: the devices'
// bests, the default, and those that are closest to the best over all by the searches'
// measurements.
func Wanted(sources []Source, o Options) ([]space.Configuration, error) {
	g, err := gather(sources)
	if err != nil {
		return nil, err
	}
	keys := []string{""} // of no configuration
	for _, i := range g.usable() {
		keys = each.AppendNew(keys, g.devices[i].best, g.devices[i].own)
	}
	keys = each.AppendNew(keys, g.shortlist()...)
	wanted := each.Of(keys[1:], g.configuration)
	if o.Default != nil && !slices.Contains(keys, g.key(*o.Default)) {
		wanted = append(wanted, *o.Default)
	}
	return wanted, nil
}

// shortlist ranks the candidates by the searches' measurements alone, so that later
// measurements in turn do not change it.
func (g *gathered) shortlist() []string {
	usable := g.usable()
	keys := g.candidates()
	score := map[string]float64{}
	for _, key := range keys {
		for _, i := range usable {
			score[key] += g.devices[i].entries[key].cost / g.devices[i].least
		}
	}
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(score[a], score[b]) })
	return keys[:min(len(keys), shortlisted)]
}

// Cross runs the wanted configurations on a device, verifies them as in a search, and measures the
// correct ones in turn. It does not run configurations again that are in the log, except
// failures with a status in retry, nor those that failed according to known, the sources of this
// device. A configuration that the problem's restrictions do not admit on this device is logged as
// a failure.
func Cross(
	ctx context.Context, p *problem.Problem, e tune.Evaluator, log tune.Log, known []Source, wanted []space.Configuration,
	retry []tune.Status, onResult func(tune.Result, bool),
) (*tune.Outcome, error) {
	kept := map[string]bool{}
	for _, r := range log.Previous() {
		kept[r.Configuration.Key()] = true
	}
	var admitted []tune.Result
	for _, c := range wanted {
		c, err := p.Parameters().Configure(values(c))
		if err != nil {
			return nil, fmt.Errorf("run %s on %s: %w", c, e.Device().Name, err)
		}
		if failed(known, c) || p.Parameters().CheckValues(c) != nil {
			continue // of another space, possible if a record has no digest: the cell stays missing
		}
		refused := p.Admit(c, e.Device())
		switch {
		case refused == nil:
			admitted = append(admitted, tune.Result{Configuration: c})
		case !kept[c.Key()]:
			r := tune.Result{Configuration: c, Status: tune.Constraints, Reason: refused.Error(), Timestamp: time.Now()}
			if err := log.Append(r); err != nil {
				return nil, fmt.Errorf("keep the result of %s: %w", c, err)
			}
		}
	}
	if len(admitted) == 0 {
		return &tune.Outcome{Device: e.Device()}, nil
	}
	s, err := (&record.Record{Header: record.Header{Parameters: p.Parameters().List()}, Results: admitted}).Space(ctx)
	if err != nil {
		return nil, err
	}
	return loop.Run(ctx, p, e, loop.Options{Space: s, Log: log, Retry: retry, OnResult: onResult, Finalists: len(admitted)})
}

// failed reports whether a configuration failed according to sources of one device. The first that has it counts, searches before others.
func failed(known []Source, c space.Configuration) bool {
	of := values(c)
	for _, search := range []bool{true, false} {
		for i := range known {
			if r := tune.ResultOf(known[i].Record.Results, of); r != nil && known[i].isSearch() == search {
				return r.Status != tune.Correct
			}
		}
	}
	return false
}
