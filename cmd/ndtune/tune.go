package main

import "github.com/urfave/cli/v2"

func tuneCommand() *cli.Command {
	return &cli.Command{
		Name:      "tune",
		Usage:     "search a specification's space for its fastest configuration",
		ArgsUsage: "SPEC",
		Description: `Reads a specification (docs/spec.md), builds and verifies its configurations on a device,
times those that are correct, and prints each as it is done and the best at the end. The
ten best are measured again, in turn, before the winner is named.

   ndtune tune kernel.yaml
   ndtune tune kernel.yaml --device gpu --set n=4096 -o results.json -o results.csv
   ndtune tune kernel.yaml -p block_size_x=32,64 -v
   ndtune tune kernel.yaml --max-evals 100 --log kernel.jsonl
   ndtune tune kernel.yaml --serve 127.0.0.1:0

An interrupted run (Ctrl-C) keeps what it measured: the same command with the same --log
goes on from there. Add --retry-failures to evaluate again what has failed:

   ndtune tune kernel.yaml --log kernel.jsonl --retry-failures
   ndtune tune kernel.yaml --log kernel.jsonl --retry-failures=compile,timeout

With --serve, browsers see the report of the search while it goes on,
at the address that is printed; beyond this machine it has a token (docs/report.md).`,
		Flags: append(append(specFlags(), tuneFlags()...), serveFlag()),
		Action: func(c *cli.Context) error {
			s, err := loadSpec(c)
			if err != nil {
				return err
			}
			t, err := newTuning(c, s, c.Args().First(), "")
			if err != nil {
				return err
			}
			if t.page, err = openPage(c); err != nil {
				return err
			}
			if t.page != nil {
				defer t.page.Close()
			}
			_, err = t.search()
			return err
		},
	}
}
