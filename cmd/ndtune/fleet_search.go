package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
)

// A searchFleet is the fleet on whose devices a command searches.
type searchFleet struct {
	*fleet.Connection
	kinds []fleetKind
}

// A fleetKind is a kind of devices in a fleet. They share a search.
type fleetKind struct {
	identity hardware.Device // of the first one
	devices  []fleet.Announcement
}

// joinFleet connects to the fleet that the flags name; nil if they name none. The caller closes it.
func joinFleet(c *cli.Context) (*searchFleet, error) {
	if c.String("fleet") == "" {
		return nil, nil
	}
	for _, name := range []string{"in-process", "workers"} {
		if c.IsSet(name) {
			return nil, wrong("--%s is about this machine, and --fleet about others: leave out one of them", name)
		}
	}
	connection, err := connectFleet(c, "search")
	if err != nil {
		return nil, err
	}
	f := &searchFleet{Connection: connection}
	all, err := f.Devices(c.Context)
	if f.kinds = kindsOf(all); err == nil && len(all) == 0 {
		err = wrong("the fleet at %s has no device: start an agent there (ndtune agent --fleet URL)", c.String("fleet"))
	}
	if err != nil {
		f.close()
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
	at := place{devices: []device.Listed{l}, label: label, listing: joinTexts(", ", func(a fleet.Announcement) string { return a.Name() }, k.devices...)}
	for _, a := range k.devices {
		at.machines = append(at.machines, a.Machine)
	}
	return at
}

// chooseDevices selects the devices of one search: of this machine, or of a fleet, which the caller closes.
func (t *tuning) chooseDevices() (f *searchFleet, err error) {
	if f, err = joinFleet(t.cli); err != nil {
		return nil, err
	}
	if f == nil {
		t.devices, err = selectDevices(t.cli)
		return nil, err
	}
	kind, err := device.Select(f.listed(), t.cli.String("device"))
	if err != nil {
		f.close()
		return nil, err
	}
	t.fleet, t.devices = f.Connection, []device.Listed{kind}
	return f, nil
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
// that began it, so that results that were on their way are not lost. Searches of other kinds of devices, of other sizes,
// and the measurements of a comparison have other ids.
func (t *tuning) fleetSearch() string {
	begun := time.Now()
	if of := record.Begun(t.logPath); of != nil {
		begun = of.Started
	} else {
		t.started = begun
	}
	d := t.devices[0].Identity
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%t\n%q", t.spec.Problem.Digest(), t.size.String(), begun.UTC().Format(time.RFC3339Nano),
		t.strategy == compare.Strategy, []string{d.Platform, d.Vendor, d.Name, d.Driver, d.Version}))
	return hex.EncodeToString(sum[:16])
}
