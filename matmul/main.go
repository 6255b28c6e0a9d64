package matmul

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
)

// environment marks a process as that of an entrant.
const environment = "NDTUNE_MATMUL"

// A request asks for something: at first Entrant alone, to open it, then a size.
type request struct {
	Entrant        *Entrant `json:",omitempty"`
	N              int      `json:",omitempty"`
	Configurations []string `json:",omitempty"` // of a kernel, to choose from at this size
}

// An answer to a request has one of these.
type answer struct {
	About       string       `json:",omitempty"` // opened
	Measurement *Measurement `json:",omitempty"`
	Missing     string       `json:",omitempty"` // the library is not there
	Failed      string       `json:",omitempty"` // this request, not those that follow

	garbled error // there was an answer, which cannot be read
}

// answerMark begins a line of standard output that is an answer.
const answerMark = "ndtune-matmul "

// Main must be called by the main function of a program that opens a [Process], before it
// does anything else but worker.Main (and by TestMain of its tests). In the process of an
// entrant it serves and ends it; else it returns at once.
func Main() {
	if os.Getenv(environment) == "" {
		return
	}
	os.Unsetenv(environment)
	// Ctrl-C at the terminal reaches this process too. It is for the parent to say what then.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	os.Exit(serve(os.Stdin, os.Stdout))
}

// serve answers requests until there are no more. It gives the exit status.
func serve(in io.Reader, out io.Writer) int {
	runtime.LockOSThread() // CUDA keeps the current device by thread
	requests := make(chan request)
	go func() {
		decoder := json.NewDecoder(bufio.NewReader(in))
		for {
			var r request
			if err := decoder.Decode(&r); err != nil {
				// The parent has ended, or wants no more: also in the middle of something.
				os.Exit(0)
			}
			requests <- r
		}
	}()
	var entrant Entrant
	var with multiplier
	for r := range requests {
		var a answer
		if r.Entrant != nil {
			entrant = *r.Entrant
			with, a = opened(entrant)
		} else {
			a = measured(entrant, with, r)
		}
		if err := send(out, a); err != nil {
			fmt.Fprintln(os.Stderr, "ndtune matmul: send an answer:", err)
			return 1
		}
	}
	return 0
}

func opened(e Entrant) (multiplier, answer) {
	with, err := open(e)
	var missing *MissingError
	switch {
	case errors.As(err, &missing):
		return nil, answer{Missing: missing.Text}
	case err != nil:
		return nil, answer{Failed: err.Error()}
	}
	return with, answer{About: with.about()}
}

func measured(e Entrant, with multiplier, r request) answer {
	if with == nil {
		return answer{Failed: "nothing is open"}
	}
	m, err := measure(e, with, r.N, r.Configurations)
	debug.FreeOSMemory() // other entrants need it now
	if err != nil {
		return answer{Failed: err.Error()}
	}
	return answer{Measurement: &m}
}

// send writes an answer on a line of its own, whatever a library has printed before.
func send(out io.Writer, a answer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s%s\n", answerMark, text)
	return err
}
