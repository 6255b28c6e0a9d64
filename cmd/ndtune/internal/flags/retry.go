package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune"
)

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
