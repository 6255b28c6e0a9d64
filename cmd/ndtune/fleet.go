package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/worker"
)

const categoryFleet = "fleet"

// fleetOptions name a fleet.
type fleetOptions struct {
	url    string // "": none
	agents int    // that are awaited
}

func (o *fleetOptions) flag(usage string) cli.Flag {
	return &cli.StringFlag{
		Name: "fleet", Destination: &o.url, Category: categoryFleet, EnvVars: []string{"NDTUNE_FLEET"},
		Usage: usage + " at `URL`, nats://HOST:PORT or tls://HOST:PORT, which may name files, " +
			"as in 'tls://HOST:PORT?authority=FILE&credentials=FILE' (docs/fleet.md); '' is no fleet",
	}
}

// searchFlags are those of a command that searches.
func (o *fleetOptions) searchFlags(usage string) []cli.Flag {
	return []cli.Flag{o.flag(usage), numberFlag(&o.agents, "agents", categoryFleet,
		"begin when the fleet has `N` agents (default: with the devices that are there)")}
}

// connect connects to the fleet.
func (o *fleetOptions) connect(ctx context.Context, t *console, role string) (*fleet.Connection, error) {
	if o.url == "" {
		return nil, wrong("name the fleet with --fleet URL")
	}
	f, err := fleet.Connect(ctx, o.url, "ndtune "+role, t.note)
	if err != nil {
		return nil, wrong("--fleet: %w", err)
	}
	return f, nil
}

// A searchFleet is the fleet on whose devices a command searches.
type searchFleet struct {
	*fleet.Connection
	kinds []fleet.Kind
}

// atHome is the way out of the fleet that NDTUNE_FLEET names.
const atHome = "--fleet '' searches on this machine, whatever NDTUNE_FLEET says"

