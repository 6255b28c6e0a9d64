package record

import (
	"bufio"

	"github.com/ndtune/ndtune/internal/regular"
)

// Begun is the header of the run log at path; nil where there is none that can be gone on with,
// of which [Open] says why.
func Begun(path string) *Header {
	f, err := regular.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	in := bufio.NewReader(f)
	if head, _ := in.Peek(headLength); !looksLikeLog(head) {
		return nil
	}
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	header, _, err := readLogHeader(line)
	if err != nil {
		return nil
	}
	return &header
}
