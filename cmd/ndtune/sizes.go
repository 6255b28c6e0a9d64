package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/compare"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/spec"
)

// sizePatience is the patience of the search at a size that begins with the bests of others.
const sizePatience = 50

// A place is the specification and the devices of a target.
type place struct {
	spec    *spec.Spec
	devices []device.Listed // several of one model share a search
	label   string          // of the device
}

// A sizedSpec is a specification at one of its sizes.
type sizedSpec struct {
	*spec.Spec
	size problem.Size // nil: there is one
}

// tuneSizes tunes a specification at its sizes, and compares these.
func tuneSizes(c *cli.Context, s *spec.Spec) error {
	if c.IsSet("serve") {
		return wrong("--serve shows one search, and this command has %d sizes; give one with --set", len(s.Sizes))
	}
	k := newComparing(c)
	k.oneLog, k.spec, k.path = true, s, s.Path
	return k.run(k.checkOutputs, func() (err error) { k.options, err = specOptions(c); return err }, k.checkArguments, k.openOne)
}

// openOne opens the device that all sizes are tuned on, or several of one model.
func (k *comparing) openOne() error {
	devices, err := selectDevices(k.cli)
	if err != nil {
		return err
	}
	identity, err := device.Describe(devices[0].Device)
	if err != nil {
		identity = hardware.Device{Name: devices[0].Name, Type: devices[0].Type}
	}
	k.addTargets(devices, identity, identity.Name)
	return k.nameLogs()
}

// loadSizes loads the specification at each of its sizes, and checks their search spaces.
func (k *comparing) loadSizes() error {
	if len(k.spec.Sizes) == 0 {
		k.sizes = []sizedSpec{{Spec: k.spec}}
		return k.spec.CheckSpace(k.cli.Context)
	}
	for _, size := range k.spec.Sizes {
		s, err := spec.Load(k.path, k.options.At(size))
		if err == nil {
			err = s.CheckSpace(k.cli.Context)
		}
		if err != nil {
			return fmt.Errorf("at %s: %w", size, err)
		}
		k.sizes = append(k.sizes, sizedSpec{s, size})
	}
	return nil
}

// addTargets adds a target on devices for each size.
func (k *comparing) addTargets(devices []device.Listed, identity hardware.Device, label string) {
	for _, s := range k.sizes {
		k.places = append(k.places, place{s.Spec, devices, label})
		t := &compare.Target{
			Identity: identity, Label: label, Listing: devices[0].Selector(),
			Size: s.size, Problem: s.Problem, Header: problemHeader(s.Problem, k.path),
		}
		if s.size != nil {
			t.Header.Size = s.size.String()
			t.Label += ", " + t.Header.Size
		}
		k.session.Add(t)
	}
}
