package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/live"
	"github.com/ndtune/ndtune/tune/search"
)

// A searchDisplay shows a search on the terminal, and on the page of --serve if there is one.
type searchDisplay struct {
	job     *job
	printer *printer

	page        *live.Run // nil: there is none
	endFollower func()    // ends followFleet; nil: it has not begun
}

// newSearchDisplay shows the beginning of the search of a job whose session is open.
func newSearchDisplay(ctx context.Context, j *job) searchDisplay {
	s, p := j.session, j.plan.Spec.Problem
	total := s.Total()
	d := searchDisplay{job: j, printer: newPrinter(j, p, total)}
	d.printer.begin(s.Evaluator.Device(), j.place.Devices, s.Space, s.Log)
	for _, prior := range j.plan.Priors.Named {
		j.say("%s", priorText(prior, p))
	}
	notes := s.Found.Notes
	if j.verbose {
		notes = slices.Concat(notes, s.Found.Details)
	}
	for _, note := range notes {
		j.say("%s", note)
	}
	if j.page != nil {
		d.page = j.page.Begin(filepath.Base(s.Log.Path()), s.Log.Header(), total)
		if j.place.Fleet != nil {
			d.endFollower = followFleet(ctx, j.place.Fleet, j.page)
		}
	}
	return d
}

// result shows a result.
func (d *searchDisplay) result(r tune.Result, resumed bool) {
	d.printer.result(r, resumed)
	if d.page != nil {
		d.page.Add(r, resumed)
	}
}

// end shows the end of the search. The outcome is nil if there is none.
func (d *searchDisplay) end(o *tune.Outcome, failed error) {
	if d.endFollower != nil {
		d.endFollower()
	}
	switch {
	case d.page == nil:
	case failed != nil || o == nil:
		d.page.End(nil, "Stopped: the search could not go on")
	default:
		d.page.End(o.Results, ends[o.Stop].page())
	}
	if o == nil {
		return
	}
	j := d.job
	d.printer.end(o, j.session.Evaluator.Evaluated())
	trusts, known := j.session.Trusts()
	for _, trust := range trusts {
		j.say("%s", trustText(trust))
	}
	if known && len(trusts) == 0 && j.plan.Strategy.Name == search.Auto {
		j.say("The search needed no prior: its budget covers the space, or ends before there is a model.")
	}
}

// openPage serves the page of --serve, if that is given, and prints its address. The caller must call
// close.
func (o *searchOptions) openPage(t *console) (page *live.Server, close func(), err error) {
	if o.serve == "" {
		return nil, func() {}, nil
	}
	page, err = live.Open(o.serve, "ndtune "+versionText())
	if err != nil {
		return nil, nil, wrong("--serve: %w", err)
	}
	fmt.Fprintf(t.notes, "live: %s\n", page.URL())
	return page, page.Close, nil
}

const (
	fleetInterval  = 2 * time.Second // between two looks at the fleet
	fleetPageLimit = 100             // devices on the page
)

// followFleet shows the devices of a fleet on a page until end is called.
func followFleet(ctx context.Context, f *fleet.Connection, page *live.Server) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(fleetInterval); ; {
			if all, err := f.Devices(ctx); err == nil { // else the connection is cut, and mended
				table := fleetTable(all[:min(len(all), fleetPageLimit)])
				if table.Title = figure.Count(len(all), "device") + " in the fleet"; len(all) > fleetPageLimit {
					table.Notes = append(table.Notes, fmt.Sprintf("%d more are not shown.", len(all)-fleetPageLimit))
				}
				page.ShowFleet(table)
			}
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-ended }
}
