package ui

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestExitStatus: only a command that a signal stopped is interrupted, and only if nothing else failed.
func TestExitStatus(t *testing.T) {
	full := errors.New("no space left on device")
	cancelled := fmt.Errorf("wait for the lock: %w", context.Canceled)
	for _, c := range []struct {
		err              error
		status, signaled int // without and with a signal
	}{
		{nil, 0, 0},
		{context.Canceled, 3, 130},
		{cancelled, 3, 130},
		{errors.Join(cancelled, context.Canceled), 3, 130},
		{errors.Join(full, context.Canceled), 3, 3},
		{fmt.Errorf("write: %w", errors.Join(context.Canceled, full)), 3, 3},
		{Joined([]error{context.Canceled, full}), 3, 3},
		{Joined([]error{errors.Join(context.Canceled, full), ErrIncorrect}), 3, 3},
		{full, 3, 3},
		{ErrReported, 3, 3},
		{ErrIncorrect, 1, 1},
		{Joined([]error{ErrIncorrect, ErrReported, ErrIncorrect}), 3, 3},
		{Joined([]error{ErrIncorrect, context.Canceled}), 3, 130},
		{Wrong("--log: %w", full), 2, 2},
		{errors.Join(context.Canceled, Wrong("--log: %w", full)), 2, 2},
	} {
		if status, signaled := ExitStatus(c.err, false), ExitStatus(c.err, true); status != c.status || signaled != c.signaled {
			t.Errorf("%v: %d, and %d after a signal; want %d and %d", c.err, status, signaled, c.status, c.signaled)
		}
	}
}
