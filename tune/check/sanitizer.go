package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// sanitizer is the name of NVIDIA's tool that watches the kernels of a process on the device. Its tools and messages are described at
// https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html.
const sanitizer = "compute-sanitizer"

// InstallSanitizer says how to get it, and what is not found without it.
const InstallSanitizer = sanitizer + " is not installed, which finds reads out of bounds, races in shared memory and divergent barriers, and names the lines. " +
	"It comes with the CUDA toolkit, or by pip install nvidia-cuda-sanitizer-api; PATH or CUDA_HOME says where it is"

// Sanitizer returns the program compute-sanitizer.
func Sanitizer() (program string, err error) {
	if program, err = exec.LookPath(sanitizer); err == nil {
		return program, nil
	}
	for _, home := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"} {
		for _, folder := range []string{"bin", sanitizer} {
			if program, err = exec.LookPath(filepath.Join(home, folder, sanitizer)); home != "" && err == nil {
				return program, nil
			}
		}
	}
	return "", errors.New(InstallSanitizer)
}

const initcheck = "initcheck"

// sanitizerTools are the tools of compute-sanitizer in the order in which they run, and what they find.
var sanitizerTools = []struct{ name, finds string }{
	{"memcheck", "accesses out of bounds"}, {"racecheck", "data races"}, {initcheck, "uninitialised memory"}, {"synccheck", "divergent barriers"},
}

// sanitize checks a configuration on the device under one tool of compute-sanitizer after the other.
func (k *checker) sanitize(ctx context.Context, c space.Configuration, into *Check) (found []Finding, of size, err error) {
	narrow := narrowed(k.problem.Definition(), c)
	narrow.Verify = nil
	narrow.Kernel.BuildOptions = append(slices.Clone(narrow.Kernel.BuildOptions), "-lineinfo")
	p, changed, err := made(ctx, narrow, k.Set, k.Identity)
	if err != nil {
		into.Unchecked = err.Error()
		return nil, of, ctx.Err()
	}
	into.Size = changed
	t := work{Device: k.Device}
	if t.Problem, err = p.Encode(); err != nil {
		return nil, of, err
	}
	end := time.Now().Add(k.Limit)
	for i, tool := range sanitizerTools {
		t.Tool = tool.name
		var by Check
		s, err := k.watch(ctx, t, p, max(0, time.Until(end)), &by)
		if err != nil {
			return nil, of, err
		}
		found, of = append(found, s.found...), cmp.Or(of, s.size())
		why := by.Unchecked
		if why == "" && (s.Done == nil || s.fatal != "") {
			why = unfinished(sanitizer, k.Limit, s.ended, s.fatal)
		}
		switch {
		case why == "" || len(s.found) > 0: // a fault that was found ends the launch
		case i == 0:
			into.Unchecked = why
			return found, of, nil
		default:
			into.Skipped = append(into.Skipped, tool.finds+": "+why)
		}
	}
	return found, of, nil
}

// watch has work done under a tool, and reads what it says.
func (k *checker) watch(ctx context.Context, t work, p *problem.Problem, limit time.Duration, into *Check) (s observed, err error) {
	log := filepath.Join(k.folder, t.Tool+".log")
	t.wrapper = []string{k.Sanitizer, "--tool", t.Tool, "--log-file", log, "--print-limit", "10000", "--kernel-name-exclude", "kns=ndtune_"}
	if t.Tool == "memcheck" { // else an access behind a buffer may be one of the next buffer
		t.wrapper = append(t.wrapper, "--padding", "65536")
	}
	if s.said, err = runChild(ctx, t, nil, limit, into); err != nil {
		return s, err
	}
	text, _ := os.ReadFile(log) // without its last line if it is not there
	defer os.Remove(log)
	messages, fatal := readSanitizer(string(text))
	s.fatal = fatal
	r := reader{problem: p, file: k.File}
	if s.Ready != nil {
		r.lines, r.addresses = source.Lined(s.Ready.Source), s.Ready.Addresses
	}
	for _, m := range messages {
		s.found = append(s.found, r.sanitized(m))
	}
	return s, nil
}

// The messages of compute-sanitizer about kernels, by their first lines.
var sanitizerForms = []messageForm{
	{OutOfBounds, regexp.MustCompile(`^(?:Potential i|I)nvalid __(?P<space>\w+)__ \w+ of size \d+`)},
	{Uninitialised, regexp.MustCompile(`^Uninitialized __(?P<space>\w+)__ memory read`)},
	{DataRace, regexp.MustCompile(`^(?i:error|warning): Race reported between `)},
	{Divergence, regexp.MustCompile(`^Barrier error detected|^Warpgroup MMA sequence error`)},
}

var (
	sanitizerLine    = regexp.MustCompile(`(?m)^=========( *)(.*)$`)
	sanitizerAccess  = regexp.MustCompile(`\b(Read|Write) access at `)
	sanitizerPlace   = regexp.MustCompile(` in (.+?):(\d+)(?:[: ].*)?$`)
	sanitizerAddress = regexp.MustCompile(`^(?:Address|Access (?:to|at)) 0x([0-9a-f]+)`)
	sanitizerNearest = regexp.MustCompile(`^and is .*\bnearest allocation at 0x([0-9a-f]+)`)
)

