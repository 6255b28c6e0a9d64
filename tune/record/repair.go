package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/ndtune/ndtune/internal/files"
)

// Repair rewrites the run log at path without its damaged lines, and lists them. The log as it
// was is kept beside it, in the file kept. A log without damage and a path without a log stay as
// they are: [Open] says what it thinks of them.
func Repair(path string) (damaged []DamagedLine, kept string, err error) {
	if damaged, kept, err = repair(path); err != nil {
		err = fmt.Errorf("repair the run log %s: %w", path, withoutPath(err))
	}
	return damaged, kept, err
}

func repair(path string) (damaged []DamagedLine, kept string, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, "", nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	if _, err := files.Lock(f); err != nil {
		return nil, "", err
	}
	data, err := readBounded(f)
	if err != nil || !looksLikeLog(data) || isTornHeader(data) {
		return nil, "", err
	}
	c, err := readLog(data, true, layoutOf)
	if err != nil || len(c.damaged) == 0 {
		return nil, "", err
	}
	intact, err := c.intact(data)
	if err != nil {
		return nil, "", err
	}
	if kept, err = keepCopy(path+".damaged", bytes.NewReader(data), info.Mode()); err != nil {
		return nil, "", err
	}
	_ = f.Close() // Windows replaces no open file
	return c.damaged, kept, files.Write(path, func(w io.Writer) error {
		_, err := w.Write(intact)
		return err
	})
}

// intact are the whole lines that are not damaged, as they stand. A damaged header is written
// anew.
func (c *logContent) intact(data []byte) ([]byte, error) {
	var intact []byte
	number := 0
	for line := range bytes.Lines(data[:c.whole]) {
		number++
		isDamaged := slices.ContainsFunc(c.damaged, func(d DamagedLine) bool { return d.Number == number })
		switch {
		case !isDamaged:
			intact = append(intact, line...)
		case number == 1:
			header, _, err := c.header.line()
			if err != nil {
				return nil, err
			}
			intact = append(intact, header...)
		}
	}
	return intact, nil
}
