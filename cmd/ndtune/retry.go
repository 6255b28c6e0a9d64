package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/process"
)

// A retryFlag is --retry-failures, with or without statuses after «=».
type retryFlag struct{ *cli.GenericFlag }

// TakesValue is false: without «=», the next word is another argument.
func (retryFlag) TakesValue() bool { return false }

// String returns the line of the flag in a help text.
func (f retryFlag) String() string { return cli.FlagStringer(f) }

func newRetryFlag(to *statuses) cli.Flag {
	return retryFlag{&cli.GenericFlag{Name: "retry-failures", Value: to, Category: categorySearch,
		Usage: "evaluate the failures in the log again; --retry-failures=STATUS,… only those with these statuses: " +
			failureNames() + " (default: all but constraints)"}}
}

// statuses is the value of a retryFlag: the statuses of failures.
type statuses []tune.Status

// IsBoolFlag lets the flag package accept the flag without a value, which then is «true».
func (*statuses) IsBoolFlag() bool { return true }

func (s *statuses) String() string { return "" }

// Get implements flag.Getter.
func (s *statuses) Get() any { return *s }

func (s *statuses) Set(text string) error {
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

// failureNames lists the statuses that --retry-failures takes.
func failureNames() string {
	return joinTexts(", ", func(s tune.Status) string { return string(s) }, failureStatuses()...)
}

// goOnCommand returns the command line of this process, with a log if it names none.
func (o *searchOptions) goOnCommand(log string, more ...string) string {
	words := slices.Clone(os.Args)
	if o.log == "" {
		more = append(more, "--log", log)
		end := len(words)
		if i := slices.Index(words, "--"); i >= 0 {
			end = i // arguments follow
		}
		words = slices.Insert(words, end, more...)
	}
	return joinTexts(" ", process.Quoted, words...)
}

// environmentText describes the log of a run that the environment stopped, and how to continue the run.
func environmentText(o *tune.Outcome, log, command string) string {
	text := fmt.Sprintf("The configurations may not be at fault. The log %s holds %s", log, figure.Count(len(o.Results), "result"))
	if o.Withdrawn > 0 {
		text += fmt.Sprintf("; it omits %s, to be evaluated again", figure.Count(o.Withdrawn, "failure"))
	}
	return text + ". Remove the cause and continue with:\n  " + command
}
