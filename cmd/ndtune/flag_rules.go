package main

import (
	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// A flagRule is a relation between a flag and others. It holds for every command that has them.
type flagRule struct {
	flag     string
	relation relation
	others   []string
	reason   string // may be empty
}

// A relation says what a flag asks of the others of its rule.
type relation int

const (
	needs    relation = iota // at least one of them is given
	excludes                 // none of them is given
)

// flagRules are all relations that only depend on which flags are given.
var flagRules = []flagRule{
	{"quiet", excludes, []string{"verbose"}, ""},
	{"retry-failures", needs, []string{"log"}, "name the run log that has the failures; without it, a new log is begun"},
	{"agents", needs, []string{"fleet"}, "it counts the agents of a fleet"},
	{"check", excludes, []string{"fleet"}, "it is for a search on this machine; use ndtune check SPEC --record FILE"},
	{"check", excludes, []string{"json"}, "the findings of a check are for people; use ndtune check SPEC --record FILE on the run log"},
	{"capture", excludes, []string{"kernel", "define", "include", "build-option"}, "the capture has the kernel and its options"},
	{"count", excludes, []string{"json"}, "the count is one number"},
	{"peak", excludes, []string{"fleet"}, "it measures on this machine, and --fleet lists the devices of others"},
	{"no-simulator", needs, []string{"device"}, "without the simulator, a device must check"},
}

// wantedTexts are the flags whose texts are not empty if they are given.
var wantedTexts = map[string]string{"serve": "want HOST:PORT, such as 127.0.0.1:8080", "objective": "an objective has no name"}

// checkFlags refuses values with which a command can do nothing, and flags that do not go together.
func checkFlags(c *cli.Context) error {
	for name, want := range wantedTexts {
		if c.IsSet(name) && c.String(name) == "" {
			return ui.Wrong(`--%s: "": %s`, name, want)
		}
	}
	for _, r := range flagRules {
		if err := r.check(c); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a command line that breaks the rule.
func (r flagRule) check(c *cli.Context) error {
	if !isGiven(c, r.flag) {
		return nil
	}
	reason := ""
	if r.reason != "" {
		reason = ": " + r.reason
	}
	anyGiven := false
	for _, other := range r.others {
		anyGiven = anyGiven || isGiven(c, other)
		if r.relation == excludes && isGiven(c, other) {
			return ui.Wrong("%s and %s exclude each other%s", flags.Dashed(r.flag), flags.Dashed(other), reason)
		}
	}
	if r.relation == needs && !anyGiven {
		return ui.Wrong("%s needs %s%s", flags.Dashed(r.flag), ui.Join(" or ", flags.Dashed, r.others...), reason)
	}
	return nil
}

// isGiven reports whether a flag is given, in the environment too. An empty text and false are as good as none.
func isGiven(c *cli.Context, name string) bool {
	if !c.IsSet(name) {
		return false
	}
	switch v := c.Value(name).(type) {
	case bool:
		return v
	case string:
		return v != ""
	}
	return true
}
