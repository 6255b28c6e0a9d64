package cuda

import "errors"

// A code is the machine code of a program, with the declarations of its kernels: its binary.
type code struct {
	Log     string
	Kernels []declaration
	Machine []byte
}

// A declaration is that of a kernel.
type declaration struct {
	Name, Symbol     string // in the source, and in the machine code
	Parameters       []int  // their sizes in bytes
	Dynamic          bool   // it may use dynamic shared memory
	Shared           int    // bytes of static shared memory
	Threads          [3]int // of a block, that it requires; zeros: any
	MostThreads      int    // of a block; 0: not said
	Registers, Spill int    // of a thread: 32-bit registers, spilled bytes
}

func compilerVersion() string { return "no NVRTC" }

func compile(source, options, architecture string) (*code, string, *Failure) {
	return nil, "", fail(compilerNotAvailable, "NVRTC is not built yet")
}

func (c *code) encode() []byte { return nil }

func decode([]byte) (*code, error) { return nil, errors.New("NVRTC is not built yet") }
