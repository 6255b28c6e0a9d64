package commands

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/space"
)

type spaceOptions struct {
	spec        job.Spec
	count, json bool
	limit       int    // -1: no limit
	limited     bool   // the limit is given
	device      string // "": none
}

func spaceCommand(run flags.Runner[spaceOptions]) *cli.Command {
	o := &spaceOptions{spec: job.Spec{TakesInput: true}}
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
		Flags: append(o.spec.Flags(),
			flags.Switch(&o.count, "count", "", "print the number of configurations only"),
			flags.Switch(&o.json, "json", "",
				"print the configurations as JSON lines: the names of the parameters, then the values of each configuration"),
			flags.Integer(&o.limit, "limit", "", "list the first `N` configurations; 0: none, -1: all (default: a sample of 10)"),
			flags.Text(&o.device, "device d", "", "apply restrictions that depend on the device, and the limits of this `DEVICE` (default: no device)"),
		),
		Action: flags.Action(o, run),
	}
}

func (o *spaceOptions) Read(c *cli.Context) error {
	if o.limited = c.IsSet("limit"); o.limit < -1 {
		return ui.Wrong("--limit %d: want a number of configurations, 0 for none, or -1 for all", o.limit)
	}
	return o.spec.ReadArgument(c)
}

func showSpace(ctx context.Context, t *ui.Console, o *spaceOptions) error {
	searched, err := o.spec.Load(ctx, t)
	if err != nil {
		return err
	}
	var identity *hardware.Device // nil: none
	if o.device != "" {
		listed, in, err := job.SelectFor(o.device, searched)
		if err != nil {
			return err
		}
		searched = in
		d := session.Describe(listed, t.Note)
		identity = &d
	}
	began := time.Now()
	var configurations *space.Space
	var skipped []space.Restriction
	if identity == nil {
		configurations, skipped, err = searched.SpaceWithoutDevice(ctx)
	} else {
		configurations, err = searched.Space(ctx, *identity)
	}
	if err != nil {
		return err
	}
	took := time.Since(began)
	if len(skipped) > 0 {
		texts := ui.Join("; ", func(r space.Restriction) string { return excerpt.Of(r.String()) }, skipped...)
		fmt.Fprintf(t.Notes, "Not applied, because they depend on the device (name one with --device): %s\n", texts)
	}
	w := t.Out
	if o.count {
		fmt.Fprintln(w, configurations.Size())
		return nil
	}
	if o.json {
		err := configurations.WriteTable(w, o.listed(configurations), ctx.Err)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("print the configurations: %w", err)
		}
		return err
	}
	fmt.Fprintf(w, "configurations: %s of %s combinations, built in %s\n",
		configurations.Size(), configurations.CartesianSize(), took.Round(10*time.Microsecond))
	if identity != nil {
		fmt.Fprintf(w, "within the limits of %s: %s\n", identity.Name, withinLimits(searched.Problem, configurations, *identity))
	}
	for i, q := range configurations.Parameters().List() {
		survivors := configurations.Survivors(i)
		line := fmt.Sprintf("%s: %s", q.Name, formatValues(survivors))
		if n := len(q.Values) - len(survivors); n > 0 {
			line += fmt.Sprintf(" (%s in no valid configuration)", figure.Count(n, "value"))
		}
		fmt.Fprintln(w, line)
	}
	return o.list(ctx, w, configurations)
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

// list lists the first configurations, or a sample in the order of the space. A vast
// space takes for ever to list: it ends when it is interrupted, or when nobody takes the lines.
func (o *spaceOptions) list(ctx context.Context, w io.Writer, s *space.Space) error {
	if !o.limited && s.Len() > sampleSize {
		fmt.Fprintf(w, "a sample of %d (--limit N lists the first N, --limit -1 all):\n", sampleSize)
		sample := s.Sample(sampleSize, rand.New(rand.NewPCG(sampleSeed, 0)))
		for _, i := range slices.Sorted(slices.Values(sample)) {
			fmt.Fprintln(w, s.At(i))
		}
		return nil
	}
	limit := o.listed(s)
	for i := range limit {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := fmt.Fprintln(w, s.At(i)); err != nil {
			return fmt.Errorf("print the configurations: %w", err)
		}
	}
	if rest := s.Len() - limit; limit > 0 && rest > 0 {
		fmt.Fprintf(w, "… and %d more (--limit -1 lists all)\n", rest)
	}
	return nil
}

// listed is how many configurations --limit lists.
func (o *spaceOptions) listed(s *space.Space) int {
	if o.limited && o.limit >= 0 {
		return min(o.limit, s.Len())
	}
	return s.Len()
}

// formatValues lists the values of a parameter, without the middle of a long list.
func formatValues(values []space.Value) string {
	const most = 16
	if len(values) <= most {
		return ui.Join(", ", space.FormatValue, values...)
	}
	return ui.Join(", ", space.FormatValue, values[:most-2]...) + ", …, " + space.FormatValue(values[len(values)-1])
}
