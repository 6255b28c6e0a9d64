package commands

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/search"
)

type strategiesOptions struct {
	names []string // nil: all
	json  bool
}

func strategiesCommand(run flags.Runner[strategiesOptions]) *cli.Command {
	o := &strategiesOptions{}
	return &cli.Command{
		Name:      "strategies",
		Usage:     "list the search strategies and their options",
		ArgsUsage: "[STRATEGY…]",
		Description: `Describes each strategy, its source and its options, with their defaults, values and
meaning. With arguments, it describes only the named strategies.

   ndtune strategies
   ndtune strategies genetic_algorithm pso
   ndtune strategies --json`,
		Flags:  []cli.Flag{flags.JSON(&o.json)},
		Action: flags.Action(o, run),
	}
}

func (o *strategiesOptions) Read(c *cli.Context) error {
	o.names = c.Args().Slice()
	for _, name := range o.names {
		if err := search.Check(name, nil, 1); err != nil {
			return ui.Usage(err)
		}
	}
	return nil
}

func listStrategies(_ context.Context, t *ui.Console, o *strategiesOptions) error {
	all := slices.DeleteFunc(search.Descriptions(), func(d search.Description) bool {
		return len(o.names) > 0 && !slices.Contains(o.names, d.Name)
	})
	if o.json {
		return t.JSON(all)
	}
	w := t.Out
	for i, d := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s\n", d.Name, d.Summary)
		for _, p := range d.Options {
			fmt.Fprintf(w, "    %s=%s  %s (%s)\n", p.Name, p.Default, p.Meaning, p.Range())
		}
		if d.Source != "" {
			fmt.Fprintf(w, "    from: %s\n", d.Source)
		}
	}
	return nil
}
