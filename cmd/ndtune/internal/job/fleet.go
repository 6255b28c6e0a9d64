package job

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
)

// CategoryFleet is the category of flags about a fleet.
const CategoryFleet = "fleet"

// A Fleet names a fleet.
type Fleet struct {
	URL    string // "": none
	agents int    // that are awaited
}

// Flag names the fleet.
func (o *Fleet) Flag(usage string) cli.Flag {
	return &cli.StringFlag{
		Name: "fleet", Destination: &o.URL, Category: CategoryFleet, EnvVars: []string{"NDTUNE_FLEET"},
		Usage: usage + " at `URL`, nats://HOST:PORT or tls://HOST:PORT, which may name files, " +
			"as in 'tls://HOST:PORT?authority=FILE&credentials=FILE' (docs/fleet.md); '' is no fleet",
	}
}

// SearchFlags are those of a command that searches.
func (o *Fleet) SearchFlags(usage string) []cli.Flag {
	return []cli.Flag{o.Flag(usage), flags.Number(&o.agents, "agents", CategoryFleet,
		"begin when the fleet has `N` agents (default: with the devices that are there)")}
}

// Connect connects to the fleet.
func (o *Fleet) Connect(ctx context.Context, t *ui.Console, role string) (*fleet.Connection, error) {
	if o.URL == "" {
		return nil, ui.Wrong("name the fleet with --fleet URL")
	}
	f, err := fleet.Connect(ctx, o.URL, "ndtune "+role, t.Note)
	if err != nil {
		return nil, ui.Wrong("--fleet: %w", err)
	}
	return f, nil
}

// A JoinedFleet is the fleet on whose devices a command searches.
type JoinedFleet struct {
	*fleet.Connection
	Members []fleet.Kind
}

// atHome is the way out of the fleet that NDTUNE_FLEET names.
const atHome = "--fleet '' searches on this machine, whatever NDTUNE_FLEET says"

// Join joins the fleet, and chooses among its kinds of devices; nil if there is none. The caller closes the fleet.
func (o *Fleet) Join(ctx context.Context, t *ui.Console, choose func([]device.Listed) error) (*JoinedFleet, error) {
	if o.URL == "" {
		return nil, nil
	}
	connection, err := o.Connect(ctx, t, "search")
	if err != nil {
		return nil, ui.Wrong("%w; %s", err, atHome)
	}
	f := &JoinedFleet{Connection: connection}
	if f.Members, err = f.Kinds(ctx, o.agents, t.Listener().Say); err == nil {
		err = choose(fleet.Listed(f.Members))
	} else if ctx.Err() == nil {
		err = ui.Wrong("%w; %s", err, atHome)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close leaves the fleet. A nil fleet has nothing to leave.
func (f *JoinedFleet) Close() {
	if f != nil {
		f.Connection.Close()
	}
}

// FleetTable is a table of the devices of a fleet: what each is doing, and for how long.
func FleetTable(all []fleet.Announcement) figure.Table {
	t := figure.Table{
		Name: "fleet", Title: figure.Count(len(all), "device") + " in the fleet",
		Head:   []string{"machine/device", "name", "driver", "doing", "for", "evaluated"},
		Number: []bool{false, false, false, false, true, true},
		Rows:   [][]string{},
	}
	for _, a := range all {
		doing, since := a.Doing()
		t.Rows = append(t.Rows, []string{
			a.Name(), strings.TrimSpace(a.Device.Name), a.Device.Driver, doing, ui.RoundElapsed(since).String(), fmt.Sprint(a.Evaluated),
		})
		for _, r := range a.Refused {
			t.Notes = append(t.Notes, fmt.Sprintf("%s refuses a search: %s", a.Name(), excerpt.FirstLine(r.Why)))
		}
	}
	return t
}
