// Package command runs a search strategy that is a program of the user's, in any language. The program is asked and told in lines of
// JSON over its standard input and output: docs/strategy-command.md describes the protocol, and message.go has its messages.
//
// Its types: [Strategy] is the program, [Options] say how it is started.
//
// The program speaks of configurations by their values and of objectives as users do. The package translates them, and keeps the
// contract of a strategy: no configuration is proposed twice, and none that the restrictions exclude. It evaluates nothing, and it
// gives the program no access to anything but the space.
//
// # Reasons
//
// The program speaks of values, not of indices, so it needs no copy of the space's order. It answers, and never calls, so neither side
// needs threads, and the order of the lines is that of the search. Each simulated search starts the program anew, since its state after
// one search is unknown.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// DefaultTimeout is the default of [Options.Timeout].
const DefaultTimeout = 5 * time.Minute

// maxIdle is the number of answers in a row without a new configuration after which a program is given up.
const maxIdle = 1000

// Options configure a strategy. Args and Objective are required.
type Options struct {
	Args       []string // the program first
	Objective  score.Objective
	Seed       uint64
	Budget     int           // limit of evaluations; 0: unknown
	Evaluators int           // configurations that can be evaluated at once; 0: 1
	Start      []int         // indices to propose before the program is asked
	Timeout    time.Duration // for an answer; 0: [DefaultTimeout]
	Output     io.Writer     // gets what the program prints on standard error; nil: only errors quote the end of it
}

// A Strategy is a [search.Consulted] whose proposals come from a program. The program runs until Close.
type Strategy struct {
	space   *space.Space
	options Options
	program process.Program
	rng     *rand.Rand

	start    []int                       // not proposed yet
	proposed map[int]*search.Observation // by index; nil: its result is due
	due      int                         // how many of them
	untold   []outcome
	ended    bool  // the program has ended the search
	err      error // why it cannot go on
	closed   bool
}

var _ search.Consulted = (*Strategy)(nil)

// New starts the program, tells it the space, and waits until it is ready. The caller must close the strategy.
func New(ctx context.Context, s *space.Space, o Options) (*Strategy, error) {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	c := &Strategy{space: s, options: o, rng: rand.New(rand.NewPCG(o.Seed, 2)), proposed: map[int]*search.Observation{}, start: o.Start}
	for _, i := range o.Start {
		if i < 0 || i >= s.Len() {
			return nil, fmt.Errorf("start at configuration %d: the space has %d", i, s.Len())
		}
	}
	c.program = process.Program{Args: o.Args, Wanted: answers, Show: c.show()}
	if err := c.greet(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Strategy) name() string { return "the strategy command " + c.program.String() }

// show returns the function that shows a line that the program prints.
func (c *Strategy) show() func(line string) {
	if c.options.Output == nil {
		return nil
	}
	var mutex sync.Mutex
	return func(line string) {
		mutex.Lock()
		defer mutex.Unlock()
		fmt.Fprintf(c.options.Output, "strategy: %s\n", line)
	}
}

// greet tells the program the space, and waits until it is ready.
func (c *Strategy) greet(ctx context.Context) error {
	return c.within(ctx, "say that it is ready", func(ctx context.Context) error {
		var a answer
		err := c.program.Ask(ctx, &a, message{Hello: newHello(c.space, c.options)})
		if err == nil && a.Ready == nil {
			err = fmt.Errorf(`it answered %s to the hello; want {"ready":%d}`, a.text, Version)
		}
		if err == nil && *a.Ready != Version {
			err = fmt.Errorf("it speaks version %d of the protocol, and this program speaks %d", *a.Ready, Version)
		}
		return err
	})
}

// Ask is [search.Strategy]. It returns none after an error: see [Strategy.Consult].
func (c *Strategy) Ask(n int) []int {
	proposed, _ := c.Consult(context.Background(), n)
	return proposed
}

// Consult asks the program. It answers the program's questions about the space, and its proposals that are not new.
func (c *Strategy) Consult(ctx context.Context, n int) (proposed []int, err error) {
	if c.err != nil || c.closed || c.ended || n <= 0 {
		return nil, c.err
	}
	for len(c.start) > 0 && len(proposed) < n {
		if i := c.start[0]; c.claim(i) {
			proposed = append(proposed, i)
		}
		c.start = c.start[1:]
	}
	if len(proposed) > 0 || len(c.proposed) == c.space.Len() {
		return proposed, nil
	}
	err = c.within(ctx, "propose a configuration", func(ctx context.Context) error {
		for range maxIdle {
			wait, err := false, error(nil)
			if proposed, wait, err = c.ask(ctx, n); err != nil || wait || c.ended || len(proposed) > 0 {
				return err
			}
		}
		return fmt.Errorf(`it proposed only configurations that it knows or that are not valid, %d times in a row: `+
			`ask for {"sample":1} to get a new one, or end the search with {"end":true}`, maxIdle)
	})
	return proposed, err
}

// within calls a function that exchanges messages with the program in its time. An error of it says what the program is, and
// how it has ended.
func (c *Strategy) within(ctx context.Context, task string, f func(ctx context.Context) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, errLate)
	defer cancel()
	err := f(limited)
	var ended *process.EndedError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		c.err = ctx.Err()
	case errors.As(err, &ended):
		c.err = fmt.Errorf("%s: it ended before it could %s: %s", c.name(), task, ended.End.Explain(""))
	case errors.Is(err, errLate):
		c.err = fmt.Errorf("%s: it did not %s within %s", c.name(), task, c.options.Timeout)
	default:
		c.err = fmt.Errorf("%s: %w", c.name(), err)
	}
	return c.err
}

