package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/live"
)

// openPage serves the page of --serve, if that is given, and prints its address. The caller must call
// close.
func openPage(c *cli.Context) (page *live.Server, close func(), err error) {
	if !c.IsSet("serve") {
		return nil, func() {}, nil
	}
	page, err = live.Open(c.String("serve"), "ndtune "+versionText())
	if err != nil {
		return nil, nil, wrong("--serve: %w", err)
	}
	fmt.Fprintf(c.App.ErrWriter, "live: %s\n", page.URL())
	return page, page.Close, nil
}

// beginPage shows the search on the page. Like showResult and endPage, it does nothing if there is no page.
func (t *tuning) beginPage(total int) {
	if t.page != nil {
		t.shown = t.page.Begin(filepath.Base(t.log.Path()), t.log.Header(), total)
		t.followFleet()
	}
}

const (
	fleetInterval  = 2 * time.Second // between two looks at the fleet
	fleetPageLimit = 100             // devices on the page
)

// followFleet shows the devices of the fleet on the page until endPage.
func (t *tuning) followFleet() {
	if t.fleet == nil {
		return
	}
	ctx, cancel := context.WithCancel(t.cli.Context)
	ended := make(chan struct{})
	t.leaveFleet = func() { cancel(); <-ended }
	go func() {
		defer close(ended)
		for tick := time.NewTicker(fleetInterval); ; {
			if all, err := t.fleet.Devices(ctx); err == nil { // else the connection is cut, and mended
				table := fleetTable(all[:min(len(all), fleetPageLimit)])
				if table.Title = figure.Count(len(all), "device") + " in the fleet"; len(all) > fleetPageLimit {
					table.Notes = append(table.Notes, fmt.Sprintf("%d more are not shown.", len(all)-fleetPageLimit))
				}
				t.page.ShowFleet(table)
			}
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
}

func (t *tuning) showResult(r tune.Result, resumed bool) {
	if t.shown != nil {
		t.shown.Add(r, resumed)
	}
}

func (t *tuning) endPage(o *tune.Outcome, failed error) {
	if t.leaveFleet != nil {
		t.leaveFleet()
	}
	switch {
	case t.shown == nil:
	case failed != nil || o == nil:
		t.shown.End(nil, "Stopped: the search could not go on")
	default:
		t.shown.End(o.Results, endTexts[o.Stop])
	}
}

// endTexts say on the page how a search ended.
var endTexts = map[tune.StopReason]string{
	tune.Exhausted:   "Finished",
	tune.Budget:      "Finished: the number of evaluations is reached",
	tune.TimeIsUp:    "Finished: the time is up",
	tune.Settled:     "Finished: more evaluations brought no improvement",
	tune.Interrupted: "Interrupted",
	tune.Hopeless:    "Stopped: all failed for one reason",
	tune.Environment: "Stopped: configurations fail that were correct before",
}
