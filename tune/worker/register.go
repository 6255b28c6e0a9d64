package worker

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
)

// environment marks a process as a worker.
const environment = "NDTUNE_WORKER"

// A Maker makes the definition of a problem that holds Go functions, in the program and in
// each of its workers alike: the same input must give the same problem.
type Maker func(input string) (definition.Definition, error)

var (
	makers = map[string]Maker{}
	hasRun bool // Main was called
)

var errNoMain = errors.New("the program does not call worker.Main, with which a worker begins: " +
	"call it first in main, or evaluate in this process (device.Open)")

// Register names a function that makes a problem, for Options.Maker. It is called before [Main],
// and panics if the name is taken.
func Register(name string, m Maker) {
	if _, taken := makers[name]; taken {
		panic(fmt.Sprintf("worker: two makers are named %q", name))
	}
	makers[name] = m
}

// Main must be called first by the main function of a program that opens pools or measures peaks (and by TestMain of
// its tests). In a worker it serves and ends the process; otherwise it returns at once.
func Main() {
	hasRun = true
	if process.Marked(environment) {
		serve()
		os.Exit(1)
	}
}

// problem makes the problem of a hello.
func (h *hello) problem() (*problem.Problem, error) {
	var d definition.Definition
	var err error
	if h.Segment.Number > 0 {
		if h.Problem, err = process.OpenSegment(h.Segment, h.Bulk); err != nil {
			return nil, err
		}
	}
	if h.Problem != nil {
		d, err = definition.DecodeTrusted(h.Problem)
	} else if maker, ok := makers[h.Maker]; ok {
		d, err = maker(h.Input)
	} else {
		err = fmt.Errorf("no problem is registered as %q (registered: %s)", h.Maker, strings.Join(slices.Sorted(maps.Keys(makers)), ", "))
	}
	var p *problem.Problem
	if err == nil {
		p, err = problem.New(d)
	}
	if err != nil {
		return nil, fmt.Errorf("make the problem: %w", err)
	}
	if h.Digest != "" && p.Digest() != h.Digest {
		if h.Problem == nil {
			return nil, fmt.Errorf("the function registered as %q makes another problem in a worker than in the program", h.Maker)
		}
		return nil, errors.New("the problem is another one in the worker than in the program")
	}
	return p, nil
}
