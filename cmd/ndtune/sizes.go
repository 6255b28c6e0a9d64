package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/task"
)

// A place is the specification and the devices of a target.
type place struct {
	spec     *spec.Spec
	devices  []device.Listed // several of one model share a search
	label    string          // of the device
	listing  string          // of the target
	machines []string        // in a fleet
}

// A sizedSpec is a specification at one of its sizes.
type sizedSpec struct {
	*spec.Spec
	size task.Size // nil: there is one
}

// tuneSizes tunes a specification at its sizes, and compares these.
func tuneSizes(c *cli.Context, s *spec.Spec) error {
	if c.IsSet("serve") {
		return tooManyToServe(len(s.Sizes))
	}
	k := newComparing(c)
	k.oneDevice, k.spec, k.path = true, s, s.Path
	return k.run(k.checkOutputs, func() (err error) { k.options, err = specOptions(c); return err }, k.checkArguments, k.openOne)
}

func tooManyToServe(sizes int) error {
	return wrong("--serve shows one search, and this command has %d sizes; give one with --set", sizes)
}

// openOne opens the device that all sizes are tuned on, or several of one model.
func (k *comparing) openOne() (err error) {
	if k.fleet, err = k.job.chooseDevices(); err != nil {
		return err
	}
	devices := k.job.place.Devices
	identity := *devices[0].Identity
	at := place{devices: devices, label: identity.Name, listing: devices[0].Selector()}
	if k.fleet != nil {
		at = k.fleet.kinds[devices[0].Index].place(devices[0], identity.Name)
	}
	k.addTargets(at, identity)
	return k.nameLogs()
}

// loadSizes loads the specification at each of its sizes, and checks their search spaces.
func (k *comparing) loadSizes() (err error) {
	if k.sizes, err = sizedSpecs(k.spec, k.options); err != nil {
		return err
	}
	for _, s := range k.sizes {
		if err := s.check(k.cli.Context); err != nil {
			return err
		}
	}
	return nil
}

// sizedSpecs loads a specification at each of its sizes.
func sizedSpecs(s *spec.Spec, o spec.Options) ([]sizedSpec, error) {
	if len(s.Sizes) == 0 {
		return []sizedSpec{{Spec: s}}, nil
	}
	var all []sizedSpec
	for _, size := range s.Sizes {
		at, err := spec.Load(s.Path, o.At(size))
		if err != nil {
			return nil, fmt.Errorf("at %s: %w", size, err)
		}
		all = append(all, sizedSpec{at, size})
	}
	return all, nil
}

// check checks the search space.
func (s sizedSpec) check(ctx context.Context) error {
	err := s.CheckSpace(ctx)
	if err != nil && s.size != nil {
		return fmt.Errorf("at %s: %w", s.size, err)
	}
	return err
}

// addTargets adds a target at a place for each size.
func (k *comparing) addTargets(at place, identity hardware.Device) {
	for _, s := range k.sizes {
		at.spec = s.Spec
		k.places = append(k.places, at)
		t := &compare.Target{
			Identity: identity, Label: at.label, Listing: at.listing, Machines: at.machines,
			Size: s.size, Problem: s.Problem, Header: record.NewHeader(s.Problem, k.path),
		}
		if s.size != nil {
			t.Header.Size = s.size.String()
			t.Label += ", " + t.Header.Size
		}
		k.session.Add(t)
	}
}
