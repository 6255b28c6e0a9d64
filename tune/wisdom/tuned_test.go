package wisdom

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
)

func TestMain(m *testing.M) {
	standin.Use()
	flag.Parse()
	if _, err := device.List(); err != nil && os.Getenv("NDTUNE_REQUIRE_OPENCL") == "" {
		if err := flag.Set("test.skip", "^ExampleTuned"); err != nil {
			panic(err)
		}
	}
	os.Exit(standin.Main(m))
}

// testDevice is the device of NDTUNE_TEST_DEVICE, else a CPU.
func testDevice(t *testing.T) *cl.Device {
	t.Helper()
	all, err := device.List()
	if err != nil && os.Getenv("NDTUNE_REQUIRE_OPENCL") == "" {
		t.Skipf("no OpenCL device: %v", err)
	}
	selector := os.Getenv("NDTUNE_TEST_DEVICE")
	if selector == "" {
		selector = "cpu"
	}
	chosen, err := device.Select(all, selector)
	if err != nil {
		t.Fatal(err)
	}
	return chosen.Device
}

// A closing evaluator counts how often it is closed.
type closing struct {
	*device.Evaluator
	closed *int
}

func (c closing) Close() { *c.closed++; c.Evaluator.Close() }

// TestTuned: a search that fails or is interrupted leaves nothing; one that does not is kept, with the evaluator
// of the caller, and is known the next time, when no evaluator is opened.
func TestTuned(t *testing.T) {
	d, p := testDevice(t), groups(t, 64)
	path := filepath.Join(t.TempDir(), "k.wisdom")
	opened, closed := 0, 0
	o := Options{File: path, Open: func(context.Context) (Evaluator, error) {
		if opened++; opened == 1 {
			return nil, errors.New("no memory")
		}
		e, err := device.Open(d, p, device.Options{})
		return closing{e, &closed}, err
	}}
	if _, err := Tuned(t.Context(), d, p, o); err == nil || err.Error() != "no memory" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Run.OnResult = func(tune.Result, bool) { cancel() }
	if _, err := Tuned(ctx, d, p, o); !errors.Is(err, context.Canceled) || closed != 1 {
		t.Errorf("%v, closed %d times", err, closed)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("the folder has %v", left)
	}
	o.Run.OnResult = nil
	first, err := Tuned(t.Context(), d, p, o)
	if err != nil || !first.Searched || first.Outcome == nil || len(first.Outcome.Results) != 6 || closed != 2 {
		t.Fatalf("%v, closed %d times: %+v", err, closed, first)
	}
	again, err := Tuned(t.Context(), d, p, o)
	if err != nil || again.Searched || again.Outcome != nil || again.Configuration.Key() != first.Configuration.Key() || opened != 3 {
		t.Fatalf("%v, opened %d times: %+v", err, opened, again)
	}
	if again.Variant.Source == "" || again.Variant.Launches[0].NDRange.Local[0] != again.Configuration.Int("block_size_x") {
		t.Errorf("%+v", again.Variant)
	}
}
