package main

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// These functions return a flag that writes into an option. What the option has before is its default. The names are one of several
// letters, and then others. The usage marks the value by «`».

func textFlag(to *string, names, category, usage string) cli.Flag {
	name, aliases := namesOf(names)
	return &cli.StringFlag{Name: name, Aliases: aliases, Destination: to, Value: *to, Category: category, Usage: usage, TakesFile: takesFile(usage)}
}

func listFlag(to *cli.StringSlice, names, category, usage string) cli.Flag {
	name, aliases := namesOf(names)
	return &cli.StringSliceFlag{Name: name, Aliases: aliases, Destination: to, Category: category, Usage: usage, TakesFile: takesFile(usage)}
}

func switchFlag(to *bool, names, category, usage string) cli.Flag {
	name, aliases := namesOf(names)
	return &cli.BoolFlag{Name: name, Aliases: aliases, Destination: to, Category: category, Usage: usage}
}

func numberFlag(to *int, names, category, usage string) cli.Flag {
	name, aliases := namesOf(names)
	return &cli.IntFlag{Name: name, Aliases: aliases, Destination: to, Value: *to, Category: category, Usage: usage}
}

func durationFlag(to *time.Duration, name, category, usage string) cli.Flag {
	return &cli.DurationFlag{Name: name, Destination: to, Value: *to, Category: category, Usage: usage}
}

// seedFlag is the seed of random choices.
func seedFlag(to *uint64, category, usage string) cli.Flag {
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
