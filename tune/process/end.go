package process

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/ndtune/ndtune/internal/excerpt"
)

const (
	lastLines    = 10   // how many of the last lines of a dead child are told
	maxLastBytes = 2000 // and how many bytes of them at most
)

// An End is how a child ended.
type End struct {
	State   *os.ProcessState // nil: the system does not tell
	Garbled error            // why its last message could not be read, after which it was killed, or nil
	Printed string           // the end of its standard error
}

// Cause completes a sentence such as «the process ended …»: the signal, the fault of a Go dump, or
// the exit status.
func (e *End) Cause() string {
	cause, _ := dump(e.Printed)
	w, known := e.waitStatus()
	switch {
	case cause != "":
	case e.State == nil:
		cause = "for a reason that the system does not tell"
	case known && w.Signaled():
		cause = "by signal " + signalText(w.Signal())
	default:
		cause = fmt.Sprintf("with exit status %d", e.State.ExitCode())
	}
	if e.Garbled != nil {
		cause += fmt.Sprintf(", after a message that makes no sense (%v)", e.Garbled)
	}
	return cause
}

// telling finds lines in which programs say why they give up. LLVM prints a stack after them.
var telling = regexp.MustCompile(`(?i)error|assert|fatal|abort|terminate|what\(\)`)

// lastWords returns the last lines that the child printed, without a Go dump, and before them the last line that says why, if it is not
// among them. Why is that line, or else the last one.
func (e *End) lastWords() (words, why string) {
	_, text := dump(e.Printed)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	from, at := max(0, len(lines)-lastLines), len(lines)-1
	for i := len(lines) - 1; i >= 0; i-- {
		if telling.MatchString(lines[i]) {
			at = i
			break
		}
	}
	words, why = strings.Join(lines[from:], "\n"), excerpt.Of(strings.TrimSpace(lines[at]))
	if most := maxLastBytes - len(why); len(words) > most {
		words = "…" + strings.ToValidUTF8(words[len(words)-most:], "")
	}
	if at < from {
		words = why + "\n…\n" + words
	}
	return words, why
}

// Explain is the cause, followed by more about it, and by the last words if there are any. The first line has the one that says why.
func (e *End) Explain(more string) string {
	text := e.Cause() + more
	words, why := e.lastWords()
	if words != "" {
		text += "; it printed last: " + why
	}
	if words != why {
		text += "\n" + words
	}
	return text
}

// FromOutside reports whether the child was ended by a signal that another process sends, as an
// out-of-memory killer does. It is for children that the program has not killed itself.
func (e *End) FromOutside() bool {
	w, ok := e.waitStatus()
	if !ok || e.Garbled != nil || !w.Signaled() {
		return false
	}
	switch w.Signal() {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		return true
	}
	return false
}

func (e *End) waitStatus() (w syscall.WaitStatus, ok bool) {
	if e.State != nil {
		w, ok = e.State.Sys().(syscall.WaitStatus)
	}
	return w, ok
}

// A crash on a thread that Go runs ends a Go process with exit status 2 and a dump, whose first
// line names the signal or the fault.
var (
	dumpBegins = regexp.MustCompile(`(?m)^(SIG[A-Z]+: .*|fatal error: .*|panic: .*|runtime: .*|unexpected fault address .*)$`)
	dumpSignal = regexp.MustCompile(`(?m)^(?:\[signal )?(SIG[A-Z]+): ([^\n\]]*?)(?: code=.*)?$`)
	dumpFault  = regexp.MustCompile(`(?m)^(?:fatal error|panic): (.*)$`)
)

// dump finds Go's own dump in a text. It returns the signal or the fault that the dump
// tells of, and the text before it.
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
