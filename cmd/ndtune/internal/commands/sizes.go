package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/spec"
)

// A place is the specification and the devices of a target.
type place struct {
	spec    *spec.Spec
	devices []device.Listed // several of one model share a search
	label   string          // of the device
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
	if err := k.options.checkOutputs(); err != nil {
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
	k.addTargets(devices, devices[0].Identity.Name)
	return k.nameLogs()
}

// addTargets adds a target on devices of one model, or of a kind in the fleet, for each size.
func (k *comparing) addTargets(devices []device.Listed, label string) {
	on := devices[0]
	listing, machines := on.Selector(), []string(nil)
	if k.fleet != nil {
		var names []string
		for _, a := range k.fleet.Members[on.Index].Devices {
			names, machines = append(names, a.Name()), append(machines, a.Machine)
		}
		listing = fmt.Sprintf("kind %d: %s", on.Index, strings.Join(names, ", "))
	}
	for _, s := range k.sizes {
		k.places = append(k.places, place{s.Spec, devices, label})
		t := &compare.Target{
			Identity: *on.Identity, Label: label, Listing: listing, Machines: machines,
			Size: s.Size, Problem: s.Problem, Header: record.NewHeader(s.Problem, k.spec.Path),
		}
		if s.Size != nil {
			t.Header.Size = s.Size.String()
			t.Label += ", " + t.Header.Size
		}
		k.session.Add(t)
	}
}
