package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// DefaultPath makes a run log, empty at first, in the user's state folder: ndtune in
// $XDG_STATE_HOME or ~/.local/state, on macOS in ~/Library/Application Support, on Windows
// in %LocalAppData%. The name says when, what and where:
// 20260102-150405-diffuse_kernel-nvidia-h200.jsonl. The file is there when DefaultPath
// returns, so that no two runs are given the same.
func DefaultPath(h Header) (string, error) {
	folder, err := ownFolder()
	if err != nil {
		return "", fmt.Errorf("find a place for the run log: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("find a place for the run log: %w", err)
	}
	base := filepath.Join(folder, logName(h))
	for n := 1; ; n++ {
		path := base + ".jsonl"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.jsonl", base, n)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err == nil {
			return path, f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("find a place for the run log: %w", err)
		}
	}
}

// ownFolder is where this program keeps what is neither settings nor documents.
func ownFolder() (string, error) {
	folder, err := stateFolder()
	return filepath.Join(folder, "ndtune"), err
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

// homeFolder is a folder in the user's home.
func homeFolder(elements ...string) (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{home}, elements...)...), nil
}
