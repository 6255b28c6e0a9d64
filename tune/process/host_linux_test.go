package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	mark = "NDTUNE_TEST_CHILD"
	mode = "NDTUNE_TEST_MODE" // what a child does
)

// TestMain lets the test binary be its own child.
func TestMain(m *testing.M) {
	if Marked(mark) {
		os.Exit(serve(os.Getenv(mode)))
	}
	os.Exit(m.Run())
}

// serve doubles numbers, or does what no child should.
func serve(how string) int {
	switch how {
	case "exit":
		return 3
	case "garbage":
		fmt.Println(strings.Repeat("no message ", 100))
		time.Sleep(time.Hour)
	case "grandchild", "daemon":
		c := exec.Command("sleep", "1000")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: how == "daemon"}
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "grandchild", c.Process.Pid)
	}
	p, err := Connect[int, int]("test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("printed")
	p.Listen(func(n int) {
		switch n {
		case 0:
			os.Exit(7)
		case 1:
			_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
			select {}
		}
		p.Send(2 * n)
	})
	return 0
}

// patience bounds the wait for an event that comes at once unless something is wrong.
const patience = 5 * time.Minute

func start(t *testing.T, how string) (*Host[int, int], *Child[int, int]) {
	t.Helper()
	h := NewHost[int, int]("test", mark, nil)
	h.Environment = []string{mode + "=" + how}
	c, err := h.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Kill()
		h.Close()
	})
	return h, c
}

func next(t *testing.T, h *Host[int, int]) Event[int, int] {
	t.Helper()
	select {
	case e := <-h.Events:
		return e
	case <-time.After(patience):
		t.Fatal("nothing happens")
	}
	panic("not reached")
}

func TestAChildAnswersAndEnds(t *testing.T) {
	for n, want := range map[int]string{-1: "with exit status 0", 0: "with exit status 7", 1: "by signal SIGSEGV (segmentation"} {
		h, c := start(t, "")
		c.Requests <- 21
		if e := next(t, h); e.Child != c || e.Answer != 42 || e.End != nil {
			t.Errorf("%+v", e)
		}
		if n >= 0 {
			c.Requests <- n
		}
		close(c.Requests)
		e := next(t, h)
		if e.End == nil || !strings.HasPrefix(e.End.Cause(), want) || !strings.Contains(e.End.Explain(""), "it printed last: printed") || e.End.FromOutside() {
			t.Errorf("%d: %+v, want %s", n, e.End, want)
		}
	}
}

// TestAsk: a host asks a child until it ends, or until there is no more time, and stops it then. The end of another child changes nothing.
func TestAsk(t *testing.T) {
	h, c := start(t, "")
	other, err := h.Start(mode + "=exit")
	if err != nil {
		t.Fatal(err)
	}
	if a, err := h.Ask(t.Context(), c, 21); a != 42 || err != nil {
		t.Errorf("%d, %v", a, err)
	}
	late := errors.New("it is late")
	limited, cancel := context.WithTimeoutCause(t.Context(), 0, late)
	defer cancel()
	if _, err := h.Next(limited, c); err != late {
		t.Errorf("%v, not %v", err, late)
	}
	var ended *EndedError
	if _, err := h.Ask(t.Context(), c, 0); !errors.As(err, &ended) || ended.End.Cause() != "with exit status 7" {
		t.Errorf("%v", err)
	}
	if end := h.Stop(c); end != ended.End {
		t.Errorf("%+v, not %+v", end, ended.End)
	}
	if end := h.Stop(other); end == nil || end.Cause() != "with exit status 3" && !strings.HasPrefix(end.Cause(), "by signal SIGKILL") {
		t.Errorf("%+v", end)
	}
}

func TestAChildKilledFromOutside(t *testing.T) {
	h, c := start(t, "")
	_ = syscall.Kill(c.PID(), syscall.SIGTERM)
	if e := next(t, h); e.End == nil || !e.End.FromOutside() || e.End.Cause() != "by signal SIGTERM (terminated)" {
		t.Errorf("%+v", e)
	}
	close(c.Requests)
}

func TestGarbage(t *testing.T) {
	h, c := start(t, "garbage")
	e := next(t, h)
	if e.End == nil || e.End.Garbled == nil || e.End.FromOutside() || !strings.HasPrefix(e.End.Cause(), "by signal SIGKILL (killed), after a message that makes no sense (") {
		t.Errorf("%+v", e)
	}
	close(c.Requests)
}

// TestPipesThatAreHeldOpen stops children of which another process holds the pipes. What belongs
// to their group is killed with them.
func TestPipesThatAreHeldOpen(t *testing.T) {
	for _, how := range []string{"grandchild", "daemon"} {
		t.Run(how, func(t *testing.T) {
			h, c := start(t, how)
			c.Requests <- 1000
			next(t, h)
			end := h.Stop(c)
			if end == nil {
				t.Fatal("the child has no end")
			}
			pid := 0
			if _, err := fmt.Sscanf(end.Printed, "grandchild %d", &pid); err != nil {
				t.Fatalf("%q: %v", end.Printed, err)
			}
			if how == "grandchild" {
				waitForEnd(t, pid)
			} else if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Errorf("the daemon, which has a session of its own, is gone: %v", err)
			}
		})
	}
}

// waitForEnd waits until a process ends that is no child of this one.
func waitForEnd(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if n == 0 || err != nil {
			t.Errorf("process %d does not end (%v)", pid, err)
		}
		return
	}
}

// TestNoSignalReachesAnotherProcess gives the number of a child that has ended, which its owner
// does not know yet, to another process.
func TestNoSignalReachesAnotherProcess(t *testing.T) {
	const attempts = 50 // others start processes too
	for range attempts {
		h, p := start(t, "exit")
		close(p.Requests)
		for next(t, h).End == nil {
		}
		number := p.PID()
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(number-1)), 0); err != nil {
			t.Skipf("the next process's number cannot be chosen: %v", err)
		}
		other := exec.Command("sleep", "1000")
		other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		same := other.Process.Pid == number
		if same {
			p.Freeze()
			p.Kill()
		}
		// Of two signals that end a process the first one counts.
		_ = other.Process.Signal(unix.SIGTERM)
		_ = other.Wait()
		if !same {
			continue
		}
		if s := other.ProcessState.Sys().(syscall.WaitStatus).Signal(); s != unix.SIGTERM {
			t.Errorf("another process was ended by %s", s)
		}
		return
	}
	t.Skipf("the number of the child was taken %d times", attempts)
}
