package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A searchFleet is the fleet on whose devices a command searches.
type searchFleet struct {
	*fleet.Connection
	kinds  []fleetKind
	agents int
	ends   []func() // in the order of their calls
}

// atHome is the way out of the fleet that NDTUNE_FLEET names.
const atHome = "--fleet '' searches on this machine, whatever NDTUNE_FLEET says"

// noDevice is the value of --device with which the agent of --listen does not offer the devices of this machine.
const noDevice = "none"

// A fleetKind is a kind of devices in a fleet. They share a search.
type fleetKind struct {
	identity hardware.Device // of the first one
	devices  []fleet.Announcement
}

// joinFleet joins the fleet that the flags name, or begins that of --listen; nil if they name none. Choose selects among
// its devices. With --listen or --agents, joinFleet waits until it succeeds and the fleet has as many agents as --agents
// says, or the default here. The caller closes the fleet.
func joinFleet(c *cli.Context, agents int, choose func(*searchFleet) error) (*searchFleet, error) {
	listen := c.String("listen") != ""
	if c.IsSet("agents") {
		agents = c.Int("agents")
	}
	switch {
	case !listen && (allows(c.String("allow"), allowCommands) || c.String("device") == noDevice):
		return nil, wrong("--allow %s and --device %s are about the agent of --listen", allowCommands, noDevice)
	case !listen && c.String("fleet") == "":
		return nil, nil
	}
	if c.IsSet("workers") && (!listen || c.Int("workers") == 0) {
		return nil, wrong("--workers %d is about this machine, and --fleet or NDTUNE_FLEET about others: leave out one of them, "+
			"or add --fleet ''", c.Int("workers"))
	}
	f := &searchFleet{}
	if err := f.join(c, agents, choose); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *searchFleet) join(c *cli.Context, agents int, choose func(*searchFleet) error) (err error) {
	if c.String("listen") != "" {
		if err := f.begin(c); err != nil {
			return err
		}
		return f.await(c, agents, choose)
	}
	if f.Connection, err = connectFleet(c, "search"); err != nil {
		return wrong("%w; %s", err, atHome)
	}
	if c.IsSet("agents") {
		return f.await(c, agents, choose)
	}
	if err := f.look(c); err != nil {
		return err
	}
	if len(f.kinds) == 0 {
		return wrong("the fleet has no device: start an agent there (ndtune agent --fleet URL); %s", atHome)
	}
	return choose(f)
}

// begin runs a server and an agent for the devices of this machine.
func (f *searchFleet) begin(c *cli.Context) error {
	server, err := fleet.Listen(c.String("listen"), "")
	if err != nil {
		return wrong("--listen: %w", err)
	}
	f.ends = append(f.ends, server.Close)
	if f.Connection, err = fleet.Connect(c.Context, server.URL(), "ndtune search", nil); err != nil {
		return err
	}
	fmt.Fprintln(c.App.ErrWriter, invitation(server))
	if c.String("device") == noDevice {
		return nil
	}
	all, err := device.List()
	if err != nil {
		consoleOf(c).say("This machine has no device for the fleet: %v.", err)
		return nil
	}
	connection, err := fleet.Connect(c.Context, server.AgentURL(), "ndtune agent", nil)
	if err != nil {
		return err
	}
	// It goes on until the search has ended.
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.Context))
	a, ended := newAgent(c, all), make(chan struct{})
	go func() {
		defer close(ended)
		if err := a.Run(ctx, connection); err != nil {
			fmt.Fprintf(c.App.ErrWriter, "The agent of this machine ended: %v\n", err)
		}
	}()
	f.ends = slices.Insert(f.ends, 0, func() {
		cancel()
		<-ended
		connection.Close()
	})
	return nil
}

// look finds the devices that are in the fleet now.
func (f *searchFleet) look(c *cli.Context) error {
	all, err := f.Devices(c.Context)
	if err != nil {
		return err
	}
	f.kinds = kindsOf(all)
	processes := map[string]bool{}
	for _, a := range all {
		processes[fmt.Sprintf("%s %d", a.Machine, a.Process)] = true
	}
	f.agents = len(processes)
	return nil
}

// await waits until the fleet has agents enough, and choose accepts its devices.
func (f *searchFleet) await(c *cli.Context, agents int, choose func(*searchFleet) error) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	said := ""
	for {
		before := f.kinds
		if err := f.look(c); err != nil {
			return err
		}
		why := ""
		if f.agents < agents {
			why = fmt.Sprintf("Waiting for %s; the fleet has %d.", figure.Count(agents, "agent"), f.agents)
		} else if err := choose(f); isUsage(err) {
			return err
		} else if err != nil {
			why = fmt.Sprintf("Waiting for an agent: %v", err)
		} else if sameDevices(before, f.kinds) { // an agent announces its devices one after the other
			return nil
		}
		if why != "" && why != said {
			consoleOf(c).say("%s", why)
			said = why
		}
		select {
		case <-c.Context.Done():
			return c.Context.Err()
		case <-tick.C:
		}
	}
}

func sameDevices(a, b []fleetKind) bool {
	return slices.EqualFunc(a, b, func(x, y fleetKind) bool { return len(x.devices) == len(y.devices) })
}

// close leaves the fleet, and ends the agent and the server of --listen. A nil fleet has nothing to leave.
func (f *searchFleet) close() {
	if f == nil {
		return
	}
	if f.Connection != nil {
		f.Connection.Close()
	}
	for _, end := range f.ends {
		end()
	}
}

// kindsOf returns the kinds of devices, in the order of their first device.
func kindsOf(all []fleet.Announcement) []fleetKind {
	var kinds []fleetKind
	for _, a := range all {
		a.Device.Timer = ""
		i := slices.IndexFunc(kinds, func(k fleetKind) bool { return hardware.SameModel(k.identity, a.Device) == nil })
		if i < 0 {
			i = len(kinds)
			kinds = append(kinds, fleetKind{identity: a.Device})
		}
		kinds[i].devices = append(kinds[i].devices, a)
		kinds[i].identity.Peaks = cmp.Or(kinds[i].identity.Peaks, a.Device.Peaks)
	}
	return kinds
}

// listed returns the kinds in the form of a machine's devices, for selectors: the index is that of the kind.
func (f *searchFleet) listed() []device.Listed {
	var all []device.Listed
	for i, k := range f.kinds {
		all = append(all, device.Listed{Index: i, Platform: i, Name: k.identity.Name, Type: k.identity.Type, Identity: &k.identity})
	}
	return all
}

// place returns the place of the targets on the devices of a kind.
func (k *fleetKind) place(l device.Listed, label string) place {
	at := place{devices: []device.Listed{l}, label: label}
	var names []string
	for _, a := range k.devices {
		names = append(names, a.Name())
		at.machines = append(at.machines, a.Machine)
	}
	at.listing = fmt.Sprintf("kind %d: %s", l.Index, strings.Join(names, ", "))
	return at
}
