package worker

import (
	"fmt"
	"os"

	"github.com/ndtune/ndtune/tune/space"
)

// traceVariable names a file to which workers add a line as they begin with a configuration:
// the process, what it does (build or evaluate) and the configuration.
const traceVariable = "NDTUNE_WORKER_TRACE"

// A trace is nil where none is wanted.
type trace struct{ file *os.File }

func openTrace() (*trace, error) {
	path := os.Getenv(traceVariable)
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", traceVariable, err)
	}
	return &trace{f}, nil
}

func (t *trace) note(what string, c space.Configuration) {
	if t != nil {
		fmt.Fprintf(t.file, "%d %s %s\n", os.Getpid(), what, c) // one write: lines of processes do not mix
	}
}
