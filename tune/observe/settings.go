package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	osfiles "github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A Control changes settings of one NVIDIA GPU, locked clocks and the power limit, and restores them. It belongs to the
// process above those that measure, so that their end does not matter. Begin writes a file that says what to restore: if
// this process is killed, [RestoreAbandoned] does it in another one. Close it when done.
type Control struct {
	library *nvml
	kept    keptSettings
	path    string // of the file
	release func() error
	knobs   []knob
	begun   bool
	now     []hardware.Setting // as they were set; nil: as they were before
}

// keptSettings is the content of the file that says what to restore.
type keptSettings struct {
	Device     string    `json:"device"` // its name
	UUID       string    `json:"uuid,omitempty"`
	PCI        string    `json:"pci,omitempty"`
	Settings   []string  `json:"settings"`              // that may have been changed
	PowerLimit uint32    `json:"power_limit,omitempty"` // before, in milliwatts
	Process    int       `json:"process"`
	Since      time.Time `json:"since"`
}

// device returns the device by which the library finds it.
func (k *keptSettings) device() hardware.Device {
	return hardware.Device{Name: k.Device, UUID: k.UUID, PCI: k.PCI}
}

// OpenControl opens a control of some settings of a device, and changes nothing. The file that says what to restore is in a folder,
// which all processes of a user have in common. While one of them has a control of the device, no other one gets any.
func OpenControl(d hardware.Device, names []string, folder string) (*Control, error) {
	if !strings.Contains(strings.ToLower(d.Vendor), "nvidia") {
		return nil, fmt.Errorf("ndtune can change settings of NVIDIA GPUs only, and %s is none: leave measure.settings out",
			strings.TrimSpace(d.Name))
	}
	library, err := loadNVML()
	if err != nil {
		return nil, err
	}
	c := &Control{library: library, kept: keptSettings{
		Device: strings.TrimSpace(d.Name), UUID: d.UUID, PCI: d.PCI, Settings: names, Process: os.Getpid(), Since: time.Now(),
	}}
	if err = c.open(d, folder); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func (c *Control) open(d hardware.Device, folder string) error {
	handle, how, err := c.library.device(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make a folder for the file that says what to restore: %w", err)
	}
	c.path = filepath.Join(folder, strings.Map(inFileName, how)+".json")
	if c.release, err = holdNow(c.path); errors.Is(err, context.Canceled) {
		return fmt.Errorf("another process changes the settings of %s: wait for its end (%s)", c.kept.Device, c.path)
	} else if err != nil {
		return err
	}
	if _, err := restoreFrom(c.path); err != nil {
		return err
	}
	if slices.Contains(c.kept.Settings, hardware.PowerLimit) {
		if c.kept.PowerLimit, err = c.library.powerLimitOf(handle); err != nil {
			return err
		}
	}
	c.knobs, err = c.library.knobs(handle, c.kept)
	return err
}

// Begin checks that this process may change the settings. It must come before the first Set. An error means that nothing was changed.
func (c *Control) Begin() error {
	if err := c.write(); err != nil {
		return fmt.Errorf("write the file that says what to restore: %w", err)
	}
	// Restoring needs the same rights as a change.
	if err := c.Restore(); err != nil {
		return errors.Join(err, os.Remove(c.path))
	}
	c.begun = true
	return nil
}

// write writes the file that says what to restore.
func (c *Control) write() error {
	text, err := json.MarshalIndent(c.kept, "", "  ")
	if err != nil {
		return err
	}
	return osfiles.Write(c.path, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
}

// inFileName replaces characters that file names of some systems cannot have.
func inFileName(r rune) rune {
	if strings.ContainsRune(`:/\`, r) {
		return '-'
	}
	return r
}

// holdNow holds a file. If another process holds it, the error is context.Canceled.
func holdNow(path string) (release func() error, err error) {
	never, cancel := context.WithCancel(context.Background())
	cancel()
	return osfiles.Hold(never, path, nil)
}

// Check returns an error if the device does not permit some settings. It permits 0, which stands for no change.
func (c *Control) Check(all []hardware.Setting) error {
	for _, s := range all {
		k := c.knob(s.Name)
		if k == nil {
			return fmt.Errorf("the control has no setting %s", s.Name)
		}
		if s.Value == 0 { // no change
			continue
		}
		if err := k.check(s.Value, all); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

func (c *Control) knob(name string) *knob {
	if i := slices.IndexFunc(c.knobs, func(k knob) bool { return k.name == name }); i >= 0 {
		return &c.knobs[i]
	}
	return nil
}

// Set changes the settings that differ from those of the call before, and reports whether there are any.
func (c *Control) Set(all []hardware.Setting) (changed bool, err error) {
	if err := c.Check(all); err != nil {
		return false, err
	}
	for _, s := range all {
		if slices.Contains(c.now, s) {
			continue
		}
		c.now = slices.DeleteFunc(c.now, func(before hardware.Setting) bool { return before.Name == s.Name })
		k := c.knob(s.Name)
		err := error(nil)
		if s.Value == 0 {
			err = k.restore()
		} else {
			err = k.set(s.Value)
		}
		if err != nil {
			return true, fmt.Errorf("set %s of %s: %w", s, c.kept.Device, err)
		}
		c.now, changed = append(c.now, s), true
	}
	return changed, nil
}

// Restore gives the device its settings back. It can be followed by Set.
func (c *Control) Restore() error {
	if c == nil {
		return nil
	}
	c.now = nil
	return restore(c.knobs)
}

func restore(knobs []knob) error {
	var errs []error
	for _, k := range knobs {
		if err := k.restore(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", k.name, err))
		}
	}
	return errors.Join(errs...)
}

// Close restores the settings and gives them back. If they cannot be restored, the file stays, so that a later process
// tries it again.
func (c *Control) Close() error {
	if c == nil || c.library == nil {
		return nil
	}
	defer c.end()
	if !c.begun {
		return nil
	}
	if err := c.Restore(); err != nil {
		return fmt.Errorf("the settings of %s could not be restored: %w; %s", c.kept.Device, err, c.kept.advice())
	}
	return os.Remove(c.path)
}

// end releases everything that the control holds.
func (c *Control) end() {
	if c.release != nil {
		_ = c.release()
	}
	c.library.shutdown()
	c.library, c.release = nil, nil
}

// advice says how a person restores the settings.
func (k *keptSettings) advice() string {
	command := "nvidia-smi -i " + k.PCI
	if k.UUID != "" {
		command = "nvidia-smi -i GPU-" + k.UUID
	}
	var all []string
	for _, name := range k.Settings {
		switch name {
		case hardware.Clock:
			all = append(all, command+" --reset-gpu-clocks")
		case hardware.MemoryClock:
			all = append(all, command+" --reset-memory-clocks")
		case hardware.PowerLimit:
			all = append(all, fmt.Sprintf("%s --power-limit=%g", command, float64(k.PowerLimit)/1e3))
		}
	}
	return "an administrator can do it: " + strings.Join(all, "; ")
}

// RestoreAbandoned restores the settings that processes have left behind that were killed. Folder is that of [OpenControl]. It
// returns a sentence for each device.
func RestoreAbandoned(folder string) (restored []string, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	var errs []error
	for _, path := range paths {
		release, err := holdNow(path)
		if errors.Is(err, context.Canceled) {
			continue // its process lives
		}
		text := ""
		if err == nil {
			text, err = restoreFrom(path)
			_ = release()
		}
		if err != nil {
			errs = append(errs, err)
		} else if text != "" {
			restored = append(restored, text)
		}
	}
	return restored, errors.Join(append(errs, err)...)
}

// restoreFrom restores what a file says, and removes it. It returns a sentence, "" if there is no such file.
func restoreFrom(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	var k keptSettings
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		return "", fmt.Errorf("read what to restore: %w (%s)", err, path)
	}
	if err := k.restore(); err != nil {
		return "", fmt.Errorf("%s has settings (%s) that a process of ndtune, %d, changed before it was killed, "+
			"and they could not be restored: %w; %s, then remove %s",
			k.Device, strings.Join(k.Settings, ", "), k.Process, err, k.advice(), path)
	}
	if err := os.Remove(path); err != nil {
		return "", err
	}
	return fmt.Sprintf("Restored %s of %s: a process of ndtune, %d, changed them at %s and was killed before it could restore them.",
		strings.Join(k.Settings, ", "), k.Device, k.Process, k.Since.Format(time.DateTime)), nil
}

func (k *keptSettings) restore() error {
	n, err := loadNVML()
	if err != nil {
		return err
	}
	defer n.shutdown()
	handle, _, err := n.device(k.device())
	if err != nil {
		return err
	}
	knobs, err := n.knobs(handle, *k)
	if err != nil {
		return err
	}
	return restore(knobs)
}
