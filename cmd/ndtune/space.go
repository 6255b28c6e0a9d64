package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

func spaceCommand() *cli.Command {
	flags := append(specFlags(),
		&cli.BoolFlag{Name: "count", Usage: "print the number of configurations only"},
		&cli.BoolFlag{Name: "json", Usage: "print the configurations as JSON lines: the names of the parameters, then the values of each configuration"},
		&cli.IntFlag{Name: "limit", DefaultText: "a sample of 10", Usage: "list the first `N` configurations; 0: none, -1: all"},
		&cli.StringFlag{
			Name: "device", Aliases: []string{"d"},
			Usage: "apply restrictions that depend on the device, and the limits of this `DEVICE` (default: no device)",
		},
	)
	return &cli.Command{
		Name:      "space",
		Usage:     "show a specification's search space, without a device",
		ArgsUsage: "SPEC",
		Description: `Shows the number of configurations that satisfy the restrictions, the values of each parameter
that occur in them, and a sample. The configurations are not listed for that, so a space may
have any number of them.

   ndtune space kernel.yaml
   ndtune space kernel.yaml --count
   ndtune space kernel.yaml --device gpu --limit -1
   ndtune space kernel.yaml --json > allowed.jsonl     # for restrictions: [{file: allowed.jsonl}]`,
		Flags:  flags,
		Action: showSpace,
	}
}

func showSpace(c *cli.Context) error {
	if limit := c.Int("limit"); limit < -1 {
		return wrong("--limit %d: want a number of configurations, 0 for none, or -1 for all", limit)
	}
	searched, err := loadFrom(c, spec.Load)
	if err != nil {
		return err
	}
	var identity *hardware.Device // nil: none
	if c.String("device") != "" {
		listed, err := selectDevice(c)
		if err != nil {
			return err
		}
		d, err := session.Describe(listed, listener(c).Note)
		if err != nil {
			return err
		}
		identity = &d
	}
	began := time.Now()
	var configurations *space.Space
	var skipped []space.Restriction
	if identity == nil {
		configurations, skipped, err = searched.SpaceWithoutDevice(c.Context)
	} else {
		configurations, err = searched.Space(c.Context, *identity)
	}
	if err != nil {
		return err
	}
	took := time.Since(began)
	if len(skipped) > 0 {
		texts := joinTexts("; ", func(r space.Restriction) string { return excerpt.Of(r.String()) }, skipped...)
		fmt.Fprintf(c.App.ErrWriter, "Not applied, because they depend on the device (name one with --device): %s\n", texts)
	}
	w := c.App.Writer
	if c.Bool("count") {
		fmt.Fprintln(w, configurations.Size())
		return nil
	}
	if c.Bool("json") {
		return writeSpace(c, configurations)
	}
	fmt.Fprintf(w, "configurations: %s of %s combinations, built in %s\n",
		configurations.Size(), configurations.CartesianSize(), took.Round(10*time.Microsecond))
	if identity != nil {
		fmt.Fprintf(w, "within the limits of %s: %s\n", identity.Name, withinLimits(searched.Problem, configurations, *identity))
	}
	for i := range configurations.Parameters().Len() {
		q := configurations.Parameters().At(i)
		survivors := configurations.Survivors(i)
		line := fmt.Sprintf("%s: %s", q.Name, formatValues(survivors))
		if n := len(q.Values) - len(survivors); n > 0 {
			line += fmt.Sprintf(" (%s in no valid configuration)", figure.Count(n, "value"))
		}
		fmt.Fprintln(w, line)
	}
	return listSpace(c, configurations)
}

// Of a space with more configurations than countedMost, the share within a device's limits is
// estimated from a sample.
const (
	countedMost = 200_000
	countedOf   = 20_000
)

// withinLimits counts the configurations that the device does not refuse unbuilt.
func withinLimits(p *problem.Problem, s *space.Space, d hardware.Device) string {
	size := s.Len()
	if size > countedMost {
		size = countedOf
	}
	n := 0
	for _, i := range s.Sample(size, rand.New(rand.NewPCG(sampleSeed, 0))) {
		if v, err := p.Variant(s.At(i), d); err == nil && v.ExceededLimit(d) == "" {
			n++
		}
	}
	if s.Len() > countedMost {
		return fmt.Sprintf("about %.3g %% (of a sample of %d)", 100*float64(n)/countedOf, countedOf)
	}
	return fmt.Sprint(n)
}

const (
	sampleSize = 10
	sampleSeed = 1
)

// listSpace lists the first configurations, or a sample in the order of the space. A vast
// space takes for ever to list: it ends when it is interrupted, or when nobody takes the lines.
func listSpace(c *cli.Context, s *space.Space) error {
	if !c.IsSet("limit") && s.Len() > sampleSize {
		fmt.Fprintf(c.App.Writer, "a sample of %d (--limit N lists the first N, --limit -1 all):\n", sampleSize)
		sample := s.Sample(sampleSize, rand.New(rand.NewPCG(sampleSeed, 0)))
		for _, i := range slices.Sorted(slices.Values(sample)) {
			fmt.Fprintln(c.App.Writer, s.At(i))
		}
		return nil
	}
	limit := listed(c, s)
	for i := range limit {
		if c.Context.Err() != nil {
			return c.Context.Err()
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

// writeSpace writes the first configurations, or all, in the form of [space.ReadTable].
func writeSpace(c *cli.Context, s *space.Space) error {
	w := bufio.NewWriter(c.App.Writer)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	err := e.Encode(s.Parameters().Names())
	row := make([]json.RawMessage, s.Parameters().Len())
	for i := 0; i < listed(c, s) && err == nil; i++ {
		configuration := s.At(i)
		for k := range row {
			row[k], _ = space.MarshalValue(configuration.At(k)) // which cannot fail
		}
		err = cmp.Or(c.Context.Err(), e.Encode(row))
	}
	if err = cmp.Or(err, w.Flush()); err != nil && c.Context.Err() == nil {
		err = fmt.Errorf("print the configurations: %w", err)
	}
	return err
}

// listed is how many configurations --limit lists.
func listed(c *cli.Context, s *space.Space) int {
	if limit := c.Int("limit"); c.IsSet("limit") && limit >= 0 {
		return min(limit, s.Len())
	}
	return s.Len()
}

// formatValues lists the values of a parameter, without the middle of a long list.
func formatValues(values []space.Value) string {
	const most = 16
	if len(values) <= most {
		return joinTexts(", ", space.FormatValue, values...)
	}
	return joinTexts(", ", space.FormatValue, values[:most-2]...) + ", …, " + space.FormatValue(values[len(values)-1])
}
