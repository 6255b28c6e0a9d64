package observe

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

// changes makes the stand-in for NVML record changes, and returns a function that returns those since its last call.
func changes(t *testing.T) func() string {
	t.Helper()
	standIn(t)
	path := filepath.Join(t.TempDir(), "calls")
	t.Setenv("STAND_IN_CALLS", path)
	seen := 0
	process := regexp.MustCompile(`(?m)^\d+ (.*) \d+\n`)
	return func() string {
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		fresh := text[seen:]
		seen = len(text)
		return strings.TrimSuffix(process.ReplaceAllString(string(fresh), "$1; "), "; ")
	}
}

func take(t *testing.T, folder string, names ...string) *Control {
	t.Helper()
	c, err := OpenControl(nvidia, names, folder)
	if err == nil {
		err = c.Begin()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func remaining(t *testing.T, folder string) int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(paths)
}

// TestSettingsAreRestored changes all settings of a device.
func TestSettingsAreRestored(t *testing.T) {
	calls, folder := changes(t), filepath.Join(t.TempDir(), "settings")
	c := take(t, folder, hardware.SettingNames()...)
	expect := func(what, want string) {
		t.Helper()
		if got := calls(); got != want {
			t.Errorf("%s: the changes are %q, want %q", what, got, want)
		}
	}
	const all = "reset-memory 0; reset-clock 0; limit 700000"
	expect("the device is taken", all)
	set := func(memory, clock, watts float64) {
		t.Helper()
		if _, err := c.Set([]hardware.Setting{{Name: hardware.MemoryClock, Value: memory}, {Name: hardware.Clock, Value: clock}, {Name: hardware.PowerLimit, Value: watts}}); err != nil {
			t.Error(err)
		}
	}
	set(1593, 1080, 250.5)
	expect("first", "memory 1593; clock 1080; limit 250500")
	set(1593, 345, 250.5)
	expect("another clock", "clock 345")
	set(1593, 0, 250.5)
	expect("no clock", "reset-clock 0")
	if err := c.Restore(); err != nil {
		t.Error(err)
	}
	expect("restored", all)
	set(3201, 345, 250.5)
	expect("changed again", "memory 3201; clock 345; limit 250500")
	if _, err := OpenControl(nvidia, []string{hardware.Clock}, folder); err == nil || !strings.Contains(err.Error(), "another process changes the settings") {
		t.Errorf("the device is taken twice: %v", err)
	}
	if texts := AbandonedSettings(folder); texts != nil {
		t.Errorf("settings in use are abandoned: %q", texts)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error("closed twice:", err)
	}
	expect("closed", all)
	if n := remaining(t, folder); n > 0 {
		t.Errorf("%d files remain", n)
	}
}

// TestRefusedSettings checks values that the device does not permit, and devices whose settings cannot be changed.
func TestRefusedSettings(t *testing.T) {
	calls, folder := changes(t), t.TempDir()
	c, err := OpenControl(nvidia, hardware.SettingNames(), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		settings []hardware.Setting
		want     string
	}{
		{[]hardware.Setting{{Name: "clock", Value: 1000}}, "clock 1000 MHz: the device permits 110 clocks from 345 to 1980 MHz at a memory clock of 3201 MHz; next to this value 990 and 1005"},
		{[]hardware.Setting{{Name: "memory_clock", Value: 1593}, {Name: "clock", Value: 1980}}, "clock 1980 MHz: the device permits 50 clocks from 345 to 1080 MHz at a memory clock of 1593 MHz; next to this value 1080"},
		{[]hardware.Setting{{Name: "memory_clock", Value: 2000}}, "memory_clock 2000 MHz: the device permits 2 clocks from 1593 to 3201 MHz; next to this value 1593 and 3201"},
		{[]hardware.Setting{{Name: "power_limit", Value: 700.1}}, "power_limit 700.1 W: the device permits 200 to 700 W"},
		{[]hardware.Setting{{Name: "power_limit", Value: 199}}, "power_limit 199 W: the device permits 200 to 700 W"},
	} {
		if err := c.Check(r.settings); err == nil || err.Error() != r.want {
			t.Errorf("%v:\n got %v\nwant %s", r.settings, err, r.want)
		}
	}
	t.Setenv("STAND_IN_USER", "1")
	err = c.Begin()
	if want := "clock: nvmlDeviceResetGpuLockedClocks: the driver lets only an administrator change this setting (run ndtune as root, or leave the setting out)"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("without the right:\n got %v\nwant %s", err, want)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	_, err = OpenControl(hardware.Device{Vendor: "Intel", Name: "Arc"}, []string{hardware.Clock}, folder)
	if err == nil || !strings.Contains(err.Error(), "NVIDIA GPUs only, and Arc is none") {
		t.Errorf("another vendor: %v", err)
	}
	if got := calls(); got != "" || remaining(t, folder) > 0 {
		t.Errorf("a device that was refused was changed: %q, and %d files remain", got, remaining(t, folder))
	}
}

// TestAbandonedSettings says how a person restores what a process left behind that was killed, until the file is removed.
func TestAbandonedSettings(t *testing.T) {
	calls, folder := changes(t), t.TempDir()
	c := take(t, folder, hardware.Clock, hardware.PowerLimit)
	if _, err := c.Set([]hardware.Setting{{Name: hardware.Clock, Value: 345}, {Name: hardware.PowerLimit, Value: 200}}); err != nil {
		t.Fatal(err)
	}
	_ = c.release() // as its end would do
	calls()

	const smi = "nvidia-smi -i GPU-01020304-0506-0708-090a-0b0c0d0e0f10 "
	want := ": an administrator restores them by " + smi + "--reset-gpu-clocks; " + smi + "--power-limit=700; then remove " + c.file
	texts := AbandonedSettings(folder)
	if len(texts) != 1 || !strings.Contains(texts[0], " was killed while it had changed clock and power_limit of ") || !strings.HasSuffix(texts[0], want) {
		t.Errorf("%q", texts)
	}
	if _, err := OpenControl(nvidia, []string{hardware.Clock}, folder); err == nil || err.Error() != texts[0] {
		t.Errorf("another search: %v", err)
	}
	if got := calls(); got != "" {
		t.Errorf("the changes are %q", got)
	}
	if err := os.Remove(c.file); err != nil {
		t.Fatal(err)
	}
	if texts := AbandonedSettings(folder); texts != nil || remaining(t, folder) > 0 {
		t.Errorf("%q, and %d files remain", texts, remaining(t, folder))
	}
}
