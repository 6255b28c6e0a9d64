//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// inputs finds the number of inputs in the lines that go test prints while it fuzzes.
var inputs = regexp.MustCompile(`^fuzz: elapsed: \S+ execs: (\d+) .*new interesting: (\d+)`)

// fuzz runs each fuzz target of the module, one after the other, and prints a table. Inputs that are new to the coverage are kept in Go's
// build cache, and those that fail in the target's folder testdata/fuzz.
func fuzz(ctx context.Context, each time.Duration) error {
	listed, err := exec.CommandContext(ctx, "go", "list", "./...").Output()
	if err != nil {
		return err
	}
	fmt.Printf("%-50s %-22s %12s %12s  result\n", "package", "target", "inputs", "interesting")
	failed := false
	for _, p := range strings.Fields(string(listed)) {
		targets, err := exec.CommandContext(ctx, "go", "test", "-list", "^Fuzz", p).Output()
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		for _, target := range strings.Fields(string(targets)) {
			if !strings.HasPrefix(target, "Fuzz") {
				continue
			}
			command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+target+"$", "-fuzztime", each.String(), p)
			command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
			out, err := command.StdoutPipe()
			if err != nil {
				return err
			}
			if err := command.Start(); err != nil {
				return err
			}
			executions, interesting, rest := "0", "0", []string{}
			for s := bufio.NewScanner(out); s.Scan(); {
				if m := inputs.FindStringSubmatch(s.Text()); m != nil {
					executions, interesting = m[1], m[2]
				} else {
					rest = append(rest, s.Text())
				}
			}
			result := "passed"
			if command.Wait() != nil {
				result, failed = "FAILED", true
			}
			fmt.Printf("%-50s %-22s %12s %12s  %s\n", p, target, executions, interesting, result)
			if result == "FAILED" {
				fmt.Println(strings.Join(rest, "\n"))
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	if failed {
		return errors.New("a target failed")
	}
	return nil
}
