package record

import (
	"regexp"
	"strings"
	"testing"
)

// unchecked is a log without its checksums.
func unchecked(text string) string {
	return regexp.MustCompile(`,"crc32c":"[0-9a-f]{8}"`).ReplaceAllString(text, "")
}

// checked is a line with its checksum, and with its end.
func checked(line string) string {
	return string(endLine([]byte(strings.TrimSuffix(unchecked(line), "\n"))))
}

// TestFlippedBits flips each bit of a log. No reader takes what comes of it, but for the end
// of the last line: without it, the line is torn.
func TestFlippedBits(t *testing.T) {
	_, whole := sampleLog(t)
	for at := range len(whole) - 1 {
		for bit := range 8 {
			whole[at] ^= 1 << bit
			if _, err := Decode(whole); err == nil {
				t.Fatalf("bit %d of byte %d: the log was read:\n%s", bit, at, whole)
			}
			whole[at] ^= 1 << bit
		}
	}
}
