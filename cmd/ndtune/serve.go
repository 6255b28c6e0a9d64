package main

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/live"
)

func serveFlag() cli.Flag {
	return &cli.StringFlag{Name: "serve", Category: categoryOutput,
		Usage: "show the search while it goes on, to browsers, at `HOST:PORT`, such as 127.0.0.1:8080; :0 is this machine alone and a free port"}
}

// openPage serves the page that --serve asks for, and says where; nil where it asks for none.
// The caller must close it.
func openPage(c *cli.Context) (*live.Server, error) {
	if !c.IsSet("serve") {
		return nil, nil
	}
	page, err := live.Open(c.String("serve"), "ndtune "+versionText())
	if err != nil {
		return nil, wrong("--serve: %w", err)
	}
	fmt.Fprintf(c.App.ErrWriter, "live: %s\n", page.URL())
	return page, nil
}

// beginPage shows the search on the page, where there is one. The other two below do nothing
// without it.
func (t *tuning) beginPage(total int) {
	if t.page != nil {
		t.shown = t.page.Begin(filepath.Base(t.log.Path()), t.log.Header(), total)
	}
}

func (t *tuning) showResult(r tune.Result, resumed bool) {
	if t.shown != nil {
		t.shown.Add(r, resumed)
	}
}

func (t *tuning) endPage(o *tune.Outcome, failed error) {
	switch {
	case t.shown == nil:
	case failed != nil || o == nil:
		t.shown.End(nil, "Stopped: the search could not go on")
	default:
		t.shown.End(o.Results, endText(o))
	}
}

// endText says on the page how a search ended.
func endText(o *tune.Outcome) string {
	switch o.Stop {
	case tune.Budget:
		return "Finished: the number of evaluations is reached"
	case tune.TimeIsUp:
		return "Finished: the time is up"
	case tune.Interrupted:
		return "Interrupted"
	case tune.Hopeless:
		return "Stopped: all failed for one reason"
	case tune.Environment:
		return "Stopped: configurations fail that were correct before"
	}
	return "Finished"
}