var errLate = errors.New("the time is up")

// ask asks the program once. Wait means that it waits for results.
func (c *Strategy) ask(ctx context.Context, n int) (proposed []int, wait bool, err error) {
	messages := append(c.takeUntold(), message{Ask: n})
	for {
		var a answer
		if err := c.program.Ask(ctx, &a, messages...); err != nil {
			return nil, false, err
		}
		switch {
		case a.Ready != nil:
			return nil, false, fmt.Errorf(`it answered %s to {"ask":%d}`, a.text, n)
		case a.End != nil:
			c.ended = true
			return nil, false, nil
		case a.Propose != nil:
			return c.enter(*a.Propose, n)
		}
		reply, err := c.reply(a)
		if err != nil {
			return nil, false, fmt.Errorf("it asked %s: %w", a.text, err)
		}
		messages = []any{reply}
	}
}

// enter returns the new configurations among proposals. It is told again of those that it knows, and that others are not valid.
func (c *Strategy) enter(proposals []values, n int) (proposed []int, wait bool, err error) {
	if len(proposals) > n {
		return nil, false, fmt.Errorf(`it proposed %d configurations and was asked for at most %d`, len(proposals), n)
	}
	if len(proposals) == 0 && c.due == 0 {
		return nil, false, errors.New(`it proposed nothing, and no result is due: propose a configuration, or end the search with {"end":true}`)
	}
	for _, v := range proposals {
		row, err := rowOf(c.space.Parameters(), v)
		if err != nil {
			return nil, false, fmt.Errorf("it proposed a configuration that cannot be: %w", err)
		}
		i, valid := c.space.Find(row)
		switch known, twice := c.proposed[i]; {
		case !valid:
			c.untold = append(c.untold, outcome{Configuration: v, Status: invalid})
		case !twice:
			c.claim(i)
			proposed = append(proposed, i)
		case known != nil:
			c.untold = append(c.untold, c.outcomeOf(*known))
		}
	}
	// What is neither new nor told at once is due.
	return proposed, len(proposed) == 0 && len(c.untold) == 0, nil
}

// claim marks a configuration as proposed. It returns false if it was proposed before.
func (c *Strategy) claim(i int) bool {
	if _, twice := c.proposed[i]; twice {
		return false
	}
	c.proposed[i] = nil
	c.due++
	return true
}

// Tell is [search.Strategy]. The program is told when it is asked next.
func (c *Strategy) Tell(observations []search.Observation) {
	for _, o := range observations {
		if known, ok := c.proposed[o.Index]; ok && known == nil {
			c.due--
		} else if known != nil {
			continue
		}
		c.proposed[o.Index] = &o
		c.untold = append(c.untold, c.outcomeOf(o))
	}
}

// takeUntold returns the message that tells the program the results that it does not know, if there are any.
func (c *Strategy) takeUntold() []any {
	if len(c.untold) == 0 {
		return nil
	}
	defer func() { c.untold = nil }()
	return []any{message{Tell: c.untold}}
}

// Close tells the program the last results and ends it, unless it has ended.
func (c *Strategy) Close() {
	if c.closed = true; c.err == nil {
		limited, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = c.program.Tell(limited, c.takeUntold()...) // it need not listen
	}
	c.program.Close(c.err == nil)
}
