package record

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
)

// peaked is a device with peaks.
func peaked() hardware.Device {
	return hardware.Device{
		Name: "Device 9000 (TM)", Vendor: "V", Platform: "P", Driver: "1.2", Version: "OpenCL 3.0", Timer: hardware.TimerEvent, ComputeUnits: 4,
		Peaks: &hardware.Peaks{
			Method: 3, Measured: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Timer: hardware.TimerHost,
			Figures: map[string]hardware.Peak{
				hardware.PeakMemoryCopy: {Value: 4270.125, Unit: "GB/s", Variant: "float4"},
				hardware.PeakFloat16:    {Unit: "GFLOP/s", Missing: "the device has no half precision"},
			},
			Copy: []hardware.Bandwidth{{Bytes: 1 << 18, Rate: 8000.5}, {Bytes: 1 << 28, Rate: 4270.125}},
		},
	}
}

// inFolder gives the test a state folder of its own.
func inFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"XDG_STATE_HOME", "LocalAppData"} {
		t.Setenv(name, folder)
	}
	return folder
}

func TestPeaksAreKept(t *testing.T) {
	folder := inFolder(t)
	d := peaked()
	bare := d
	bare.Peaks, bare.Timer = nil, ""
	if got, err := KnownPeaks(bare, 3); got != nil || err != nil {
		t.Errorf("before: %+v, %v", got, err)
	}
	if err := KeepPeaks(d); err != nil {
		t.Fatal(err)
	}
	if got, err := KnownPeaks(bare, 3); err != nil || !reflect.DeepEqual(got, d.Peaks) {
		t.Errorf("%+v, %v; want %+v", got, err, d.Peaks)
	}
	for what, change := range map[string]func(*hardware.Device){
		"driver": func(d *hardware.Device) { d.Driver = "1.3" }, "card": func(d *hardware.Device) { d.UUID = "01" },
		"slot": func(d *hardware.Device) { d.PCI = "0000:01:00.0" }, "part": func(d *hardware.Device) { d.ComputeUnits = 2 },
	} {
		other := bare
		change(&other)
		if got, err := KnownPeaks(other, 3); got != nil || err != nil {
			t.Errorf("another %s: %+v, %v", what, got, err)
		}
	}
	if got, err := KnownPeaks(bare, 4); got != nil || err != nil {
		t.Errorf("another method: %+v, %v", got, err)
	}
	d.Peaks.Figures[hardware.PeakMemoryCopy] = hardware.Peak{Value: 1, Unit: "GB/s"}
	if err := KeepPeaks(d); err != nil {
		t.Fatal(err)
	}
	if got, err := KnownPeaks(bare, 3); err != nil || got.Value(hardware.PeakMemoryCopy) != 1 {
		t.Errorf("measured anew: %+v, %v", got, err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "ndtune", "peaks", "*"))
	if err != nil || len(files) != 1 || !strings.HasPrefix(filepath.Base(files[0]), "device-9000-tm-") {
		t.Errorf("the files are %v, %v", files, err)
	}
}

func TestPeaksThatCannotBeRead(t *testing.T) {
	inFolder(t)
	d := peaked()
	path, err := peaksPath(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := KeepPeaks(d); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) - 2 {
		if err := os.WriteFile(path, whole[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := KnownPeaks(d, 3); got != nil || err == nil || !strings.Contains(err.Error(), path) {
			t.Fatalf("cut after %d bytes: %+v, %v", n, got, err)
		}
	}
	if err := KeepPeaks(d); err != nil {
		t.Fatal(err)
	}
	if got, err := KnownPeaks(d, 3); got == nil || err != nil {
		t.Errorf("kept anew: %+v, %v", got, err)
	}
}

// Peaks go with the device through a log and through T4, a run on the device without them, or
// with others, resumes the log, and its header stays.
func TestRecordsHoldPeaks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	h := Header{Device: peaked(), Parameters: nil, Iterations: 7, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if begun := Begun(path); begun != nil {
		t.Errorf("before it began: %+v", begun)
	}
	l, err := Open(path, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if begun := Begun(path); begun == nil || !reflect.DeepEqual(begun.Device, h.Device) {
		t.Errorf("%+v", begun)
	}
	later := h
	later.Device.Peaks = nil
	if l, err = Open(path, later); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(l.Header().Device, h.Device) {
		t.Errorf("%+v", l.Header().Device)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := EncodeT4(&b, &Record{Header: h}); err != nil {
		t.Fatal(err)
	}
	if r, err := Decode(b.Bytes()); err != nil || !reflect.DeepEqual(r.Header.Device, h.Device) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWhatIsNoBegunLog(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "other": "hello\n", "torn": logBeginning, "damaged": logBeginning + ",\n",
		"later": logBeginning + `,"version":99}` + "\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if h := Begun(path); h != nil {
			t.Errorf("%s: %+v", name, h)
		}
	}
	for _, path := range []string{folder, filepath.Join(folder, "nothing"), ""} {
		if h := Begun(path); h != nil {
			t.Errorf("%q: %+v", path, h)
		}
	}
}
