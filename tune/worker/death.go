package worker

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
)

// lastLines is how many of the last lines that a dead worker printed are told.
const lastLines = 10

// maxLastBytes bounds them.
const maxLastBytes = 2000

// death says how a worker ended, with what else is to be said of that, and then what it
// printed last.
func death(e event, more string) string {
	how, words := dump(e.process.printed.text())
	if how == "" {
		how = ending(e.state)
	}
	if e.garbled != nil {
		how += fmt.Sprintf(", after a message that makes no sense (%v)", e.garbled)
	}
	how += more
	if words = lastOf(words); words != "" {
		return how + "; it printed last:\n" + words
	}
	return how
}

// ending reads the status of a process.
func ending(state *os.ProcessState) string {
	if state == nil {
		return "for a reason that the system does not tell"
	}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return fmt.Sprintf("by signal %s", signalText(w.Signal()))
	}
	return fmt.Sprintf("with exit status %d", state.ExitCode())
}

// wasKilled reports whether a worker was ended by a signal that another process sends, as an
// out-of-memory killer does. The pool expects the end of those that it kills itself.
func wasKilled(e event) bool {
	if e.state == nil || e.garbled != nil {
		return false
	}
	w, ok := e.state.Sys().(syscall.WaitStatus)
	if !ok || !w.Signaled() {
		return false
	}
	switch w.Signal() {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		return true
	}
	return false
}

// A crash on a thread that Go runs ends a Go process with exit status 2 and a dump, whose
// first line names the signal or the fault.
var (
	dumpBegins = regexp.MustCompile(`(?m)^(SIG[A-Z]+: .*|fatal error: .*|panic: .*|runtime: .*|unexpected fault address .*)$`)
	dumpSignal = regexp.MustCompile(`(?m)^(?:\[signal )?(SIG[A-Z]+): ([^\n\]]*?)(?: code=.*)?$`)
	dumpFault  = regexp.MustCompile(`(?m)^(?:fatal error|panic): (.*)$`)
)

// dump finds Go's own dump in what a worker has printed: the signal or the fault that it
// tells of, and what was printed before it.
func dump(text string) (how, before string) {
	at := dumpBegins.FindStringIndex(text)
	if at == nil {
		return "", text
	}
	begin := at[0]
	rest := text[begin:]
	if found := dumpSignal.FindStringSubmatch(rest); found != nil {
		return fmt.Sprintf("by signal %s (%s)", found[1], strings.TrimSpace(found[2])), text[:begin]
	}
	if found := dumpFault.FindStringSubmatch(rest); found != nil {
		return "by a fault: " + found[1], text[:begin]
	}
	return "", text
}

// lastOf are the last lines of a text.
func lastOf(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-lastLines):]
	text = strings.Join(lines, "\n")
	if len(text) > maxLastBytes {
		text = "…" + strings.ToValidUTF8(text[len(text)-maxLastBytes:], "")
	}
	return text
}
