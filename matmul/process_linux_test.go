package matmul

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// misbehaviour lets a process of the tests do what no library should.
const misbehaviour = "NDTUNE_TEST_MATMUL"

// misbehave starts a process that outlives this one and holds its standard output and error, or
// answers garbage and goes on.
func misbehave() {
	if os.Getenv(environment) == "" {
		return
	}
	switch how := os.Getenv(misbehaviour); how {
	case "grandchild", "daemon":
		c := exec.Command("sleep", "1000")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: how == "daemon"}
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "grandchild", c.Process.Pid)
	case "garbage":
		fmt.Println(answerMark + "{")
		select {}
	}
}

// TestProcessThatIsHeldOpen ends processes of which another one holds the pipes, and one that
// does not end after an answer without sense. Each call returns.
func TestProcessThatIsHeldOpen(t *testing.T) {
	for _, how := range []string{"grandchild", "daemon", "garbage"} {
		t.Run(how, func(t *testing.T) {
			t.Setenv(misbehaviour, how)
			p := &Process{Entrant: Entrant{Name: "loop", Kind: Loop, Iterations: 1}}
			over := make(chan error, 1)
			go func() {
				_, err := p.About(t.Context())
				p.Close()
				over <- err
			}()
			select {
			case err := <-over:
				if garbage := how == "garbage"; garbage != (err != nil) || garbage && !strings.Contains(err.Error(), "makes no sense") {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("the process is waited for still")
			}
			var pid int
			for line := range strings.Lines(string(p.printed.text)) {
				_, _ = fmt.Sscanf(line, "grandchild %d", &pid)
			}
			if pid == 0 {
				return
			}
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			alive := err == nil && !strings.Contains(string(status), ") Z ")
			if how == "daemon" { // of a group of its own
				_ = syscall.Kill(pid, syscall.SIGKILL)
			} else if alive {
				t.Errorf("what the process has started is left: %s", status)
			}
		})
	}
}
