package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/spec"
)

// A place is the specification and the devices of a target.
type place struct {
	spec     *spec.Spec
	devices  []device.Listed // several of one model share a search
	label    string          // of the device
	listing  string          // of the target
	machines []string        // in a fleet
}

// tuneSizes tunes a specification at its sizes, and compares these.
func tuneSizes(ctx context.Context, t *ui.Console, o *tuneOptions, s *spec.Spec) error {
	switch {
	case o.check:
		return ui.Wrong("--check is for a search at one size: use ndtune check SPEC --set %s --record FILE", s.Sizes[0])
	case o.json || o.Spec.IsInput():
		return ui.Wrong("--json and a specification on standard input are for one search, and this command has %d sizes; give one with --set",
			len(s.Sizes))
	case o.Serve != "":
		return tooManyToServe(len(s.Sizes))
	}
	if err := job.CheckOneObjective(s.Problem.Objective(), "a search at several sizes", s.Path, "--set spec.objective=NAME"); err != nil {
		return err
	}
	k := newComparing(t, &compareOptions{Options: o.Options})
	k.oneDevice, k.spec = true, s
	if err := k.checkOutputs(); err != nil {
		return err
	}
	return k.run(ctx, k.checkSpec, k.openOne)
}

func tooManyToServe(sizes int) error {
	return ui.Wrong("--serve shows one search, and this command has %d sizes; give one with --set", sizes)
}

// openOne opens the device that all sizes are tuned on, or several of one model.
func (k *comparing) openOne(ctx context.Context) (err error) {
	if k.fleet, err = k.job.ChooseDevices(ctx); err != nil {
		return err
	}
	devices := k.job.Place.Devices
	identity := *devices[0].Identity
	at := place{devices: devices, label: identity.Name, listing: devices[0].Selector()}
	if k.fleet != nil {
		at = placeInFleet(k.fleet, devices[0], identity.Name)
	}
	k.addTargets(at, identity)
	return k.nameLogs()
}

// addTargets adds a target at a place for each size.
func (k *comparing) addTargets(at place, identity hardware.Device) {
	for _, s := range k.sizes {
		at.spec = s.Spec
		k.places = append(k.places, at)
		t := &compare.Target{
			Identity: identity, Label: at.label, Listing: at.listing, Machines: at.machines,
			Size: s.Size, Problem: s.Problem, Header: record.NewHeader(s.Problem, k.spec.Path),
		}
		if s.Size != nil {
			t.Header.Size = s.Size.String()
			t.Label += ", " + t.Header.Size
		}
		k.session.Add(t)
	}
}

// placeInFleet returns the place of the targets on the devices of a kind.
func placeInFleet(f *job.JoinedFleet, l device.Listed, label string) place {
	at := place{devices: []device.Listed{l}, label: label}
	var names []string
	for _, a := range f.Members[l.Index].Devices {
		names = append(names, a.Name())
		at.machines = append(at.machines, a.Machine)
	}
	at.listing = fmt.Sprintf("kind %d: %s", l.Index, strings.Join(names, ", "))
	return at
}
