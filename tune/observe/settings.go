package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	osfiles "github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A Control changes settings of one NVIDIA GPU, locked clocks and the power limit, and restores them. It belongs to the
// process above those that measure, so that their end does not matter. Begin writes a file with the commands that restore the settings:
// if this process is killed, [AbandonedSettings] finds it. Close it when done.
type Control struct {
	library *nvml
	device  string // its name
	knobs   []knob
	file    string // its path
	release func() error
	begun   bool
	now     []hardware.Setting // as they were set; nil: as they were before
}

// OpenControl opens a control of some settings of a device, and changes nothing. The file with the commands is in a folder,
// which all processes of a user have in common. While one of them has a control of the device, or was killed and its file is still
// there, no other one gets any.
func OpenControl(d hardware.Device, names []string, folder string) (*Control, error) {
	if !strings.Contains(strings.ToLower(d.Vendor), "nvidia") {
		return nil, fmt.Errorf("ndtune can change settings of NVIDIA GPUs only, and %s is none: leave measure.settings out",
			strings.TrimSpace(d.Name))
	}
	library, err := loadNVML()
	if err != nil {
		return nil, err
	}
	c := &Control{library: library, device: strings.TrimSpace(d.Name)}
	if err = c.open(d, names, folder); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func (c *Control) open(d hardware.Device, names []string, folder string) error {
	handle, id, err := c.library.device(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make a folder for the file that says what to restore: %w", err)
	}
	c.file = filepath.Join(folder, strings.Map(inFileName, id)+".txt")
	if c.release, err = holdNow(c.file); errors.Is(err, context.Canceled) {
		return fmt.Errorf("another process changes the settings of %s: wait for its end (%s)", c.device, c.file)
	} else if err != nil {
		return err
	}
	if text, err := os.ReadFile(c.file); err == nil {
		return errors.New(strings.TrimSpace(string(text)))
	}
	c.knobs, err = c.library.knobs(handle, id, names)
	return err
}

// Begin checks that this process may change the settings. It must come before the first Set. An error means that nothing was changed.
func (c *Control) Begin() error {
	text := fmt.Sprintf("A process of ndtune, %d, was killed while it had changed %s of %s: %s; then remove %s", os.Getpid(),
		strings.Join(each.Of(c.knobs, func(k knob) string { return k.name }), " and "), c.device, c.advice(), c.file)
	if err := osfiles.Write(c.file, func(w io.Writer) error { _, err := fmt.Fprintln(w, text); return err }); err != nil {
		return fmt.Errorf("write the file that says what to restore: %w", err)
	}
	// Restoring needs the same rights as a change.
	if err := c.Restore(); err != nil {
		return errors.Join(err, os.Remove(c.file))
	}
	c.begun = true
	return nil
}

// advice says how a person restores the settings.
func (c *Control) advice() string {
	return "an administrator restores them by " + strings.Join(each.Of(c.knobs, func(k knob) string { return k.command }), "; ")
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
		i := slices.IndexFunc(c.knobs, func(k knob) bool { return k.name == s.Name })
		if i < 0 {
			return fmt.Errorf("the control has no setting %s", s.Name)
		}
		if s.Value == 0 { // no change
			continue
		}
		if err := c.knobs[i].check(s.Value, all); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
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
		k := c.knobs[slices.IndexFunc(c.knobs, func(k knob) bool { return k.name == s.Name })]
		err := error(nil)
		if s.Value == 0 {
			err = k.restore()
		} else {
			err = k.set(s.Value)
		}
		if err != nil {
			return true, fmt.Errorf("set %s of %s: %w", s, c.device, err)
		}
		c.now, changed = append(c.now, s), true
	}
	return changed, nil
}

// Restore gives the device its settings back. It can be followed by Set.
func (c *Control) Restore() error {
	c.now = nil
	return errors.Join(each.Of(c.knobs, func(k knob) error {
		if err := k.restore(); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		return nil
	})...)
}

// Close restores the settings and gives them back. If they cannot be restored, the file stays.
func (c *Control) Close() error {
	if c.library == nil {
		return nil
	}
	defer c.end()
	if !c.begun {
		return nil
	}
	if err := c.Restore(); err != nil {
		return fmt.Errorf("the settings of %s could not be restored: %w; %s", c.device, err, c.advice())
	}
	return os.Remove(c.file)
}

// end releases everything that the control holds.
func (c *Control) end() {
	if c.release != nil {
		_ = c.release()
	}
	c.library.shutdown()
	c.library, c.release = nil, nil
}

// AbandonedSettings returns a sentence for each device whose settings a process has changed that was killed: how a person restores them.
// Folder is that of [OpenControl].
func AbandonedSettings(folder string) (texts []string) {
	paths, _ := filepath.Glob(filepath.Join(folder, "*.txt"))
	for _, path := range paths {
		release, err := holdNow(path)
		if err != nil {
			continue // its process lives
		}
		if text, err := os.ReadFile(path); err == nil {
			texts = append(texts, strings.TrimSpace(string(text)))
		}
		_ = release()
	}
	return texts
}
