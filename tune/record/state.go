package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/hardware"
)

// DefaultPath makes a run log, empty at first, in the user's state folder: ndtune in
// $XDG_STATE_HOME or ~/.local/state, on macOS in ~/Library/Application Support, on Windows
// in %LocalAppData%. The name says when, what and where:
// 20260102-150405-diffuse_kernel-nvidia-h200.jsonl. The file is there when DefaultPath
// returns, so that no two runs are given the same.
func DefaultPath(h Header) (string, error) {
	folder, err := StateFolder()
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	base := filepath.Join(folder, logName(h))
	path := base + ".jsonl"
	for n := 2; err == nil; n++ {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666); err == nil {
			return path, f.Close()
		}
		if errors.Is(err, fs.ErrExist) {
			path, err = fmt.Sprintf("%s-%d.jsonl", base, n), nil
		}
	}
	return "", fmt.Errorf("find a place for the run log: %w", err)
}

// StateFolder is where this program keeps files that are neither settings nor documents. It follows
// the XDG Base Directory Specification, which ignores a relative path in the environment; a user
// who sets XDG_STATE_HOME on macOS means it.
func StateFolder() (string, error) {
	variable, usual := "XDG_STATE_HOME", filepath.Join(".local", "state")
	switch runtime.GOOS {
	case "darwin":
		usual = filepath.Join("Library", "Application Support")
	case "windows":
		variable, usual = "LocalAppData", filepath.Join("AppData", "Local")
	}
	if folder := os.Getenv(variable); filepath.IsAbs(folder) {
		return filepath.Join(folder, "ndtune"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, usual, "ndtune"), err
}

func logName(h Header) string {
	started := h.Started
	if started.IsZero() {
		started = time.Now()
	}
	parts := []string{started.Local().Format("20060102-150405")}
	for _, part := range []string{fileWord(h.Kernel), strings.ToLower(fileWord(h.Device.Name))} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "-")
}

// fileWord is a text as a part of a file name on any system: words of letters, digits, dots
// and underscores, joined by dashes.
func fileWord(text string) string {
	words := strings.FieldsFunc(text, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.')
	})
	const longest = 40
	joined := strings.Join(words, "-")
	return strings.Trim(joined[:min(len(joined), longest)], ".-")
}

// KnownPeaks are the peaks of a device that [KeepPeaks] has kept of this driver, measured by a
// method; nil: there are none. A file that cannot be read is an error: measuring anew and
// keeping that mends it.
func KnownPeaks(d hardware.Device, method int) (*hardware.Peaks, error) {
	path, err := peaksPath(d)
	if err != nil {
		return nil, fmt.Errorf("look for the device's peaks: %w", err)
	}
	text, err := files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var kept hardware.Device
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the device's peaks in %s: %w", path, files.WithoutPath(err))
	case kept.Peaks == nil || kept.Peaks.Method != method || kept.PeaksKey() != d.PeaksKey():
		return nil, nil
	}
	return kept.Peaks, nil
}

// KeepPeaks keeps the peaks of a device, which it holds, in the user's state folder: in peaks
// beside the run logs, a file for each device and driver. Earlier ones are replaced.
func KeepPeaks(d hardware.Device) error {
	text, err := json.MarshalIndent(d, "", "  ")
	path, noPath := peaksPath(d)
	if err = cmp.Or(err, noPath); err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = files.WritePrivate(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the device's peaks: %w", err)
	}
	return nil
}

// peaksPath is the file for a device: amd-epyc-3f9a1c0b2d4e5f60.json.
func peaksPath(d hardware.Device) (string, error) {
	folder, err := StateFolder()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(d.PeaksKey()))
	name := fmt.Sprintf("%x.json", sum[:8])
	if word := strings.ToLower(fileWord(d.Name)); word != "" {
		name = word + "-" + name
	}
	return filepath.Join(folder, "peaks", name), nil
}
