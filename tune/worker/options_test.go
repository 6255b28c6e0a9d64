package worker

import (
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

func TestWorkersFor(t *testing.T) {
	const gib = 1 << 30
	cpu := func(memory int64) hardware.Device {
		return hardware.Device{Type: "cpu", UnifiedMemory: true, GlobalMemory: memory}
	}
	gpu := func(memory int64) hardware.Device { return hardware.Device{Type: "gpu", GlobalMemory: memory} }
	integrated := hardware.Device{Type: "gpu", UnifiedMemory: true, GlobalMemory: 8 * gib}
	for _, c := range []struct {
		what    string
		cores   int
		d       hardware.Device
		devices int64
		buffers int64
		want    int
	}{
		{"a server", 32, cpu(256 * gib), 1, 100 << 20, 32},
		{"one core", 1, cpu(256 * gib), 1, 0, 1},
		{"memory that nobody tells", 12, hardware.Device{Type: "cpu"}, 1, gib, 12},
		{"a small machine", 16, cpu(4 * gib), 1, 0, 5},
		{"large buffers", 16, cpu(64 * gib), 1, 4 * gib, 1},
		{"buffers that do not fit", 16, cpu(4 * gib), 1, 64 * gib, 1},
		{"an H200", 16, gpu(140 * gib), 1, gib, 16},
		{"a card that is nearly full", 16, gpu(8 * gib), 1, gib, 2},
		{"four such cards", 16, gpu(8 * gib), 4, gib, 8},
		{"four cards in a small machine", 16, gpu(140 * gib), 4, gib, 16},
		{"a small card", 16, gpu(2 * gib), 1, 0, 1},
		{"a full card", 16, gpu(8 * gib), 1, 3 * gib, 1},
		{"a GPU in the processor", 16, integrated, 1, 100 << 20, 9},
		{"a small card of CUDA, where builders have no context", 16, hardware.Device{Type: "gpu", Platform: hardware.CUDA, GlobalMemory: 2 * gib}, 1, 0, 16},
		{"a GPU of CUDA in the processor", 16, hardware.Device{Type: "gpu", Platform: hardware.CUDA, GlobalMemory: 8 * gib, UnifiedMemory: true}, 1, 100 << 20, 9},
	} {
		if got := workersFor(c.cores, c.d, c.devices, c.buffers); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}

func TestBufferBytes(t *testing.T) {
	p := faulty(t)
	if got := bufferBytes(p, hardware.Device{Type: "cpu"}); got != 256*4+16*4 {
		t.Errorf("%d B", got)
	}
	if n := defaultWorkers(p, hardware.Device{Type: "cpu", GlobalMemory: 1}, 1); n != 1 {
		t.Errorf("%d workers without memory", n)
	}
}
