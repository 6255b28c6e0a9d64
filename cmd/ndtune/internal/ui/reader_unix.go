//go:build unix

package ui

import (
	"context"
	"errors"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// stopWithoutReader calls stop when nobody can read standard output any more: the process that started the program was killed, say.
// A kernel that runs for long, or forever, would else outlive it, because no line is written that fails. From now on a write without
// a reader is an error, not the end of the program, so that it ends in order and removes its folders. The signal is caught, and not
// ignored, because programs that are started inherit what is ignored.
func stopWithoutReader(stop context.CancelFunc) {
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	go func() {
		for {
			output := []unix.PollFd{{Fd: int32(unix.Stdout)}}
			_, err := unix.Poll(output, -1)
			switch {
			case errors.Is(err, unix.EINTR):
			case err != nil:
				return
			case output[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
				stop()
				return
			default: // POLLNVAL: there is no standard output
				return
			}
		}
	}()
}
