package process

import (
	"fmt"
	"strings"
	"testing"
)

// Dumps of Go programs as they are.
const (
	dumpOnGoThread = `SIGSEGV: segmentation violation
PC=0x7f3a1c0d2134 m=4 sigcode=1 addr=0x10
signal arrived during cgo execution

goroutine 1 gp=0xc000002380 m=4 mp=0xc00008a808 [syscall]:
runtime.cgocall(0x4b1a20, 0xc0000a3d28)
	/usr/local/go/src/runtime/cgocall.go:167 +0x4b fp=0xc0000a3d00 sp=0xc0000a3cc8 pc=0x46a2eb

rax    0x10
`
	dumpOfFault = `fatal error: unexpected signal during runtime execution
[signal SIGSEGV: segmentation violation code=0x1 addr=0x10 pc=0x7f3a1c0d2134]

runtime stack:
runtime.throw({0x5a1b2c?, 0x0?})
	/usr/local/go/src/runtime/panic.go:1101 +0x48
`
	dumpOfAbort = `SIGABRT: abort
PC=0x7f9aa5c9eebc m=8 sigcode=18446744073709551610

goroutine 0 gp=0xc000102a80 m=8 mp=0xc000100808 [idle]:
`
	dumpOfPanic = `panic: runtime error: index out of range [3] with length 3

goroutine 7 [running]:
main.main()
`
	dumpOfThrow = `fatal error: concurrent map writes

goroutine 7 [running]:
`
	dumpOfNilRead = `panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x47e5b3]

goroutine 1 [running]:
`
	dumpOfMemory = `runtime: out of memory: cannot allocate 4194304-byte block (8589934592 in use)
fatal error: out of memory

goroutine 1 [running]:
`
)

func TestDump(t *testing.T) {
	for _, c := range []struct{ text, how, before string }{
		{"", "", ""},
		{"free(): invalid pointer\n", "", "free(): invalid pointer\n"},
		{dumpOnGoThread, "by signal SIGSEGV (segmentation violation)", ""},
		{"hello\n" + dumpOnGoThread, "by signal SIGSEGV (segmentation violation)", "hello\n"},
		{dumpOfFault, "by signal SIGSEGV (segmentation violation)", ""},
		{"double free or corruption (out)\n" + dumpOfAbort, "by signal SIGABRT (abort)", "double free or corruption (out)\n"},
		{dumpOfPanic, "by a fault: runtime error: index out of range [3] with length 3", ""},
		{"a\n" + dumpOfThrow, "by a fault: concurrent map writes", "a\n"},
		{dumpOfNilRead, "by signal SIGSEGV (segmentation violation)", ""},
		{dumpOfMemory, "by a fault: out of memory", ""},
		{"x.cl:3:1: fatal error: 'a.h' file not found\n", "", "x.cl:3:1: fatal error: 'a.h' file not found\n"},
		{"runtime: it took 3 s\n", "", "runtime: it took 3 s\n"},
	} {
		how, before := dump(c.text)
		if how != c.how || before != c.before {
			t.Errorf("%q:\n%q, %q; want\n%q, %q", c.text, how, before, c.how, c.before)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{(&End{}).Explain(""), "for a reason that the system does not tell"},
		{(&End{Printed: "double free or corruption (out)\n" + dumpOfAbort}).Explain(""), "by signal SIGABRT (abort); it printed last: double free or corruption (out)"},
		{(&End{Printed: "building\nLLVM ERROR: out of registers\nPLEASE submit a bug report\nStack dump:\n" + dumpOfAbort}).Explain(""),
			"by signal SIGABRT (abort); it printed last: LLVM ERROR: out of registers\nbuilding\nLLVM ERROR: out of registers\nPLEASE submit a bug report\nStack dump:"},
		{(&End{Printed: "k.cl: Assertion failed\n" + strings.Repeat("#0 main\n", 20)}).Explain(""),
			"for a reason that the system does not tell; it printed last: k.cl: Assertion failed\nk.cl: Assertion failed\n…\n" + strings.TrimSpace(strings.Repeat("#0 main\n", lastLines))},
		{(&End{Printed: "\n \n", Garbled: fmt.Errorf("duplicate type")}).Explain(""), "for a reason that the system does not tell, after a message that makes no sense (duplicate type)"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	long := (&End{Printed: strings.Repeat("line\n", 100)}).Explain("")
	if n := strings.Count(long, "line\n") + 1; n != 1+lastLines { // the first line has the last one, too
		t.Errorf("%d lines of 100 are told", n)
	}
	wide := (&End{Printed: strings.Repeat("ü", 10_000)}).Explain("")
	if len(wide) > maxLastBytes+200 || !strings.Contains(wide, "…ü") || strings.Contains(wide, "\uFFFD") {
		t.Errorf("%d bytes: %.100q", len(wide), wide)
	}
}
