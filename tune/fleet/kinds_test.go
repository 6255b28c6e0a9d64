package fleet

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

// TestKinds: two agents with devices of one kind, of which one knows the peaks, and one with another are two kinds, once all are there.
func TestKinds(t *testing.T) {
	s := listen(t)
	c := connect(t, s)
	if _, err := c.Kinds(t.Context(), 0, nil); err == nil || err.Error() != "the fleet has no device: start an agent there (ndtune agent --fleet URL)" {
		t.Errorf("error %v", err)
	}
	waits, ended := make(chan string, 10), make(chan struct{})
	var kinds []Kind
	var err error
	go func() {
		defer close(ended)
		kinds, err = c.Kinds(t.Context(), 3, func(text string) { waits <- text })
	}()
	if text := <-waits; text != "Waiting for 3 agents; the fleet has 0." {
		t.Error(text)
	}
	known, other := gpu, gpu
	known.Peaks, other.Name = &hardware.Peaks{}, "other"
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	defer all.Wait()
	defer cancel()
	for machine, d := range map[string]hardware.Device{"a": gpu, "b": known, "c": other} {
		a, own := &Agent{Machine: machine, Devices: []Device{{Selector: "0:0", Identity: d}}}, connect(t, s)
		all.Go(func() { _ = a.Run(ctx, own) })
	}
	<-ended
	if err != nil || len(kinds) != 2 {
		t.Fatalf("%+v, %v", kinds, err)
	}
	if one := kinds[0]; len(one.Devices) != 2 || one.Identity.Peaks == nil || kinds[1].Devices[0].Machine != "c" {
		t.Errorf("%+v", kinds)
	}
	listed := Listed(kinds)
	cuda := Listed([]Kind{{Identity: gpu}, {Identity: hardware.Device{Platform: hardware.CUDA}}, {Identity: hardware.Device{Platform: hardware.CUDA, Name: "2"}}})
	if got := []string{cuda[0].Selector(), cuda[1].Selector(), cuda[2].Selector()}; !slices.Equal(got, []string{"0:0", "cuda:0", "cuda:1"}) {
		t.Errorf("kinds of CUDA: %v", got)
	}
	if names := []string{listed[0].Name, listed[1].Name}; !slices.Equal(names, []string{"GPU", "other"}) || listed[1].Index != 1 {
		t.Errorf("%+v", listed)
	}
}
