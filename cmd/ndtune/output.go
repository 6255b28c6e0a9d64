package main

import "io"

// An output is where results go. It remembers the first error, such as that of a full disk,
// which those who print need not look at.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}
