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

// fleetFlag names a fleet.
func fleetFlag(usage string) cli.Flag {
	return &cli.StringFlag{
		Name: "fleet", Category: categoryFleet, EnvVars: []string{"NDTUNE_FLEET"},
		Usage: usage + " at `URL`, nats://HOST:PORT or tls://HOST:PORT, which may name files, " +
			"as in 'tls://HOST:PORT?authority=FILE&credentials=FILE' (docs/fleet.md); '' is no fleet",
	}
}

// searchFleetFlags are the fleet flags of a command that searches. Begin says when it begins.
func searchFleetFlags(usage, begin string) []cli.Flag {
	return []cli.Flag{
		fleetFlag(usage),
		&cli.StringFlag{
			Name: "listen", Category: categoryFleet,
			Usage: "run the server of a fleet at `HOST:PORT` for this command, with an agent for the devices of this machine " +
				"(--device none: without one), and print the command for agents on other machines",
		},
		&cli.IntFlag{
			Name: "agents", Category: categoryFleet, DefaultText: begin,
			Usage: "begin when the fleet has `N` agents, that of --listen included",
		},
	}
}

func fleetCommand() *cli.Command {
	return &cli.Command{
		Name:  "fleet",
		Usage: "run the server of a fleet of machines, or show its devices",
		Description: `A fleet is a NATS server with JetStream, an agent on each machine, and the searches that use
their devices (docs/fleet.md). On one machine:

   ndtune fleet serve
   ndtune agent --fleet nats://127.0.0.1:4222
   ndtune fleet show --fleet nats://127.0.0.1:4222
   ndtune tune kernel.yaml --fleet nats://127.0.0.1:4222 --device gpu`,
		Subcommands: []*cli.Command{{
			Name:  "serve",
			Usage: "run a server for searches and agents",
			Description: `Runs a NATS server with JetStream until it is interrupted, and prints its address for searches, and
the command for agents. On an address beyond this machine, connections are encrypted and need the
passwords that the printed addresses hold (docs/fleet.md).

   ndtune fleet serve
   ndtune fleet serve --listen 0.0.0.0:4222 --store /var/lib/ndtune`,
			Flags: []cli.Flag{
				&cli.StringFlag{
					Name: "listen", Value: "127.0.0.1:4222",
					Usage: "`HOST:PORT` of this machine; 0.0.0.0 is all its addresses, and port 0 any free one",
				},
				&cli.StringFlag{
					Name: "store", TakesFile: true,
					Usage: "`FOLDER` that keeps queues, results and passwords (default: a temporary one)",
				},
			},
			Action: serveFleet,
		}, {
			Name:  "show",
			Usage: "list the devices of a fleet and what they are doing",
			Description: `   ndtune fleet show --fleet nats://127.0.0.1:4222
   ndtune fleet show --fleet nats://127.0.0.1:4222 --json`,
			Flags:  []cli.Flag{fleetFlag("the fleet"), &cli.BoolFlag{Name: "json", Usage: "print JSON"}},
			Action: showFleet,
		}},
	}
}

func agentCommand() *cli.Command {
	return &cli.Command{
		Name:  "agent",
		Usage: "evaluate configurations on this machine for the searches of a fleet",
		Description: `Announces the devices of this machine to a fleet, and evaluates configurations for its searches
until it is interrupted. Its unfinished work goes to other agents then. An agent runs kernels of
whoever may use the fleet (docs/fleet.md says what that means).

   ndtune agent --fleet nats://127.0.0.1:4222
   ndtune agent --fleet 'tls://fleet.example.org:4222?credentials=agent.seed' --device gpu`,
		Flags: []cli.Flag{
			fleetFlag("work for the fleet"),
			&cli.StringFlag{
				Name: "device", Aliases: []string{"d"}, Category: categoryEvaluation,
				Usage: "`DEVICE` to offer: index, platform:device, cpu, gpu, or a part of its name; several with commas (default: all)",
			},
			&cli.IntFlag{
				Name: "workers", Category: categoryEvaluation, DefaultText: "as many as cores and the device's memory allow",
				Usage: "build in up to `N` processes for each device, as far as they are worth their start; for a CPU, these also " +
					"measure, one at a time",
			},
			&cli.StringFlag{
				Name: "name", Category: categoryFleet,
				Usage: "`NAME` of this machine in the fleet (default: its host name); devices of one machine are measured one after " +
					"the other by ndtune compare",
			},
			newAllowFlag(nil, "let searches do `WHAT`, which are refused otherwise: commands, run those that specifications name "+
				"(verify.command, kernel.command); settings, change those of these devices while they measure: "+
				"locked clocks, the power limit (docs/observers.md); both with a comma"),
			verboseFlag("show the output of workers and drivers"),
		},
		Action: runAgent,
	}
}

