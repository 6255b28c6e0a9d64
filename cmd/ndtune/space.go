package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

func spaceCommand() *cli.Command {
	flags := append(specFlags(),
		&cli.BoolFlag{Name: "count", Usage: "print the number of configurations only"},
		&cli.IntFlag{Name: "limit", DefaultText: "a sample of 10", Usage: "list the first `N` configurations; 0: none, -1: all"},
		&cli.StringFlag{Name: "device", Aliases: []string{"d"}, Usage: "apply what the restrictions say of this `DEVICE`, and its limits (default: no device)"},
	)
	return &cli.Command{
		Name:      "space",
		Usage:     "show a specification's search space, without a device",
		ArgsUsage: "SPEC",
		Description: `Shows how many configurations satisfy the restrictions, which values of each parameter
survive, and a sample of configurations, which are not listed for it, however many they are.

   ndtune space kernel.yaml
   ndtune space kernel.yaml --count
   ndtune space kernel.yaml --device gpu --limit -1`,
		Flags:  flags,
		Action: showSpace,
	}
}

func showSpace(c *cli.Context) error {
	if limit := c.Int("limit"); limit < -1 {
		return wrong("--limit %d: want a number of configurations, 0 for none, or -1 for all", limit)
	}
	s, err := loadSearchSpace(c)
	if err != nil {
		return err
	}
	began := time.Now()
	configurations, skipped, identity, err := buildSpace(c, s)
	if err != nil {
		return err
	}
	took := time.Since(began)
	if len(skipped) > 0 {
		var texts []string
		for _, r := range skipped {
			texts = append(texts, excerpt.Of(r.String()))
		}
		fmt.Fprintf(c.App.ErrWriter, "Not applied, for they depend on the device (name one with --device): %s\n", strings.Join(texts, "; "))
	}
	w := c.App.Writer
	if c.Bool("count") {
		fmt.Fprintln(w, configurations.Size())
		return nil
	}
	fmt.Fprintf(w, "configurations: %s of %s combinations, built in %s\n", configurations.Size(), configurations.CartesianSize(), took.Round(10*time.Microsecond))
	if identity != nil {
		fmt.Fprintf(w, "within the limits of %s: %s\n", identity.Name, withinLimits(s.Problem, configurations, *identity))
	}
	for i := range configurations.Parameters().Len() {
		q := configurations.Parameters().At(i)
		survivors := configurations.Survivors(i)
		line := fmt.Sprintf("%s: %s", q.Name, formatValues(survivors))
		if n := len(q.Values) - len(survivors); n > 0 {
			line += fmt.Sprintf(" (%s in no valid configuration)", countNoun(n, "value"))
		}
		fmt.Fprintln(w, line)
	}
	return listSpace(c, configurations)
}

// loadSearchSpace reads the search space of the specification that the command line names;
// with a device the whole of it, for the device's limits concern the kernel.
func loadSearchSpace(c *cli.Context) (*spec.SearchSpace, error) {
	if c.String("device") != "" {
		s, err := loadFrom(c, spec.Load)
		if err != nil {
			return nil, err
		}
		return s.SearchSpace(), nil
	}
	return loadFrom(c, spec.LoadSpace)
}

// buildSpace enumerates with or without a device.
func buildSpace(c *cli.Context, searched *spec.SearchSpace) (*space.Space, []space.Restriction, *hardware.Device, error) {
	if c.String("device") == "" {
		s, skipped, err := searched.Space(c.Context, nil)
		return s, skipped, nil, err
	}
	listed, err := selectDevice(c)
	if err != nil {
		return nil, nil, nil, err
	}
	identity, err := device.Describe(listed.Device)
	if err != nil {
		return nil, nil, nil, err
	}
	if identity.Peaks, err = record.KnownPeaks(identity, peak.Method); err != nil {
		fmt.Fprintf(c.App.ErrWriter, "%v\n", err)
	}
	s, _, err := searched.Space(c.Context, &identity)
	return s, nil, &identity, err
}

// Of a space with more configurations than countedMost, the share within a device's limits is
// judged by a sample.
const (
	countedMost = 200_000
	countedOf   = 20_000
)

// withinLimits counts the configurations that the device does not refuse unbuilt.
func withinLimits(p *problem.Problem, s *space.Space, d hardware.Device) string {
	within := func(i int) bool {
		v, err := p.Variant(s.At(i), d)
		return err == nil && v.Refusal(d) == ""
	}
	n := 0
	if s.Len() <= countedMost {
		for i := range s.Len() {
			if within(i) {
				n++
			}
		}
		return fmt.Sprint(n)
	}
	for _, i := range s.Sample(countedOf, rand.New(rand.NewPCG(sampleSeed, 0))) {
		if within(i) {
			n++
		}
	}
	return fmt.Sprintf("about %.3g %% (of a sample of %d)", 100*float64(n)/countedOf, countedOf)
}

const (
	sampleSize = 10
	sampleSeed = 1
)

// listSpace lists the first configurations, or a sample in the order of the space. A vast
// space takes for ever to list: it ends when it is interrupted, or when nobody takes the lines.
func listSpace(c *cli.Context, s *space.Space) error {
	limit := c.Int("limit")
	if !c.IsSet("limit") && s.Len() > sampleSize {
		fmt.Fprintf(c.App.Writer, "a sample of %d (--limit N lists the first N, --limit -1 all):\n", sampleSize)
		sample := s.Sample(sampleSize, rand.New(rand.NewPCG(sampleSeed, 0)))
		for _, i := range slices.Sorted(slices.Values(sample)) {
			fmt.Fprintln(c.App.Writer, s.At(i))
		}
		return nil
	}
	if limit < 0 || limit > s.Len() || !c.IsSet("limit") {
		limit = s.Len()
	}
	for i := range limit {
		if c.Context.Err() != nil {
			return errInterrupted
		}
		if _, err := fmt.Fprintln(c.App.Writer, s.At(i)); err != nil {
			return fmt.Errorf("print the configurations: %w", err)
		}
	}
	if rest := s.Len() - limit; limit > 0 && rest > 0 {
		fmt.Fprintf(c.App.Writer, "… and %d more (--limit -1 lists all)\n", rest)
	}
	return nil
}

// formatValues lists the values of a parameter, the middle of a long list left out.
func formatValues(values []space.Value) string {
	const most = 16
	var texts []string
	for i, v := range values {
		if len(values) > most && i == most-2 {
			texts = append(texts, "…", space.FormatValue(values[len(values)-1]))
			break
		}
		texts = append(texts, space.FormatValue(v))
	}
	return strings.Join(texts, ", ")
}
