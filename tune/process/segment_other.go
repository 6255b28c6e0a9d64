//go:build !linux

package process

import "errors"

// A Segment is memory that children can read without a copy: on Linux alone.
type Segment struct{ Bytes []byte }

// NewSegment returns an error.
func NewSegment(int) (*Segment, error) { return nil, errors.ErrUnsupported }

// Seal does nothing.
func (s *Segment) Seal() SegmentPlace { return SegmentPlace{} }

// Close does nothing.
func (s *Segment) Close() {}

// OpenSegment returns an error.
func OpenSegment(SegmentPlace, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// CloseSegment does nothing.
func CloseSegment([]byte) {}
