package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/worker"
)

const categoryFleet = "fleet"

// fleetFlags name a fleet and the way into it.
func fleetFlags(usage string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "fleet", Category: categoryFleet, EnvVars: []string{"NDTUNE_FLEET"}, Usage: usage + " at `URL`, nats://HOST:PORT or tls://HOST:PORT"},
		&cli.StringFlag{Name: "credentials", Category: categoryFleet, TakesFile: true, EnvVars: []string{"NDTUNE_FLEET_CREDENTIALS"}, Usage: "`FILE` of a NATS user, which another machine than this needs"},
		&cli.StringFlag{Name: "authority", Category: categoryFleet, TakesFile: true, EnvVars: []string{"NDTUNE_FLEET_AUTHORITY"}, Usage: "`FILE` with the certificate of the server's authority (default: those of the system)"},
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
			Usage: "run a server for the programs of this machine",
			Description: `Runs a NATS server with JetStream until it is interrupted. It listens on this machine alone;
for several machines, run a nats-server with TLS and credentials (docs/fleet.md).

   ndtune fleet serve
   ndtune fleet serve --listen 127.0.0.1:0 --store /var/lib/ndtune`,
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "listen", Value: "127.0.0.1:4222", Usage: "`HOST:PORT` of this machine; port 0 is any free one"},
				&cli.StringFlag{Name: "store", TakesFile: true, Usage: "`FOLDER` that keeps queues and results (default: a temporary one)"},
			},
			Action: serveFleet,
		}, {
			Name:  "show",
			Usage: "list the devices of a fleet and what they are doing",
			Description: `   ndtune fleet show --fleet nats://127.0.0.1:4222
   ndtune fleet show --fleet nats://127.0.0.1:4222 --json`,
			Flags:  append(fleetFlags("the fleet"), &cli.BoolFlag{Name: "json", Usage: "print JSON"}),
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
   ndtune agent --fleet tls://fleet.example.org:4222 --credentials agent.creds --device gpu`,
		Flags: append(fleetFlags("work for the fleet"),
			&cli.StringFlag{Name: "device", Aliases: []string{"d"}, Category: categoryEvaluation, Usage: "`DEVICE` to offer: index, platform:device, cpu, gpu, or a part of its name; several with commas (default: all)"},
			&cli.IntFlag{Name: "workers", Category: categoryEvaluation, DefaultText: "as many as cores and the device's memory allow", Usage: "build in `N` processes for each device; for a CPU, these also measure, one at a time"},
			&cli.BoolFlag{Name: "allow-commands", Category: categoryFleet, Usage: "run the commands that specifications name (verify.command, kernel.command); without it, such searches are refused"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: categoryOutput, Usage: "show the output of workers and drivers"},
		),
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
	fmt.Fprintf(c.App.ErrWriter, "The fleet is ready. On this machine: ndtune agent --fleet %s\n", s.URL())
	<-c.Context.Done()
	return c.Context.Err()
}

// connectFleet connects to the fleet that the flags name.
func connectFleet(c *cli.Context, role string) (*fleet.Connection, error) {
	if c.String("fleet") == "" {
		return nil, wrong("name the fleet with --fleet URL")
	}
	f, err := fleet.Connect(c.Context, c.String("fleet"), "ndtune "+role, fleet.Access{Credentials: c.String("credentials"), Authority: c.String("authority")})
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
	note := func(text string) { fmt.Fprintln(c.App.ErrWriter, text) }
	a := &fleet.Agent{Tool: "ndtune " + versionText(), AllowCommands: c.Bool("allow-commands"), Note: note}
	for _, l := range all {
		a.Devices = append(a.Devices, fleet.Device{Selector: l.Selector(), Identity: *l.Identity, Open: func(ctx context.Context, p *problem.Problem, s fleet.Settings) (fleet.Opened, error) {
			return worker.Open(ctx, []device.Listed{l}, p, worker.Options{
				Workers: c.Int("workers"), Peaks: s.Peaks, Iterations: s.Iterations, EarlyStop: s.EarlyStop,
				BuildTimeout: s.BuildTimeout, KernelTimeout: s.KernelTimeout, Output: verboseOutput(c), Note: note,
			})
		}})
		fmt.Fprintf(c.App.ErrWriter, "offered: %s, %s\n", l.Selector(), strings.TrimSpace(l.Name))
	}
	if err := a.Run(c.Context, f); err != nil {
		return err
	}
	return c.Context.Err()
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
		return printJSON(c.App.Writer, all)
	}
	printFleet(c.App.Writer, all)
	return nil
}

