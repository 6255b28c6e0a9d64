// Package flags has what urfave/cli lacks: flags that are one call each, and [Action], which completes the options of a command and runs
// it with them, so that no command sees the context of its command line, and a test can look at options without running anything.
package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune"
)

// The categories of flags in help texts.
const (
	CategorySpec       = "specification"
	CategorySearch     = "search"
	CategoryEvaluation = "evaluation"
	CategoryOutput     = "output"
)

// Device chooses the device of a command. More describes further values of the flag.
func Device(to *string, more string) cli.Flag {
	return Text(to, "device d", CategoryEvaluation,
		"`DEVICE` to use: index, platform:device, cpu, gpu, cuda, or a part of its name"+more+
			" (default: the first GPU, else the first device)")
}

// Output names the files that a command writes.
func Output(to *cli.StringSlice, usage string) cli.Flag {
	return List(to, "output o", CategoryOutput, usage)
}

// Verbose says more, to the console of a command.
func Verbose(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: CategoryOutput, Usage: usage}
}

// Quiet says less, to the console of a command.
func Quiet(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: CategoryOutput, Usage: usage}
}

// JSON chooses JSON for the output of a command.
func JSON(to *bool) cli.Flag {
	return Switch(to, "json", "", "print JSON")
}

// NoArguments refuses arguments.
func NoArguments(c *cli.Context) error {
	if c.Args().Len() > 0 {
		return ui.Wrong("%s takes no argument, but %q is given", c.Command.HelpName, c.Args().First())
	}
	return nil
}

// PositiveInts returns the positive numbers in a text, with commas between them; nil if it holds
// anything else.
func PositiveInts(text string) []int {
	var numbers []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return nil
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// Paths returns the arguments of a command that reads files, each of which is named once.
func Paths(c *cli.Context, what string) ([]string, error) {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return nil, ui.Wrong("name %s: %s %s (see %s --help)", what, c.Command.HelpName, c.Command.ArgsUsage, c.Command.HelpName)
	}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, ui.Wrong("%s is named twice", path)
		}
	}
	return paths, nil
}

// Without returns flags without those of some names.
func Without(flags []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return slices.Contains(names, f.Names()[0]) })
}

// Named returns the flag with a name; nil if there is none.
func Named(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// Dashed returns the name of a flag as users write it.
func Dashed(name string) string {
	if name = strings.TrimLeft(name, "-"); len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// Text is a text. Like all functions for flags, it returns a flag that writes into an option: what the option has before is the default,
// the names are one of several letters and then others, and the usage marks the value by «`».
func Text(to *string, names, category, usage string) cli.Flag {
	name, aliases := namesOf(names)
	return &cli.StringFlag{Name: name, Aliases: aliases, Destination: to, Value: *to, Category: category, Usage: usage, TakesFile: takesFile(usage)}
}

// List is a text that may be repeated.
func List(to *cli.StringSlice, names, category, usage string) cli.Flag {
	name, aliases := namesOf(names)
	return &cli.StringSliceFlag{Name: name, Aliases: aliases, Destination: to, Category: category, Usage: usage, TakesFile: takesFile(usage)}
}

// Switch is on or off.
func Switch(to *bool, names, category, usage string) cli.Flag {
	name, aliases := namesOf(names)
	return &cli.BoolFlag{Name: name, Aliases: aliases, Destination: to, Category: category, Usage: usage}
}

// Integer is a whole number.
func Integer(to *int, names, category, usage string) *cli.IntFlag {
	name, aliases := namesOf(names)
	return &cli.IntFlag{Name: name, Aliases: aliases, Destination: to, Value: *to, Category: category, Usage: usage}
}

// Number is a positive number.
func Number(to *int, names, category, usage string) cli.Flag {
	f := Integer(to, names, category, usage)
	f.Action = func(_ *cli.Context, n int) error {
		if n < 1 {
			return ui.Wrong("%s %d: want a positive number", Dashed(f.Name), n)
		}
		return nil
	}
	return f
}

// Duration is a positive time, and of at least a millisecond if it is the time limit of one thing.
func Duration(to *time.Duration, name, category, usage string) cli.Flag {
	least, want := time.Duration(1), "a positive duration"
	if strings.HasSuffix(name, "timeout") {
		least, want = time.Millisecond, "a duration of at least 1ms, such as 90s"
	}
	return &cli.DurationFlag{
		Name: name, Destination: to, Value: *to, Category: category, Usage: usage, Action: func(_ *cli.Context, d time.Duration) error {
			if d < least {
				return ui.Wrong("--%s %s: want %s", name, d, want)
			}
			return nil
		},
	}
}

// Seed is the seed of random choices.
func Seed(to *uint64, category, usage string) cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Destination: to, Value: 1, Category: category, Usage: usage}
}

func namesOf(names string) (name string, aliases []string) {
	all := strings.Fields(names)
	return all[0], all[1:]
}

// takesFile reports whether the value of a flag is a file, for shells.
func takesFile(usage string) bool {
	_, value, _ := strings.Cut(usage, "`")
	value, _, _ = strings.Cut(value, "`")
	return value == "FILE" || value == "FOLDER" || value == "RECORD" || value == "PATH"
}

// A RetryFlag is --retry-failures, with or without statuses after «=».
type RetryFlag struct{ *cli.GenericFlag }

// TakesValue is false: without «=», the next word is another argument.
func (RetryFlag) TakesValue() bool { return false }

// String returns the line of the flag in a help text.
func (f RetryFlag) String() string { return cli.FlagStringer(f) }

// Retry is --retry-failures.
func Retry(to *Statuses) cli.Flag {
	return RetryFlag{&cli.GenericFlag{Name: "retry-failures", Value: to, Category: CategorySearch,
		Usage: "evaluate the failures in the log again; --retry-failures=STATUS,… only those with these statuses: " +
			FailureNames() + " (default: all but constraints)"}}
}

// Statuses is the value of a retryFlag: the statuses of failures.
type Statuses []tune.Status

// IsBoolFlag lets the flag package accept the flag without a value, which then is «true».
func (*Statuses) IsBoolFlag() bool { return true }

func (s *Statuses) String() string { return "" }

// Get implements flag.Getter.
func (s *Statuses) Get() any { return *s }

func (s *Statuses) Set(text string) error {
	if text == "true" {
		*s = slices.DeleteFunc(failureStatuses(), func(status tune.Status) bool { return status == tune.Constraints })
		return nil
	}
	*s = nil
	for name := range strings.SplitSeq(text, ",") {
		status := tune.Status(strings.TrimSpace(name))
		if !slices.Contains(failureStatuses(), status) {
			return fmt.Errorf("%q is no failure", name)
		}
		*s = append(*s, status)
	}
	return nil
}

func failureStatuses() []tune.Status {
	return slices.DeleteFunc(tune.Statuses(), func(s tune.Status) bool { return s == tune.Correct })
}

// FailureNames lists the statuses that --retry-failures takes.
func FailureNames() string {
	return ui.Join(", ", func(s tune.Status) string { return string(s) }, failureStatuses()...)
}
