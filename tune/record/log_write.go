package record

import (
	"bufio"
	"io"
)

// EncodeLog writes a record as a run log, whatever it was read from. The log of a record
// that was read from one can be resumed.
func EncodeLog(w io.Writer, r *Record) error {
	first, header, err := r.Header.line()
	if err != nil {
		return err
	}
	l, err := newLayout(header.Parameters)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	_, _ = out.Write(first)
	var b []byte
	for i := range r.Results {
		d, err := l.digits(r.Results[i].Configuration)
		if err != nil {
			return err
		}
		if b, err = l.appendResult(b[:0], d, &r.Results[i]); err != nil {
			return err
		}
		_, _ = out.Write(endLine(b))
	}
	return out.Flush() // an error of any write comes again here
}
