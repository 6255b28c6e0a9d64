package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/wisdom"
)

func wisdomCheckCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "say what a choice costs for a size or a device that was not tuned",
		ArgsUsage: "LOG...",
		Description: `Leaves out each record in turn, chooses a configuration for its device and size from the others,
and looks up the time of this configuration in the record that was left out. «without size» leaves
out the record alone; «without device» leaves out all records of its device. The costs are ratios
to the best of the record: of the choice, of the configuration that is best over all other
records, and of the median. «random search» is the number of configurations that a random search
evaluates, on average, until it finds one as good as the choice.

   ndtune tune kernel.yaml --set n=512,1024,2048 --log sizes.jsonl
   ndtune wisdom check sizes.jsonl other_device.jsonl

Use records of whole spaces (brute_force), or of one search at several sizes (--set n=…), which
measures the best of each size at all of them: another search may not have evaluated the choice.`,
		Flags: []cli.Flag{
			problemSizeFlag("problem size of the records that have none"),
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
		Action: checkWisdom,
	}
}

func checkWisdom(c *cli.Context) error {
	paths, err := pathArguments(c, "records")
	if err != nil {
		return err
	}
	size, err := problemSize(c)
	if err != nil {
		return err
	}
	var records []*record.Record
	for _, path := range paths {
		all, err := record.ReadAll(path)
		if err != nil {
			return &usageError{err}
		}
		for _, r := range all {
			r.Header.Device.Name = cmp.Or(r.Header.Device.Name, filepath.Base(path))
			if _, err := wisdom.FromLog(r, wisdom.Source{ProblemSize: size}); err != nil {
				return wrong("%s: %w", path, err)
			}
		}
		records = append(records, all...)
	}
	trials, err := wisdom.Check(records, wisdom.Source{ProblemSize: size})
	if err != nil {
		return &usageError{err}
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, trialsOf(trials))
	}
	printTrials(c.App.Writer, trials)
	return nil
}

func printTrials(w io.Writer, trials []wisdom.Trial) {
	number := func(v float64) string {
		if math.IsNaN(v) {
			return "–"
		}
		return fmt.Sprintf("%.2f", v)
	}
	rows := [][]string{{"device", "size", "without", "chosen from", "cost", "best over all", "median", "random search", "configuration"}}
	for _, t := range trials {
		draws := "–"
		if !math.IsNaN(t.Draws) {
			draws = fmt.Sprintf("%.0f", t.Draws)
		}
		from := t.Choice.Record.Device.Name + " " + figure.Sizes(t.Choice.Record.ProblemSize)
		if o := t.Choice.Overall; o != nil && o.Of > 1 {
			from = "all"
		}
		var tuned wisdom.File // the parameters with a choice
		for _, p := range t.Record.Header.Parameters {
			if len(p.Values) > 1 {
				tuned.Parameters = append(tuned.Parameters, p.Name)
			}
		}
		configuration := tuned.Text(&t.Choice.Record)
		switch {
		case t.Result == nil:
			configuration += " (not evaluated there)"
		case !t.Result.Rankable():
			configuration += fmt.Sprintf(" (%s)", t.Result.Status.Text())
		}
		rows = append(rows, []string{
			t.Query.Device.Name, figure.Sizes(t.Query.ProblemSize), string(t.Without), from,
			number(t.Cost), number(t.Overall), number(t.Median), draws, configuration,
		})
	}
	figure.Columns(w, "", func(i int) bool { return i >= 4 && i < len(rows[0])-1 }, rows...)
	for _, without := range []wisdom.Absence{wisdom.NoSize, wisdom.NoDevice} {
		s := wisdom.Summarize(trials, without)
		if s.Trials == 0 {
			continue
		}
		text := fmt.Sprintf("without the %s: %s", without, figure.Count(s.Trials, "choice"))
		if s.Known > 0 {
			text += fmt.Sprintf(", on average %.2f times the best, at worst %.2f", s.Mean, s.Worst)
		}
		if s.Known < s.Trials {
			text += fmt.Sprintf("; %d without a time", s.Trials-s.Known)
		}
		fmt.Fprintln(w, text)
	}
}

// The output of --json.
type trialOutput struct {
	Device        string                      `json:"device"`
	ProblemSize   []int                       `json:"problem_size"`
	Without       wisdom.Absence              `json:"without"`
	Level         wisdom.Level                `json:"level"`
	Match         string                      `json:"match"` // for people
	Configuration map[string]record.JSONValue `json:"configuration"`
	Status        tune.Status                 `json:"status,omitempty"` // there; absent: not evaluated
	Cost          *float64                    `json:"cost"`             // ratios to the best; null: not known
	Overall       *float64                    `json:"overall"`
	Median        *float64                    `json:"median"`
	Draws         *float64                    `json:"random_search"` // configurations
}

func trialsOf(trials []wisdom.Trial) []trialOutput {
	known := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	var all []trialOutput
	for _, t := range trials {
		out := trialOutput{
			Device: t.Query.Device.Name, ProblemSize: t.Query.ProblemSize, Without: t.Without,
			Level: t.Choice.Level, Match: t.Choice.String(), Configuration: valuesOfWisdom(t.Choice.Record.Configuration),
			Cost: known(t.Cost), Overall: known(t.Overall), Median: known(t.Median), Draws: known(t.Draws),
		}
		if t.Result != nil {
			out.Status = t.Result.Status
		}
		all = append(all, out)
	}
	return all
}