// join joins the fleet, and chooses among its kinds of devices; nil if there is none. The caller closes the fleet.
func (o *fleetOptions) join(ctx context.Context, t *console, choose func([]device.Listed) error) (*searchFleet, error) {
	if o.url == "" {
		return nil, nil
	}
	connection, err := o.connect(ctx, t, "search")
	if err != nil {
		return nil, wrong("%w; %s", err, atHome)
	}
	f := &searchFleet{Connection: connection}
	if f.kinds, err = f.Kinds(ctx, o.agents, t.listener().Say); err == nil {
		err = choose(fleet.Listed(f.kinds))
	} else if ctx.Err() == nil {
		err = wrong("%w; %s", err, atHome)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// close leaves the fleet. A nil fleet has nothing to leave.
func (f *searchFleet) close() {
	if f != nil {
		f.Close()
	}
}

type showOptions struct {
	fleet fleetOptions
	json  bool
}

func fleetCommand(run runner[showOptions]) *cli.Command {
	o := &showOptions{}
	return &cli.Command{
		Name:  "fleet",
		Usage: "show the devices of a fleet of machines",
		Description: `A fleet is a NATS server with JetStream, an agent on each machine, and the searches that use
their devices (docs/fleet.md). On one machine:

   nats-server -js -a 127.0.0.1
   ndtune agent --fleet nats://127.0.0.1:4222
   ndtune fleet show --fleet nats://127.0.0.1:4222
   ndtune tune kernel.yaml --fleet nats://127.0.0.1:4222 --device gpu`,
		Subcommands: []*cli.Command{{
			Name:  "show",
			Usage: "list the devices of a fleet and what they are doing",
			Description: `   ndtune fleet show --fleet nats://127.0.0.1:4222
   ndtune fleet show --fleet nats://127.0.0.1:4222 --json`,
			Flags:  []cli.Flag{o.fleet.flag("the fleet"), jsonFlag(&o.json)},
			Action: action(o, run),
		}},
	}
}

func (o *showOptions) read(c *cli.Context) error { return noArguments(c) }

func showFleet(ctx context.Context, t *console, o *showOptions) error {
	f, err := o.fleet.connect(ctx, t, "show")
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := f.Devices(ctx)
	if err != nil {
		return err
	}
	if o.json {
		return t.json(all)
	}
	printFleet(t.out, all)
	return nil
}

func printFleet(w io.Writer, all []fleet.Announcement) {
	if len(all) == 0 {
		fmt.Fprintln(w, "The fleet has no device: start an agent (ndtune agent --fleet URL).")
		return
	}
	t := fleetTable(all)
	t.Write(w, "")
}

// fleetTable is a table of the devices of a fleet: what each is doing, and for how long.
func fleetTable(all []fleet.Announcement) figure.Table {
	t := figure.Table{
		Name: "fleet", Title: figure.Count(len(all), "device") + " in the fleet",
		Head:   []string{"machine/device", "name", "driver", "doing", "for", "evaluated"},
		Number: []bool{false, false, false, false, true, true},
		Rows:   [][]string{},
	}
	for _, a := range all {
		doing, since := a.Doing()
		t.Rows = append(t.Rows, []string{
			a.Name(), strings.TrimSpace(a.Device.Name), a.Device.Driver, doing, roundElapsed(since).String(), fmt.Sprint(a.Evaluated),
		})
		for _, r := range a.Refused {
			t.Notes = append(t.Notes, fmt.Sprintf("%s refuses a search: %s", a.Name(), excerpt.FirstLine(r.Why)))
		}
	}
	return t
}

type agentOptions struct {
	fleet               fleetOptions
	device, name, allow string
	workers             int
}

func agentCommand(run runner[agentOptions]) *cli.Command {
	o := &agentOptions{}
	return &cli.Command{
		Name:  "agent",
		Usage: "evaluate configurations on this machine for the searches of a fleet",
		Description: `Announces the devices of this machine to a fleet, and evaluates configurations for its searches
until it is interrupted. Its unfinished work goes to other agents then. An agent runs kernels of
whoever may use the fleet (docs/fleet.md says what that means).

   ndtune agent --fleet nats://127.0.0.1:4222
   ndtune agent --fleet 'tls://fleet.example.org:4222?credentials=agent.seed' --device gpu`,
		Flags: []cli.Flag{
			o.fleet.flag("work for the fleet"),
			textFlag(&o.device, "device d", categoryEvaluation,
				"`DEVICE` to offer: index, platform:device, cpu, gpu, or a part of its name; several with commas (default: all)"),
			numberFlag(&o.workers, "workers", categoryEvaluation,
				"at most `N` processes that build, for each device (default: as many as are worth their start)"),
			textFlag(&o.name, "name", categoryFleet,
				"`NAME` of this machine in the fleet (default: its host name); devices of one machine are measured one after "+
					"the other by ndtune compare"),
			newAllowFlag(&o.allow, "let searches do `WHAT`, which are refused otherwise: commands, run those that specifications name "+
				"(verify.command, kernel.command); settings, change those of these devices while they measure: "+
				"locked clocks, the power limit (docs/observers.md); both with a comma"),
			verboseFlag("show the output of workers and drivers"),
		},
		Action: action(o, run),
	}
}

func (o *agentOptions) read(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	return checkPositive(c, "workers")
}

func runAgent(ctx context.Context, t *console, o *agentOptions) error {
	all, err := device.List()
	if err != nil {
		return err
	}
	if o.device != "" {
		if all, err = device.SelectEach(all, o.device); err != nil {
			return err
		}
	}
	f, err := o.fleet.connect(ctx, t, "agent")
	if err != nil {
		return err
	}
	defer f.Close()
	a := &fleet.Agent{
		Machine: o.name, Tool: "ndtune " + versionText(), Note: t.note,
		AllowCommands: allows(o.allow, allowCommands), AllowSettings: allows(o.allow, allowSettings),
	}
	for _, l := range all {
		reserve := worker.NewReserve(t.diagnostics()) // warm processes for the next search
		open := func(ctx context.Context, p *problem.Problem, of worker.Options) (fleet.Opened, error) {
			of.Workers, of.Reserve, of.Note = o.workers, reserve, t.note
			return session.OpenControlled(ctx, l, p, of)
		}
		a.Devices = append(a.Devices, fleet.Device{Selector: l.Selector(), Identity: session.Describe(l, t.note), Open: open, Close: reserve.Close})
		t.say("offered: %s, %s", l.Selector(), strings.TrimSpace(l.Name))
	}
	if err := a.Run(ctx, f); err != nil {
		return err
	}
	return ctx.Err()
}
