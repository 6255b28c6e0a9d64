package job

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/live"
	"github.com/ndtune/ndtune/tune/search"
)

// A searchDisplay shows a search on the terminal, and on the page of --serve if there is one.
type searchDisplay struct {
	job     *Job
	printer *Printer

	page        *live.Run // nil: there is none
	endFollower func()    // ends followFleet; nil: it has not begun
}

// newSearchDisplay shows the beginning of the search of a job whose session is open.
func newSearchDisplay(ctx context.Context, j *Job) searchDisplay {
	s, p := j.Session, j.Plan.Spec.Problem
	total := s.Total()
	d := searchDisplay{job: j, printer: NewPrinter(j, p, total)}
	d.printer.begin(s.Evaluator.Device(), j.Place.Devices, s.Space, s.Log)
	for _, prior := range j.Plan.Priors.Named {
		j.Say("%s", prior.Text(p))
	}
	notes := s.Found.Notes
	if j.Verbose {
		notes = slices.Concat(notes, s.Found.Details)
	}
	for _, note := range notes {
		j.Say("%s", note)
	}
	if j.Page != nil {
		d.page = j.Page.Begin(filepath.Base(s.Log.Path()), s.Log.Header(), total)
		if j.Place.Fleet != nil {
			d.endFollower = followFleet(ctx, j.Place.Fleet, j.Page)
		}
	}
	return d
}

// result shows a result.
func (d *searchDisplay) result(r tune.Result, resumed bool) {
	d.printer.Result(r, resumed)
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
	d.printer.end(o, j.Session.Evaluator.Evaluated())
	trusts, known := j.Session.Trusts()
	for _, trust := range trusts {
		j.Say("%s", trust)
	}
	if known && len(trusts) == 0 && j.Plan.Strategy.Name == search.Auto {
		j.Say("The search needed no prior: its budget covers the space, or ends before there is a model.")
	}
}

// OpenPage serves the page of --serve, if that is given, and prints its address. The caller must call
// close.
func (o *Options) OpenPage(t *ui.Console) (page *live.Server, close func(), err error) {
	if o.Serve == "" {
		return nil, func() {}, nil
	}
	page, err = live.Open(o.Serve, "ndtune "+ui.VersionText())
	if err != nil {
		return nil, nil, ui.Wrong("--serve: %w", err)
	}
	fmt.Fprintf(t.Notes, "live: %s\n", page.URL())
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
				table := FleetTable(all[:min(len(all), fleetPageLimit)])
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

// A searchEnd describes for people how a search ended.
type searchEnd struct {
	text      string
	inSummary bool   // the summary of the results says it; else other lines do, or nothing needs to be said
	next      string // how to continue the search, after the name of the run log
}

// ends describe all ends of a search.
var ends = map[tune.StopReason]searchEnd{
	tune.Exhausted: {text: "finished"},
	tune.Budget: {
		text: "stopped by the number of evaluations", inSummary: true,
		next: " (the same command with --log, this file and a larger --max-evals continues the run)",
	},
	tune.TimeIsUp:    {text: "stopped by the time limit", inSummary: true, next: continued},
	tune.Settled:     {text: "stopped: more evaluations brought no improvement", inSummary: true},
	tune.Interrupted: {text: "interrupted", next: continued},
	tune.Hopeless: {
		text: "stopped: all failed for one reason",
		next: " (the same command with --log, this file and --retry-failures evaluates them again)",
	},
	tune.Environment: {text: "stopped: configurations fail that were correct before"},
	tune.StrategyFailed: {
		text: "stopped: the strategy failed",
		next: " (a command with a strategy that works, --log and this file continues the run)",
	},
}

const continued = " (the same command with --log and this file continues the run)"

// page returns the text as a sentence on the page.
func (e searchEnd) page() string {
	if e.text == "" {
		return ""
	}
	return strings.ToUpper(e.text[:1]) + e.text[1:]
}
