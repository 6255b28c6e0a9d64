package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/standin/screen"
)

// TestTerminalOfASearch gives the program a terminal for all that it prints.
func TestTerminalOfASearch(t *testing.T) {
	d := needDevice(t)
	for _, dumb := range []bool{false, true} {
		folder := specFolder(t)
		terminal := screen.Open(t, screen.Size{Rows: 24, Columns: 150})
		c := exec.Command("ndtune", "tune", "faults.yaml", "--device", d.Selector)
		c.Dir, c.Stdout, c.Stderr = folder, terminal.Slave, terminal.Slave
		c.Env = append(programEnvironment(folder), "TERM=xterm")
		if dumb {
			c.Env = append(c.Env, "TERM=dumb")
		}
		err := c.Run()
		printed := terminal.HangUp()
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		lines := screen.Shown(t, terminal.Size, printed)
		if all := strings.Join(lines, "\n"); !strings.HasPrefix(lines[0], "Using: ") || strings.Contains(all, "█") || strings.Contains(all, "░") || !strings.Contains(all, "\nbest performing configuration: ") {
			t.Errorf("TERM=dumb %v: at the end the screen shows\n%s", dumb, all)
		}
		for _, part := range []string{`  0% ░{20}  0 of \d+ configurations`, `best [\d.]+ms\x1b\[m  fault=`, `\x1b\[33m.*[12] did not compile`, `, \d+s left`} {
			if found := regexp.MustCompile(part).MatchString(printed); found == dumb {
				t.Errorf("TERM=dumb %v: %s was shown: %v\n%q", dumb, part, found, printed)
			}
		}
	}
}

// TestLinesOnATerminal: they are columns of the parameters that vary. Elsewhere they have all parameters.
func TestLinesOnATerminal(t *testing.T) {
	d := needDevice(t)
	folder := specFolder(t)
	terminal := screen.Open(t, screen.Size{Rows: 24, Columns: 150})
	c := exec.Command("ndtune", "tune", "add.yaml", "--device", d.Selector, "-p", "per_item=1", "-p", "block_size_x=8,16,1024")
	c.Dir, c.Stdout, c.Stderr = folder, terminal.Slave, terminal.Slave
	c.Env = append(programEnvironment(folder), "TERM=xterm")
	err := c.Run()
	printed := terminal.HangUp()
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	all := strings.Join(screen.Shown(t, terminal.Size, printed), "\n")
	for _, line := range []string{
		`fixed: per_item=1`,
		`block_size_x=8     time=[\d.]+ms +GB/s=[\d.]+`,
		`block_size_x=16    time=[\d.]+ms +GB/s=[\d.]+`,
		`block_size_x=1024  time=[\d.]+ms +GB/s=[\d.]+( +measured once)?`,
		`best performing configuration: block_size_x=\d+, per_item=1, time=.*`,
	} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(all) {
			t.Errorf("the screen shows no line %s:\n%s", line, all)
		}
	}
}