func serveFleet(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	s, err := fleet.Listen(c.String("listen"), c.String("store"))
	if err != nil {
		return wrong("--listen: %w", err)
	}
	defer s.Close()
	fmt.Fprintf(c.App.Writer, "%s\n", s.URL())
	fmt.Fprintln(c.App.ErrWriter, invitation(s))
	if err := s.Wait(c.Context); err != nil {
		return err
	}
	return c.Context.Err()
}

// invitation says how agents join the fleet of a server.
func invitation(s *fleet.Server) string {
	url := s.AgentURL()
	if s.Secured() {
		return "The fleet is ready. Keep its addresses secret. For the devices of another machine, run there:\n" +
			"  NDTUNE_FLEET='" + url + "' ndtune agent"
	}
	port := url[strings.LastIndex(url, ":")+1:]
	return fmt.Sprintf("The fleet is ready. For other devices of this machine: ndtune agent --fleet %s\n"+
		"For the devices of another machine, OTHER, run here:\n"+
		"  ssh -t -R %s:127.0.0.1:%s OTHER ndtune agent --fleet nats://127.0.0.1:%s", url, port, port, port)
}

// connectFleet connects to the fleet that the flags name.
func connectFleet(c *cli.Context, role string) (*fleet.Connection, error) {
	if c.String("fleet") == "" {
		return nil, wrong("name the fleet with --fleet URL")
	}
	f, err := fleet.Connect(c.Context, c.String("fleet"), "ndtune "+role, func(text string) { fmt.Fprintln(c.App.ErrWriter, text) })
	if err != nil {
		return nil, wrong("--fleet: %w", err)
	}
	return f, nil
}

func runAgent(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if err := checkPositive(c, "workers"); err != nil {
		return err
	}
	all, err := device.List()
	if err != nil {
		return err
	}
	if c.IsSet("device") {
		if all, err = device.SelectEach(all, c.String("device")); err != nil {
			return err
		}
	}
	f, err := connectFleet(c, "agent")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := newAgent(c, all).Run(c.Context, f); err != nil {
		return err
	}
	return c.Context.Err()
}

// newAgent returns an agent for devices of this machine.
func newAgent(c *cli.Context, devices []device.Listed) *fleet.Agent {
	note := func(text string) { fmt.Fprintln(c.App.ErrWriter, text) }
	a := &fleet.Agent{
		Machine: c.String("name"), Tool: "ndtune " + versionText(),
		AllowCommands: allows(c.String("allow"), allowCommands), AllowSettings: allows(c.String("allow"), allowSettings), Note: note,
	}
	for _, l := range devices {
		reserve := worker.NewReserve(consoleOf(c).diagnostics()) // warm processes for the next search
		open := func(ctx context.Context, p *problem.Problem, s fleet.Settings) (fleet.Opened, error) {
			return session.OpenControlled(ctx, l, p, worker.Options{
				Workers: c.Int("workers"), Peaks: s.Peaks, Iterations: s.Iterations, EarlyStop: s.EarlyStop,
				BuildTimeout: s.BuildTimeout, KernelTimeout: s.KernelTimeout, Reserve: reserve, Note: note,
			})
		}
		a.Devices = append(a.Devices, fleet.Device{Selector: l.Selector(), Identity: session.Describe(l, note), Open: open, Close: reserve.Close})
		consoleOf(c).say("offered: %s, %s", l.Selector(), strings.TrimSpace(l.Name))
	}
	return a
}

func showFleet(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	f, err := connectFleet(c, "show")
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := f.Devices(c.Context)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return consoleOf(c).json(all)
	}
	printFleet(c.App.Writer, all)
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
