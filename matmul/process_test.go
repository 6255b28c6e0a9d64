package matmul

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestProcess(t *testing.T) {
	l := testDevice(t)
	for _, test := range []struct {
		entrant    Entrant
		candidates Candidates
	}{
		{Entrant{Name: "loop", Kind: Loop, Precision: Float, Iterations: 2}, Candidates{}},
		{
			Entrant{Name: "naive", Kind: OnDevice, Precision: Float, Device: l.Selector(), Iterations: 2},
			Candidates{Near: []string{"block_size_x=16, block_size_y=4, coalesced=1"}},
		},
	} {
		t.Run(test.entrant.Name, func(t *testing.T) {
			p := &Process{Entrant: test.entrant}
			defer p.Close()
			if about, err := p.About(t.Context()); err != nil || about == "" {
				t.Fatalf("%q, %v", about, err)
			}
			for _, n := range []int{10, 33} {
				m, err := p.Measure(t.Context(), Square(n), test.candidates)
				if err != nil || m.Shape.N != n || len(m.Alone) < 2 {
					t.Errorf("%+v, %v", m, err)
				}
			}
			if test.entrant.Kind == OnDevice {
				_, err := p.Measure(t.Context(), Square(10), Candidates{Near: []string{"tile=1"}})
				if err == nil || !strings.Contains(err.Error(), "tile=1") {
					t.Errorf("%v", err)
				}
			}
			// A process that is gone costs what it was at; the next one takes its place.
			running, err := os.FindProcess(p.child.PID())
			if err == nil {
				err = running.Kill()
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Measure(t.Context(), Square(10), test.candidates)
			if err == nil || !strings.Contains(err.Error(), "the process of "+test.entrant.Name+" ended ") {
				t.Errorf("%v", err)
			}
			if _, err := p.Measure(t.Context(), Square(10), test.candidates); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProcessIsCancelled(t *testing.T) {
	p := &Process{Entrant: Entrant{Name: "loop", Kind: Loop, Precision: Float, Iterations: 1}}
	defer p.Close()
	if _, err := p.About(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if _, err := p.Measure(ctx, Square(6000), Candidates{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if p.child != nil {
		t.Error("the process is still there")
	}
}

func TestProcessOfAMissingLibrary(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "")
	p := &Process{Entrant: Entrant{Name: "cuBLAS", Kind: CuBLAS, Precision: Float, Iterations: 1}}
	defer p.Close()
	_, err := p.About(t.Context())
	var missing *MissingError
	if err == nil {
		t.Skip("cuBLAS is there")
	}
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "pip install") {
		t.Errorf("%v", err)
	}
}