// readSanitizer returns the messages about kernels in a log of compute-sanitizer. A race of one access with several others is a message
// for each. Fatal says why the tool has not watched the process to its end, or is "".
func readSanitizer(log string) (all []message, fatal string) {
	early := "it ended early"
	var current *message
	for _, line := range sanitizerLine.FindAllStringSubmatch(log, -1) {
		text, indented := strings.TrimSpace(line[2]), len(line[1]) > 1
		switch {
		case strings.Contains(text, "SUMMARY:"):
			early = ""
		case !indented:
			current = nil
			if m := newMessage(text, sanitizerForms); m.Kind != "" {
				all = append(all, m)
				current = &all[len(all)-1]
				current.read(text)
			} else if strings.HasPrefix(text, "Error: ") || strings.HasPrefix(text, "Internal Sanitizer Error") {
				fatal = cmp.Or(fatal, text)
			}
		case current == nil:
		default:
			if current.Kind == DataRace && len(current.Positions) > 1 && sanitizerAccess.MatchString(text) {
				all = append(all, message{Kind: DataRace, Space: current.Space, Positions: current.Positions[:1:1]})
				current = &all[len(all)-1]
			}
			current.read(text)
		}
	}
	return all, cmp.Or(fatal, early)
}

// read reads a line of the message.
func (m *message) read(line string) {
	access := sanitizerAccess.FindStringSubmatch(line)
	if access != nil || strings.HasPrefix(line, "at ") || strings.HasPrefix(line, "Device Frame:") {
		p := position{}
		if access != nil {
			p.Instruction, m.Space = access[1], "shared"
		}
		if place := sanitizerPlace.FindStringSubmatch(line); place != nil {
			p.File = place[1]
			p.Line, _ = strconv.Atoi(place[2])
		}
		m.Positions = append(m.Positions, p)
	} else if by, is := strings.CutPrefix(line, "by "); is {
		m.Entity = cmp.Or(m.Entity, by)
	} else if at := sanitizerAddress.FindStringSubmatch(line); at != nil {
		m.Address, _ = strconv.ParseUint(at[1], 16, 64)
		if strings.Contains(line, "misaligned") {
			m.Kind = Misaligned
		}
	} else if at := sanitizerNearest.FindStringSubmatch(line); at != nil {
		m.Base, _ = strconv.ParseUint(at[1], 16, 64)
	}
}

// sanitized returns the finding of a message of compute-sanitizer.
func (r *reader) sanitized(m message) Finding {
	f := Finding{Kind: m.Kind, Kernel: r.problem.KernelName(), Memory: m.Space, Entity: m.Entity, Device: sanitizer}
	if m.Space == "local" { // CUDA's word for the private memory of a thread
		f.Memory = "private"
	}
	access := "write"
	for _, p := range m.Positions {
		if p.Instruction == "Read" {
			access = "read"
		}
		if p.Line > 0 {
			f.Where = append(f.Where, r.place(p.Location))
		}
	}
	if m.Kind == DataRace {
		slices.SortStableFunc(f.Where, Location.compare)
	} else if i := slices.IndexFunc(f.Where, func(l Location) bool { return l.Text != "" }); len(f.Where) > 1 {
		f.Where = f.Where[max(0, i):][:1] // of a function and its callers, the first in the kernel's source
	}
	r.locateBuffer(&f, m)
	target := f.Memory + " memory"
	if f.Argument != "" {
		target = fmt.Sprintf("%s[%d]", f.Argument, *f.Index)
	}
	switch m.Kind {
	case DataRace:
		f.Text = access + "-write race in shared memory"
	case OutOfBounds:
		_, after, _ := strings.Cut(m.Text, "__ ")
		way, _, _ := strings.Cut(after, " of size")
		f.Text = fmt.Sprintf("%s out of bounds at %s", way, target)
	case Uninitialised:
		f.Text = fmt.Sprintf("read of %s, which nothing has written", target)
		if f.Argument != "" {
			f.Text += "; the specification has no fill for " + f.Argument
		}
	case Misaligned:
		f.Text = "the address is no multiple of the size of the type"
	case Divergence:
		if f.Text = m.Text; strings.Contains(m.Text, "Divergent") {
			_, of, _ := strings.Cut(strings.TrimSuffix(m.Text, "."), " in ")
			f.Text = fmt.Sprintf("not all threads of the %s come here", of)
		}
	}
	return f
}

// place returns a location in the source with its text. The tool names files without their folders, and the compiler has a name for the
// source itself.
func (r *reader) place(l Location) Location {
	at := source.Place{Line: l.Line}
	for p, text := range r.lines {
		if p.Line == l.Line && path.Base(p.File) == path.Base(filepath.ToSlash(l.File)) && (at.File == "" || p.File < at.File) {
			at, l.Text = p, strings.TrimSpace(text)
		}
	}
	if at.File == "" && strings.HasSuffix(l.File, "<source>") {
		at.File, l.Text = cmp.Or(r.file, l.File), strings.TrimSpace(r.lines[at])
	}
	l.File = cmp.Or(at.File, l.File)
	return l
}

// locateBuffer finds the argument and the index of an address in global memory.
func (r *reader) locateBuffer(f *Finding, m message) {
	base := m.Base
	for _, a := range r.addresses {
		if m.Base == 0 && a <= m.Address {
			base = max(base, a)
		}
	}
	if i := slices.Index(r.addresses, base); m.Space == "global" && base > 0 && i >= 0 {
		r.element(f, i, int64(m.Address-base))
	}
}
