package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/worker"
)

type showOptions struct {
	fleet job.Fleet
	json  bool
}

func fleetCommand(run flags.Runner[showOptions]) *cli.Command {
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
			Flags:  []cli.Flag{o.fleet.Flag("the fleet"), flags.JSON(&o.json)},
			Action: flags.Action(o, run),
		}},
	}
}

func (o *showOptions) Read(c *cli.Context) error { return flags.NoArguments(c) }

func showFleet(ctx context.Context, t *ui.Console, o *showOptions) error {
	f, err := o.fleet.Connect(ctx, t, "show")
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := f.Devices(ctx)
	if err != nil {
		return err
	}
	if o.json {
		return t.JSON(all)
	}
	printFleet(t.Out, all)
	return nil
}

func printFleet(w io.Writer, all []fleet.Announcement) {
	if len(all) == 0 {
		fmt.Fprintln(w, "The fleet has no device: start an agent (ndtune agent --fleet URL).")
		return
	}
	t := job.FleetTable(all)
	t.Write(w, "")
}

type agentOptions struct {
	fleet               job.Fleet
	device, name, allow string
	workers             int
}

func agentCommand(run flags.Runner[agentOptions]) *cli.Command {
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
			o.fleet.Flag("work for the fleet"),
			flags.Text(&o.device, "device d", flags.CategoryEvaluation,
				"`DEVICE` to offer: index, platform:device, cpu, gpu, or a part of its name; several with commas (default: all)"),
			flags.Number(&o.workers, "workers", flags.CategoryEvaluation,
				"at most `N` processes that build, for each device (default: as many as are worth their start)"),
			flags.Text(&o.name, "name", job.CategoryFleet,
				"`NAME` of this machine in the fleet (default: its host name); devices of one machine are measured one after "+
					"the other by ndtune compare"),
			job.AllowFlag(&o.allow, "let searches do `WHAT`, which are refused otherwise: commands, run those that specifications name "+
				"(verify.command, kernel.command); settings, change those of these devices while they measure: "+
				"locked clocks, the power limit (docs/observers.md); both with a comma"),
			flags.Verbose("show the output of workers and drivers"),
		},
		Action: flags.Action(o, run),
	}
}

func (o *agentOptions) Read(c *cli.Context) error { return flags.NoArguments(c) }

func runAgent(ctx context.Context, t *ui.Console, o *agentOptions) error {
	all, err := device.List()
	if err != nil {
		return err
	}
	if o.device != "" {
		if all, err = device.SelectEach(all, o.device); err != nil {
			return err
		}
	}
	f, err := o.fleet.Connect(ctx, t, "agent")
	if err != nil {
		return err
	}
	defer f.Close()
	a := &fleet.Agent{
		Machine: o.name, Tool: "ndtune " + ui.VersionText(), Note: t.Note,
		AllowCommands: job.Allows(o.allow, job.AllowCommands), AllowSettings: job.Allows(o.allow, job.AllowSettings),
	}
	for _, l := range all {
		reserve := worker.NewReserve(t.Diagnostics()) // warm processes for the next search
		open := func(ctx context.Context, p *problem.Problem, of worker.Options) (fleet.Opened, error) {
			of.Workers, of.Reserve, of.Note = o.workers, reserve, t.Note
			return session.OpenControlled(ctx, l, p, of)
		}
		a.Devices = append(a.Devices, fleet.Device{Selector: l.Selector(), Identity: session.Describe(l, t.Note), Open: open, Close: reserve.Close})
		t.Say("offered: %s, %s", l.Selector(), strings.TrimSpace(l.Name))
	}
	if err := a.Run(ctx, f); err != nil {
		return err
	}
	return ctx.Err()
}
