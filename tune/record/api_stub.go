package record

import (
	"context"
	"errors"
	"io"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

var errStub = errors.New("not written yet")

// A Log is an open run log. It implements tune.Log.
type Log struct{ path string }

// Open creates the run log at path, or resumes what is there.
func Open(path string, h Header) (*Log, error) { return nil, errStub }

func (l *Log) Path() string                    { return l.path }
func (l *Log) Header() Header                  { return Header{} }
func (l *Log) Resumed() int                    { return 0 }
func (l *Log) Previous() []tune.Result         { return nil }
func (l *Log) Append(r tune.Result) error      { return errStub }
func (l *Log) AppendFinal(r tune.Result) error { return errStub }
func (l *Log) Close() error                    { return nil }

var _ tune.Log = (*Log)(nil)

// Read reads a run log, a T4 file or a Kernel Tuner cache file.
func Read(path string) (*Record, error) { return nil, errStub }

// Write writes a record by the extension of path.
func Write(path string, r *Record) error { return errStub }

// CheckExtension refuses a path that Write would refuse.
func CheckExtension(path string) error { return nil }

// EncodeT4 writes a record in the T4 format.
func EncodeT4(w io.Writer, r *Record) error { return errStub }

// EncodeCSV writes a record as a table.
func EncodeCSV(w io.Writer, r *Record) error { return errStub }

// DefaultPath makes a path for a log in the user's state folder.
func DefaultPath(h Header) (string, error) { return "", errStub }

// Recorded is an evaluator over a record.
type Recorded struct{}

// NewRecorded makes an evaluator over a record.
func NewRecorded(r *Record) (*Recorded, error) { return nil, errStub }

func (e *Recorded) Device() tune.Device { return tune.Device{} }
func (e *Recorded) Capacity() int       { return 1 }
func (e *Recorded) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return errStub
}

var _ tune.Evaluator = (*Recorded)(nil)
