package record

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/ndtune/ndtune/internal/regular"
)

// Read reads a run log, a T4 file, a Kernel Tuner cache file or a CSV table of this package,
// plain or gzipped. What it is shows in its content; its name does not matter. A torn last line of a run log and the
// missing end of a cache file, which a run that was interrupted leaves behind, are no
// errors. Of two results of one configuration the first counts.
func Read(path string) (*Record, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read results from %s: %w", path, withoutPath(err))
	}
	r, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("read results from %s: %w", path, withoutPath(err))
	}
	return r, nil
}

// Decode is [Read] for what is in memory.
func Decode(data []byte) (*Record, error) {
	data, err := unzip(data)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // of editors that mark UTF-8
	if looksLikeLog(data) {
		return decodeLog(data)
	}
	if looksLikeTable(data) {
		return decodeCSV(data)
	}
	return decodeJSON(data)
}

func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unzip: %w", err)
	}
	data, err = io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unzip: %w", err)
	}
	return data, nil
}