func printFleet(w io.Writer, all []fleet.Announcement) {
	if len(all) == 0 {
		fmt.Fprintln(w, "The fleet has no device: start an agent (ndtune agent --fleet URL).")
		return
	}
	rows := [][]string{{"machine/device", "name", "driver", "doing", "for", "evaluated"}}
	for _, a := range all {
		doing := "idle"
		if a.Search != "" {
			doing = a.Problem
		}
		rows = append(rows, []string{a.Name(), strings.TrimSpace(a.Device.Name), a.Device.Driver, doing, roundElapsed(a.Announced.Sub(a.Since)).String(), fmt.Sprint(a.Evaluated)})
	}
	figure.Columns(w, "", func(i int) bool { return i >= 4 }, rows...)
	for _, a := range all {
		for _, r := range a.Refused {
			fmt.Fprintf(w, "%s refuses a search: %s\n", a.Name(), firstLine(r.Why))
		}
	}
}

// fleetKinds lists the kinds of devices of a fleet, each once, for --device.
func fleetKinds(c *cli.Context, f *fleet.Connection) ([]device.Listed, error) {
	all, err := f.Devices(c.Context)
	if err != nil {
		return nil, err
	}
	var kinds []device.Listed
	for _, a := range all {
		a.Device.Timer = ""
		if !slices.ContainsFunc(kinds, func(l device.Listed) bool { return hardware.SameModel(*l.Identity, a.Device) == nil }) {
			kinds = append(kinds, device.Listed{Index: len(kinds), Platform: len(kinds), Name: a.Device.Name, Type: a.Device.Type, Identity: &a.Device})
		}
	}
	if len(kinds) == 0 {
		return nil, wrong("the fleet at %s has no device: start an agent there (ndtune agent --fleet URL)", c.String("fleet"))
	}
	return kinds, nil
}

// joinFleet connects to the fleet and selects the kind of devices that --device names.
func (t *tuning) joinFleet() (err error) {
	c := t.cli
	for _, name := range []string{"in-process", "workers"} {
		if c.IsSet(name) {
			return wrong("--%s is about this machine, and --fleet about others: leave out one of them", name)
		}
	}
	if t.fleet, err = connectFleet(c, "search"); err != nil {
		return err
	}
	kinds, err := fleetKinds(c, t.fleet)
	if err != nil {
		return err
	}
	kind, err := device.Select(kinds, c.String("device"))
	t.devices = []device.Listed{kind}
	return err
}

// openFleet begins the search on the devices of a fleet.
func (t *tuning) openFleet(early float64) error {
	c := t.cli
	e, err := fleet.Open(c.Context, t.fleet, t.spec.Problem, *t.devices[0].Identity, fleet.Options{
		Search: t.fleetSearch(), Note: func(text string) { fmt.Fprintln(c.App.ErrWriter, text) },
		Settings: fleet.Settings{
			Iterations: c.Int("iterations"), EarlyStop: early, Peaks: t.peaks,
			BuildTimeout: c.Duration("build-timeout"), KernelTimeout: c.Duration("kernel-timeout"),
		},
	})
	if err == nil {
		t.evaluator = e
	}
	return err
}

// fleetSearch returns the id of the search in the fleet. A search that goes on with a run log has the same id as the one
// that began it, so that results that were on their way are not lost.
func (t *tuning) fleetSearch() string {
	t.started = time.Now()
	if begun := record.Begun(t.logPath); begun != nil {
		t.started = begun.Started
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", t.spec.Problem.Digest(), t.size.String(), t.started.UTC().Format(time.RFC3339Nano)))
	return hex.EncodeToString(sum[:16])
}
