package observe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// threads reads for how long each thread of this process has run, and for how long it has waited for a processor.
type threads struct {
	folder string
	open   map[string]*os.File // by the name of the thread
	before map[string]stint
	text   [128]byte
}

// A stint is nanoseconds of a thread.
type stint struct{ ran, waited int64 }

func threadsOf(folder string) *threads { return &threads{folder: folder, open: map[string]*os.File{}} }

// openThreads returns nil if the kernel of the system does not count.
func openThreads() *threads {
	t := threadsOf("/proc/self/task")
	if err := t.begin(); err != nil || len(t.before) == 0 {
		t.close()
		return nil
	}
	return t
}

func (t *threads) close() {
	if t == nil {
		return
	}
	for _, f := range t.open {
		f.Close()
	}
	t.open = nil
}

func (t *threads) begin() (err error) {
	t.before, err = t.stints()
	return err
}

// waited returns the mean over the threads of the share of its time that each waited, weighted by the time that it ran.
func (t *threads) waited() (share float64, ran time.Duration, err error) {
	after, err := t.stints()
	if err != nil {
		return 0, 0, err
	}
	all, sum := 0.0, 0.0
	for name, s := range after {
		ran, waited := float64(s.ran-t.before[name].ran), float64(s.waited-t.before[name].waited)
		if ran > 0 {
			all += ran
			sum += ran * waited / (ran + waited)
		}
	}
	if all == 0 {
		return 0, 0, nil
	}
	return sum / all, time.Duration(all), nil
}

// stints reads the threads' counts. Their files are kept open: a reading takes a microsecond, and opening takes ten.
func (t *threads) stints() (map[string]stint, error) {
	folder, err := os.Open(t.folder)
	if err != nil {
		return nil, err
	}
	names, err := folder.Readdirnames(0)
	folder.Close()
	if err != nil {
		return nil, err
	}
	all := make(map[string]stint, len(names))
	for _, name := range names {
		s, err := t.stint(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread ended just now
		}
		if err != nil {
			return nil, err
		}
		all[name] = s
	}
	for name, f := range t.open {
		if _, lives := all[name]; !lives {
			f.Close()
			delete(t.open, name)
		}
	}
	return all, nil
}

// stint reads the first two of the numbers in a thread's schedstat: see sched-stats in the documentation of Linux.
func (t *threads) stint(name string) (s stint, err error) {
	f := t.open[name]
	if f == nil {
		if f, err = os.Open(filepath.Join(t.folder, name, "schedstat")); err != nil {
			return s, err
		}
		t.open[name] = f
	}
	n, err := f.ReadAt(t.text[:], 0)
	if err != nil && err != io.EOF {
		return s, err
	}
	fields := bytes.Fields(t.text[:n])
	if len(fields) < 2 {
		return s, fmt.Errorf("%s: %q has no two numbers", f.Name(), t.text[:n])
	}
	if s.ran, err = strconv.ParseInt(string(fields[0]), 10, 64); err == nil {
		s.waited, err = strconv.ParseInt(string(fields[1]), 10, 64)
	}
	return s, err
}

// ProcessorTime returns for how long the threads of this process have run, all together.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it cannot fail with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
