package record

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune"
)

// KnownPeaks are the peaks of a device that [KeepPeaks] has kept of this driver, measured by a
// method; nil: there are none. A file that cannot be read is an error: measuring anew and
// keeping that mends it.
func KnownPeaks(d tune.Device, method int) (*tune.Peaks, error) {
	path, err := peaksPath(d)
	if err != nil {
		return nil, fmt.Errorf("look for the device's peaks: %w", err)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var kept tune.Device
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the device's peaks in %s: %w", path, withoutPath(err))
	case kept.Peaks == nil || kept.Peaks.Method != method || peaksKey(kept) != peaksKey(d):
		return nil, nil
	}
	return kept.Peaks, nil
}

// KeepPeaks keeps the peaks of a device, which it holds, in the user's state folder: in peaks
// beside the run logs, a file for each device and driver. Earlier ones are replaced.
func KeepPeaks(d tune.Device) error {
	if err := keepPeaks(d); err != nil {
		return fmt.Errorf("keep the device's peaks: %w", err)
	}
	return nil
}

func keepPeaks(d tune.Device) error {
	path, err := peaksPath(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return files.Write(path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// peaksPath is the file for a device: amd-epyc-3f9a1c0b2d4e5f60.json.
func peaksPath(d tune.Device) (string, error) {
	folder, err := ownFolder()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(peaksKey(d)))
	name := fmt.Sprintf("%x.json", sum[:8])
	if word := strings.ToLower(fileWord(d.Name)); word != "" {
		name = word + "-" + name
	}
	return filepath.Join(folder, "peaks", name), nil
}

// peaksKey tells devices apart whose peaks may differ: two cards of one model too, where they
// say which they are.
func peaksKey(d tune.Device) string {
	card := d.UUID
	if card == "" {
		card = d.PCI
	}
	return fmt.Sprintf("%q", []any{d.Platform, d.Vendor, d.Name, d.Driver, d.Version, d.ComputeUnits, card})
}
