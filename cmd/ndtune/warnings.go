package main

import (
	"regexp"
	"strings"
)

// compilerWarnings are the warnings of the compiler that were shown in a search.
type compilerWarnings struct {
	shown map[string]bool
	full  bool // there were more than maxWarnings
}

// maxWarnings is how many different warnings of a search are shown.
const maxWarnings = 10

// add returns the warnings of a build log that were not shown yet, and reports whether this is the first
// log of which some are left out because there are too many.
func (w *compilerWarnings) add(log string) (fresh []string, tooMany bool) {
	for _, warning := range splitWarnings(log) {
		switch {
		case w.shown[warning]:
		case len(w.shown) < maxWarnings:
			if w.shown == nil {
				w.shown = map[string]bool{}
			}
			w.shown[warning] = true
			fresh = append(fresh, warning)
		case !w.full:
			w.full, tooMany = true, true
		}
	}
	return fresh, tooMany
}

// splitWarnings returns the warnings of a build log. Compilers show the line of the source and notes below a
// warning: they belong to it.
func splitWarnings(log string) []string {
	var all []string
	var current []string
	warns := false
	end := func() {
		if warns {
			all = append(all, strings.TrimSpace(strings.Join(current, "\n")))
		}
		current, warns = nil, false
	}
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case warningCount.MatchString(line):
			continue
		case warningLine.MatchString(line):
			if warns {
				end()
			}
			warns = true
		}
		current = append(current, line)
	}
	end()
	return all
}

var (
	warningLine  = regexp.MustCompile(`(?i)(^|[^#])\bwarning\b`) // #warning is a line of the source
	warningCount = regexp.MustCompile(`^\d+ warnings? generated\.?\s*$`)
)
