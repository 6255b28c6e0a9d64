package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
)

// A retryFlag is --retry-failures, which may be written with statuses behind «=» or without.
type retryFlag struct{ *cli.GenericFlag }

// TakesValue is false: what follows without «=» is another argument.
func (retryFlag) TakesValue() bool { return false }

// String is the line of the flag in a help text.
func (f retryFlag) String() string { return cli.FlagStringer(f) }

const retryName = "retry-failures"

func newRetryFlag() cli.Flag {
	return retryFlag{&cli.GenericFlag{Name: retryName, Value: &statuses{}, Category: categorySearch,
		Usage: "evaluate again what has failed according to the log; --retry-failures=STATUS,… takes the failures of these statuses only: " + strings.Join(failureNames(), ", ") + " (default: all but constraints)"}}
}

// retried are the statuses that the command line names for another try.
func retried(c *cli.Context) []tune.Status {
	if s, ok := c.Generic(retryName).(*statuses); ok {
		return *s
	}
	return nil
}

// statuses is the value of a retryFlag.
type statuses []tune.Status

// IsBoolFlag lets the flag package take the flag without a value, for which it gives «true».
func (*statuses) IsBoolFlag() bool { return true }

func (s *statuses) String() string { return "" }

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

func failureNames() []string {
	var names []string
	for _, s := range failureStatuses() {
		names = append(names, string(s))
	}
	return names
}

// goOnCommand is the command line of this process, with a log where it names none.
func goOnCommand(c *cli.Context, log string, more ...string) string {
	words := slices.Clone(os.Args)
	if !c.IsSet("log") {
		more = append(more, "--log", log)
		end := len(words)
		if i := slices.Index(words, "--"); i >= 0 {
			end = i // what follows is no flag
		}
		words = slices.Insert(words, end, more...)
	}
	for i, word := range words {
		words[i] = shellQuoted(word)
	}
	return strings.Join(words, " ")
}

// shellQuoted is a word that a POSIX shell reads as it is.
func shellQuoted(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:,=+@%", r)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// environmentText says what a run has kept that its environment has stopped, and how it goes on.
func environmentText(o *tune.Outcome, log, command string) string {
	text := fmt.Sprintf("This may be no fault of the configurations. %s kept in %s", countNoun(len(o.Results), "result")+areIs(len(o.Results)), log)
	if o.Withdrawn > 0 {
		text += fmt.Sprintf("; %s not, and will be evaluated again", countNoun(o.Withdrawn, "failure")+areIs(o.Withdrawn))
	}
	return text + ". Mend the cause and go on with:\n  " + command
}

func areIs(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}
