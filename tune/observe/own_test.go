package observe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
)

// The test's program is also the command that it starts: the variable says how the command behaves.
const behaviour = "OBSERVE_TEST_COMMAND"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviour); how != "" {
		meterCommand(how)
		return
	}
	os.Exit(m.Run())
}

// TestChildrenOfCommands: the processes that a command has started end with it. They hold a pipe open.
func TestChildrenOfCommands(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip("this system has no mkfifo")
	}
	c := newCommand([]string{"sh", "-c", "exec 9>" + pipe + "; sleep 30 & read line; echo '{}'; wait"}, "", time.Minute, hardware.Device{})
	began := make(chan error)
	go func() { began <- c.Begin(Frame{}) }()
	open, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := <-began; err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	_ = open.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := open.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a child of the command is still there: %v", err)
	}
}

// meterCommand answers with the launches of the observation, and the number of observations so far.
func meterCommand(how string) {
	lines := bufio.NewScanner(os.Stdin)
	for n := 0; lines.Scan(); {
		var question struct {
			Begin, End *struct {
				Launches int
				Seconds  float64
				Times    []float64
				Kernel   string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &question); err != nil {
			os.Exit(3)
		}
		if question.Begin != nil {
			n++
			fmt.Println("{}")
			continue
		}
		switch {
		case how == "crash" && n == 2:
			os.Exit(1)
		case how == "silent":
		case how == "garbage":
			fmt.Println("71.5 W")
		case how == "regret" && n == 2:
			fmt.Println(`{"error": "it rains"}`)
		case how == "nothing":
			fmt.Println(`{"calls": 2, "device": 12, "times": null}`)
		default:
			data, _ := json.Marshal(map[string]any{"calls": question.End.Launches, "times": n, "device": len(os.Getenv("NDTUNE_DEVICE_PCI"))})
			fmt.Println(string(data))
		}
	}
}

func instant(int) (func() error, error) {
	return func() error { return nil }, nil
}

// TestCommands observes some kernels with commands that work, fall silent, crash and print nonsense.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		how   string
		times []string // each the number of observations that the command has seen, or part of the reason
	}{
		{"good", []string{"1", "2", "3"}},
		{"crash", []string{"1", "the process ended with exit status 1", "1", "the process ended"}},
		{"regret", []string{"1", "it rains", "3", "4"}}, // it goes on
		{"nothing", []string{"gave no value of times"}},
		{"silent", []string{
			"did not answer within 200ms", "did not answer", "failed 3 times in a row, and is not used any more", "is not used any more",
		}},
		{"garbage", []string{`it wrote on standard output, where its answer belongs, 71.5 W: want a JSON object of numbers`}},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Setenv(behaviour, c.how)
			timeout := 200 * time.Millisecond
			if c.how != "silent" {
				timeout = time.Minute
			}
			m := open(hardware.Device{Type: "cpu", PCI: "0000:01:00.0"}, []string{"calls", "times", "device"}, files{fstest.MapFS{}, "/sys"},
				[]Own{{Quantities: []string{"calls", "times", "device"}, Command: []string{os.Args[0]}, Timeout: timeout}})
			defer m.Close()
			m.limits.least = 0
			for i, want := range c.times {
				readings, err := m.Observe(context.Background(), Subject{Launch: time.Second, Load: instant})
				if err != nil {
					t.Fatal(err)
				}
				calls, times, device := readings[0], readings[1], readings[2]
				switch {
				case len(want) > 1:
					if !strings.Contains(times.Missing, want) || !strings.HasPrefix(times.Missing, os.Args[0]) {
						t.Errorf("observation %d: %+v, want «%s»", i, times, want)
					}
				case fmt.Sprint(times.Value) != want || calls.Value != 2 || device.Value != 12:
					t.Errorf("observation %d: %+v", i, readings)
				}
			}
		})
	}
}

// litres is an instrument in Go.
type litres struct{ begun, closed int }

func (l *litres) Begin(Frame) error { l.begun++; return nil }
func (l *litres) End(Frame) (map[string]float64, error) {
	if l.begun == 2 {
		return nil, errors.New("the pipe leaks")
	}
	return map[string]float64{"litres": float64(l.begun)}, nil
}
func (l *litres) Close() error { l.closed++; return nil }

// TestOwnInstrument opens an instrument again after a failure.
func TestOwnInstrument(t *testing.T) {
	l, opened := &litres{}, 0
	own := Own{Name: "gauge", Quantities: []string{"litres"}, Open: func(d hardware.Device) (Instrument, error) {
		if opened++; opened > 2 {
			return nil, errors.New("the tap of " + d.Name + " is closed")
		}
		return l, nil
	}}
	m := open(hardware.Device{Name: "device", Type: "cpu"}, []string{"litres"}, files{fstest.MapFS{}, "/sys"}, []Own{own})
	m.limits.least = 0
	var got []string
	for range 3 {
		readings, err := m.Observe(context.Background(), Subject{Launch: time.Second, Load: instant})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%g%s", readings[0].Value, readings[0].Missing))
	}
	m.Close()
	if text := strings.Join(got, "; "); text != "1; NaNgauge: the pipe leaks; 3" || opened != 2 || l.closed != 2 {
		t.Errorf("%s; opened %d times, closed %d times", text, opened, l.closed)
	}
}
