//go:build linux

package main

import (
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
)

// What can go wrong.
type harm int

const (
	lost harm = iota
	repeated
	failed
	hung
	panicked
	processes
	files
	harms
)

var harmNames = [harms]string{"lost", "repeated", "failed", "hung", "panics", "processes left", "files left"}

// A row counts what was tried of one kind, and what went wrong with it. A try may have several harms.
type row struct {
	name       string
	tried, bad int
	wrong      [harms]int
}

// A table has a row for each kind of thing that was tried, in the order of their first tries. It may be used by several goroutines.
type table struct {
	mutex sync.Mutex
	rows  []*row
}

// in calls f with the row of a name, which is made if there is none.
func (t *table) in(name string, f func(r *row)) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, r := range t.rows {
		if r.name == name {
			f(r)
			return
		}
	}
	r := &row{name: name}
	t.rows = append(t.rows, r)
	f(r)
}

// bad returns the number of tries that had a harm.
func (t *table) bad() (n int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, r := range t.rows {
		n += r.bad
	}
	return n
}

func (t *table) print(out io.Writer) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\ttried\tsurvived\t")
	for _, name := range harmNames {
		fmt.Fprint(w, name, "\t")
	}
	fmt.Fprintln(w)
	for _, r := range t.rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t", r.name, r.tried, r.tried-r.bad)
		for _, n := range r.wrong {
			fmt.Fprint(w, n, "\t")
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
