package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/search"
)

func strategiesCommand() *cli.Command {
	return &cli.Command{
		Name:      "strategies",
		Usage:     "list the search strategies and their options",
		ArgsUsage: "[STRATEGY…]",
		Description: `Describes each strategy, its source and its options, with their defaults, values and
meaning. With arguments, it describes only the named strategies.

   ndtune strategies
   ndtune strategies genetic_algorithm pso
   ndtune strategies --json`,
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON"}},
		Action: listStrategies,
	}
}

func listStrategies(c *cli.Context) error {
	for _, name := range c.Args().Slice() {
		if err := search.Check(name, nil, 1); err != nil {
			return &usageError{err}
		}
	}
	all := slices.DeleteFunc(search.Descriptions(), func(d search.Description) bool {
		return c.Args().Len() > 0 && !slices.Contains(c.Args().Slice(), d.Name)
	})
	if c.Bool("json") {
		return printJSON(c.App.Writer, all)
	}
	w := c.App.Writer
	for i, d := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s\n", d.Name, d.Summary)
		for _, o := range d.Options {
			fmt.Fprintf(w, "    %s=%s  %s (%s)\n", o.Name, o.Default, o.Meaning, o.Range())
		}
		if d.Source != "" {
			fmt.Fprintf(w, "    from: %s\n", d.Source)
		}
	}
	return nil
}
