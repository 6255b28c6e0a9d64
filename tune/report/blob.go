package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
)

// place gives columns their offsets in a blob, from one on, and returns where they end.
func place(columns []Column, offset int) int {
	for i := range columns {
		columns[i].Offset = offset
		offset += padded(len(columns[i].bytes))
	}
	return offset
}

// padded is a length up to the next multiple of 8, where a column of any type can begin.
func padded(n int) int { return (n + 7) / 8 * 8 }

// pack is columns at their offsets, gzipped, in base64.
func pack(columns []Column) (string, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	var zeros [8]byte
	for _, c := range columns {
		if _, err := z.Write(c.bytes); err != nil {
			return "", err
		}
		if _, err := z.Write(zeros[:padded(len(c.bytes))-len(c.bytes)]); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}
