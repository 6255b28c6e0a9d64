package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
)

// A Source is a record of one device.
type Source struct {
	Name   string // of the record, usually a file name
	Record *record.Record

	// Listing is the selector (device.Listed.Selector) of the device on this machine. Sources with
	// different listings are of different devices. If it is empty, the identity in the record
	// decides.
	Listing string

	// Trouble is the reason why the record has no results, if known.
	Trouble string
}

// isSearch reports whether the record is that of a search. The results of a record made by [Cross] count for the comparison
// of configurations, not for the figures of a device's search.
func (s *Source) isSearch() bool { return s.Record.Header.Strategy != record.StrategyCompare }

// ErrDifferentProblems is the error for records of different problems.
var ErrDifferentProblems = errors.New("of different problems")

// sameProblem returns an error, which names both, if two records are of different problems. Sizes of one
// problem differ in their digests and problem sizes. It also returns the doubts that remain.
func sameProblem(sources []Source) (doubts []string, err error) {
	first := &sources[0]
	for i := range sources[1:] {
		s := &sources[i+1]
		a, b := &first.Record.Header, s.Record.Header
		j := slices.IndexFunc(sources, func(o Source) bool {
			return o.Record.Header.Size == b.Size && o.Record.Header.Digest != ""
		})
		if j >= 0 && b.Size != a.Size && a.Size != "" && b.Size != "" {
			if err := sources[j].Record.Header.SameProblem(b); err != nil {
				return nil, fmt.Errorf("%s and %s are %w: %w", sources[j].Name, s.Name, ErrDifferentProblems, err)
			}
			b.Digest, b.ProblemSize = "", nil
		}
		if err := a.SameProblem(b); err != nil {
			return nil, fmt.Errorf("%s and %s are %w: %w", first.Name, s.Name, ErrDifferentProblems, err)
		}
		if a.Digest == "" {
			first = s // a record with more information judges the others
		}
	}
	for i := range sources {
		if s := &sources[i]; s.Record.Header.Digest == "" {
			doubts = append(doubts, s.Name+" does not hold the digest of its problem: "+
				"nothing but its parameters and its objective says that it is of the same one.")
		}
	}
	return doubts, nil
}

// described returns the identity of a source's device. If the record has no name for it, the name is
// that of the record.
func described(s *Source) hardware.Device {
	d := s.Record.Header.Device
	d.Name = cmp.Or(d.Name, s.Name)
	d.Extensions = nil // long, and of no interest here
	return d
}

// Labels returns a different name for each device, for people: the name of the device and, if
// several have the same name, a property in which they differ or else a number.
func Labels(devices []hardware.Device) []string {
	labels := make([]string, len(devices))
	groups := map[string][]int{}
	for i, d := range devices {
		if labels[i] = strings.Join(strings.Fields(d.Name), " "); labels[i] == "" {
			labels[i] = "unknown device"
		}
		groups[labels[i]] = append(groups[labels[i]], i)
	}
	for name, group := range groups {
		if len(group) == 1 {
			continue
		}
		mark := distinction(devices, group)
		for n, i := range group {
			labels[i] = fmt.Sprintf("%s (%s)", name, mark(n, devices[i]))
		}
	}
	return labels
}

// distinction returns a function for the text that tells devices of one name apart.
func distinction(devices []hardware.Device, group []int) func(int, hardware.Device) string {
	platform := func(d hardware.Device) string {
		switch p := strings.TrimSpace(d.Platform); {
		case d.IsCUDA():
			return "CUDA C"
		case p == "NVIDIA CUDA": // which is OpenCL
			return "NVIDIA OpenCL"
		default:
			return p
		}
	}
	for _, mark := range []func(hardware.Device) string{
		func(d hardware.Device) string { return d.PCI },
		platform,
		func(d hardware.Device) string { return d.PCI + prefixed(", ", platform(d)) },
		func(d hardware.Device) string { return prefixed("driver ", strings.TrimSpace(d.Driver)) },
		func(d hardware.Device) string { return prefixed("timer: ", d.Timer) },
		func(d hardware.Device) string { return d.UUID },
	} {
		seen := map[string]bool{"": true}
		distinct := true
		for _, i := range group {
			text := mark(devices[i])
			distinct = distinct && !seen[text]
			seen[text] = true
		}
		if distinct {
			return func(_ int, d hardware.Device) string { return mark(d) }
		}
	}
	return func(n int, _ hardware.Device) string { return fmt.Sprintf("number %d", n+1) }
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// letters returns the name of device i in tables: A, B, …, Z, AA, AB, ….
func letters(i int) string {
	text := ""
	for i++; i > 0; i = (i - 1) / 26 {
		text = string(rune('A'+(i-1)%26)) + text
	}
	return text
}
