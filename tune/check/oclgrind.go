package check

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// InstallOclgrind says how to get the simulator.
const InstallOclgrind = "Oclgrind is not installed: apt-get install oclgrind (Debian, Ubuntu), or https://github.com/jrprice/Oclgrind"

// Oclgrind returns the library from which programs use Oclgrind as their OpenCL. It is installed beside the command oclgrind.
func Oclgrind() (library string, err error) {
	command, err := exec.LookPath("oclgrind")
	if err != nil {
		return "", errors.New(InstallOclgrind)
	}
	if real, err := filepath.EvalSymlinks(command); err == nil {
		command = real
	}
	prefix := filepath.Dir(filepath.Dir(command))
	for _, folder := range []string{"lib/oclgrind", "lib", "lib64/oclgrind", "lib64"} {
		library = filepath.Join(prefix, folder, "liboclgrind-rt.so")
		if _, err := os.Stat(library); err == nil {
			return library, nil
		}
	}
	return "", errors.New("liboclgrind-rt.so is not in the lib folder beside " + command)
}

// OclgrindEnvironment returns the environment variables with which a process that uses Oclgrind's library looks for faults, and
// writes its messages into a file.
func OclgrindEnvironment(log string) []string {
	return append([]string{"OCLGRIND_LOG=" + log, "OCLGRIND_DATA_RACES=1", "OCLGRIND_MAX_ERRORS=20000"}, oclgrindLimits...)
}

// oclgrindLimits let the simulated device take every configuration: the defaults are 1024 work-items and 32 KiB of local memory.
var oclgrindLimits = []string{"OCLGRIND_MAX_WGSIZE=4096", "OCLGRIND_LOCAL_MEM_SIZE=1048576"}

// A message is one of Oclgrind or compute-sanitizer.
type message struct {
	Kind      Kind   // "": the message is about no fault of a kernel
	Text      string // its first line
	Kernel    string
	Entity    string // the work-item or work-group
	Space     string // of the memory: global, local, constant or private; "": none is named
	Address   uint64 // if a Space is named
	Base      uint64 // of the buffer next to it, as compute-sanitizer says; 0: unknown
	Index     int    // of a static array, if Static is set
	Static    bool
	Positions []position // in the source; two of a data race
}

// A position is a location without its text, and the instruction there.
type position struct {
	Location
	Instruction string
}

// A messageForm is that of the first lines of messages about faults of a kind.
type messageForm struct {
	kind Kind
	form *regexp.Regexp
}

// The messages of Oclgrind by their first lines. The first match counts.
var messageForms = []messageForm{
	{DataRace, regexp.MustCompile(`^(?:Write-write|Read-write|Write-read) data race at (?P<space>\w+) memory address 0x(?P<address>[0-9a-f]+)`)},
	{OutOfBounds, regexp.MustCompile(`^Invalid (?:read|write) of size \d+ at (?P<space>\w+) memory address 0x(?P<address>[0-9a-f]+)`)},
	{OutOfBounds, regexp.MustCompile(`^Index \((?P<index>-?\d+)\) exceeds static array size`)},
	{Misaligned, regexp.MustCompile(`^Invalid memory (?:load|store) - source pointer is not aligned|^Unaligned address on`)},
	{ConstWrite, regexp.MustCompile(`^Invalid write to read-only buffer`)},
	{Divergence, regexp.MustCompile(`^Work-group divergence detected|^Work-item finished without waiting for events|^Invalid wait event`)},
	{Uninitialised, regexp.MustCompile(`^Uninitialized value written to (?P<space>global) memory address 0x(?P<address>[0-9a-f]+)`)},
	{Uninitialised, regexp.MustCompile(`^Uninitialized address used to (?:write to|read from) (?P<space>\w+) memory address 0x(?P<address>[0-9a-f]+)`)},
	{Uninitialised, regexp.MustCompile(`^Controlflow depends on uninitialized value|^Instruction depends on an uninitialized index value`)},
}

var (
	positionForm = regexp.MustCompile(`^At line (\d+) \(column (\d+)\) of (.*):$`)
	kernelForm   = regexp.MustCompile(`^Kernel:\s*(\S+)`)
	entityForm   = regexp.MustCompile(`^(?:Entity|Work-group|Work-item|First entity|Second entity):\s*(.*)`)
)

// readMessages returns the messages in a log of Oclgrind. Fatal is the text of an error of Oclgrind itself, or "".
func readMessages(log io.Reader) (all []message, fatal string) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	var current *message
	instruction, dying := "", false
	for lines.Scan() {
		line := lines.Text()
		text := strings.TrimSpace(line)
		switch {
		case dying && text != "":
			fatal, dying = strings.TrimSpace(fatal+" "+text), !strings.Contains(text, ")") // the text ends before its position
		case strings.Contains(line, "OCLGRIND FATAL ERROR"):
			dying = true
		case text == "":
		case !strings.HasPrefix(line, "\t"):
			all = append(all, newMessage(text, messageForms))
			current = &all[len(all)-1]
		case current == nil:
		default:
			if m := kernelForm.FindStringSubmatch(text); m != nil {
				current.Kernel = m[1]
			} else if m := entityForm.FindStringSubmatch(text); m != nil {
				current.Entity = cmp.Or(current.Entity, strings.TrimSpace(m[1]))
			} else if m := positionForm.FindStringSubmatch(text); m != nil {
				n, _ := strconv.Atoi(m[1])
				column, _ := strconv.Atoi(m[2])
				current.Positions = append(current.Positions, position{Location{File: m[3], Line: n, Column: column}, instruction})
			} else if strings.HasPrefix(line, "\t  ") {
				instruction = text
			}
		}
	}
	return all, fatal
}

// newMessage reads the first line of a message.
func newMessage(text string, forms []messageForm) message {
	m := message{Text: text}
	for _, f := range forms {
		found := f.form.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		m.Kind = f.kind
		for i, name := range f.form.SubexpNames() {
			switch name {
			case "space":
				m.Space = found[i]
			case "address":
				m.Address, _ = strconv.ParseUint(found[i], 16, 64)
			case "index":
				m.Index, _ = strconv.Atoi(found[i])
				m.Static = true
			}
		}
		break
	}
	return m
}
