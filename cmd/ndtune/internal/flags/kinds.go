// Package flags has what urfave/cli lacks: flags that are one call each, and [Action], which completes the options of a command and runs
// it with them, so that no command sees the context of its command line, and a test can look at options without running anything.
package flags

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

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
