// Package ui is the program as people and programs see it: the [Console] of a command, the display of a long task on a terminal
// ([Progress]), the JSON lines of --json, the files that a command reads and writes, and its exit status.
package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/ndtune/ndtune/tune/session"
)

// A Console is where a command reads what it is not given by flags, and where it shows its results and notes.
type Console struct {
	In             Documents
	Out            io.Writer // for results
	Notes          io.Writer // for notes and messages
	Stream         *Stream   // has the results and notes as JSON lines; nil: they are for people
	Quiet, Verbose bool
}

// Say prints a note, unless the command is quiet.
func (t *Console) Say(format string, a ...any) {
	if !t.Quiet {
		fmt.Fprintf(t.Notes, format+"\n", a...)
	}
}

// Note prints a note.
func (t *Console) Note(text string) { fmt.Fprintln(t.Notes, text) }

// Listener prints what a session tells.
func (t *Console) Listener() session.Listener {
	return session.Listener{Note: t.Note, Say: func(text string) { t.Say("%s", text) }}
}

// Diagnostics receives the output of workers and drivers; nil without --verbose.
func (t *Console) Diagnostics() io.Writer {
	if t.Verbose {
		return t.Notes
	}
	return nil
}

// JSON prints a value as JSON.
func (t *Console) JSON(v any) error {
	encoder := json.NewEncoder(t.Out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// VersionText returns the version, with the compiler and the platform that the program was built for.
func VersionText() string {
	return fmt.Sprintf("%s (%s, %s/%s)", ShortVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Version is set when the program is built (see the Makefile).
var Version string

// ShortVersion returns the version alone.
func ShortVersion() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
