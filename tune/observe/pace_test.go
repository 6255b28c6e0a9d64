package observe

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

// TestPace reads the clock of devices, and why they have slowed themselves down.
func TestPace(t *testing.T) {
	s := standIn(t)
	s.clocks(1980, 3201)
	p := OpenPace(nvidia)
	if mhz, err := p.Clock(); !p.Clocked() || p.Waits() || mhz != 1980 || err != nil || p.Slowed() != nil {
		t.Errorf("%v MHz, %v, slowed by %v", mhz, err, p.Slowed())
	}
	s.heat(90, 0x40|0x04|0x01)
	if got := p.Slowed(); !reflect.DeepEqual(got, []string{"power cap", "temperature, by hardware"}) {
		t.Errorf("slowed by %v", got)
	}
	s.clocks(0, 0)
	if _, err := p.Clock(); err == nil {
		t.Error("0 MHz is a clock")
	}
	if p.Close(); s.open() != 0 {
		t.Error("the library is still open")
	}

	amd := openPace(hardware.Device{Type: "gpu", Vendor: "AMD", PCI: "0000:03:00.0"}, files{recorded(t, "amd"), "/sys"})
	if mhz, err := amd.Clock(); mhz != 2105 || err != nil || amd.Slowed() != nil {
		t.Errorf("AMD: %v MHz, %v", mhz, err)
	}
	amd.Close()
	unknown := openPace(hardware.Device{Type: "gpu", Vendor: "AMD"}, files{recorded(t, "amd"), "/sys"})
	if unknown.Clocked() || unknown.Waits() || unknown.Slowed() != nil {
		t.Errorf("a device without an address has %+v", unknown)
	}
	unknown.Close()
	(*Pace)(nil).Close()

	cpu := OpenPace(hardware.Device{Type: "cpu"})
	defer cpu.Close()
	if cpu.Clocked() || cpu.Waits() != (runtime.GOOS == "linux") {
		t.Errorf("a CPU has %+v", cpu)
	}
	if !cpu.Waits() {
		return
	}
	if err := cpu.Begin(); err != nil {
		t.Fatal(err)
	}
	if share, _, err := cpu.Waited(); err != nil || !(share >= 0 && share < 1) {
		t.Errorf("threads waited %v of the time, %v", share, err)
	}
}

// TestThreadsThatWait reads recorded threads: two of a kernel, one that ends, one that is new, and one that wakes for a moment.
func TestThreadsThatWait(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("threads are counted on Linux only")
	}
	p := &Pace{threads: threadsOf(t.TempDir())}
	write := func(thread, text string) {
		t.Helper()
		folder := filepath.Join(p.threads.folder, thread)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "schedstat"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for thread, text := range map[string]string{"7": "1000000 500 3\n", "8": "4000 20000 9\n", "9": "50 60 1\n", "10": "100 0 1\n"} {
		write(thread, text)
	}
	if err := p.Begin(); err != nil {
		t.Fatal(err)
	}
	if share, ran, err := p.Waited(); err != nil || share != 0 || ran != 0 {
		t.Errorf("nothing ran: %v, %v", share, err)
	}
	for thread, text := range map[string]string{"7": "1009000 9500 5\n", "8": "13000 47000 9\n", "10": "1100 1000000 2\n", "11": "1000 0 1\n"} {
		write(thread, text)
	}
	if err := os.RemoveAll(filepath.Join(p.threads.folder, "9")); err != nil {
		t.Fatal(err)
	}
	// 7 ran 9000 and waited 9000, 8 ran 9000 and waited 27000, 10 ran 1000 and waited very long, 11 ran 1000.
	want := (9000*0.5 + 9000*0.75 + 1000*(1e6/1.001e6)) / 20000
	if share, ran, err := p.Waited(); err != nil || ran != 20000 || math.Abs(share-want) > 1e-9 {
		t.Errorf("threads waited %v of the time, want %v; %v", share, want, err)
	}
	write("11", "no number")
	if _, _, err := p.Waited(); err == nil {
		t.Error("a text is a count")
	}
	p.Close()
}
