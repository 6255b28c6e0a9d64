package process

import (
	"bytes"
	"io"
	"testing"
)

// bulky is a request with data that may follow it.
type bulky struct {
	Name   string
	Data   []byte
	Length int
}

func (b *bulky) Bulk() (*[]byte, int) { return &b.Data, b.Length }

func TestDataFollowRequests(t *testing.T) {
	in, out := io.Pipe() // stays open: at the end of its requests a child ends this process
	child := &Child[bulky, int]{Requests: make(chan bulky, 1)}
	go child.write(out)
	heard := make(chan bulky)
	go NewParent[bulky, int]("test", in, io.Discard).Listen(func(r bulky) { heard <- r })
	long := bytes.Repeat([]byte("0123456789"), 100_000)
	for _, r := range []bulky{
		{"short", []byte{1, 2, 3}, 3}, {Name: "none"}, {"long", long, len(long)}, {"inside", []byte{4}, 0}, {"again", []byte{5}, 1},
	} {
		child.Requests <- r
		if got := <-heard; got.Name != r.Name || !bytes.Equal(got.Data, r.Data) || got.Length != r.Length {
			t.Errorf("%s: %q arrived with %d bytes, length %d", r.Name, got.Name, len(got.Data), got.Length)
		}
	}
}
