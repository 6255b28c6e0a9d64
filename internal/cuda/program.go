package cuda

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/library"
)

// A program is source or machine code. Its module is brought onto the device when it is first needed.
type program struct {
	object
	*context
	source string // "": it is machine code
	log    string
	built  *code // nil: it was not built

	mu     sync.Mutex
	module uintptr
	loaded map[string]*loaded // by symbol
}

// A loaded is a kernel on the device.
type loaded struct {
	function uintptr
	threads  int // of a block, at most
	dynamic  int // bytes of dynamic shared memory that it may have
}

func createProgram(_ *task, a []uintptr) *program {
	return of[context](a[0]).own(&program{source: string(memory(*at[uintptr](a[2]), *at[uintptr](a[3])))})
}

func loadProgram(t *task, a []uintptr) *program {
	built, err := decode(bytes.Clone(memory(*at[uintptr](a[4]), *at[uintptr](a[3]))))
	if err != nil {
		t.fail(invalidBinary, "%v", err)
		return nil
	}
	return of[context](a[0]).own(&program{built: built, log: built.Log})
}

func (c *context) own(p *program) *program {
	p.context, p.loaded = c, map[string]*loaded{}
	p.begin(&c.object, func(t *task) {
		if p.module != 0 {
			defer c.enter(t)()
			t.run(&c.cuCtxSynchronize) // launches may be under way
			t.run(&c.cuModuleUnload, p.module)
		}
	})
	return p
}

func buildProgram(t *task, a []uintptr) {
	if p := of[program](a[0]); p.source != "" {
		p.built, p.log, t.failed = compile(p.source, text(a[3]), p.architecture())
	}
}

// buildInfo answers with the log, the one query of package cl.
func buildInfo(_ *task, a []uintptr) []byte { return terminated(of[program](a[0]).log) }

func programInfo(t *task, a []uintptr) []byte {
	const binarySizes, binaries, kernelNames = 0x1165, 0x1166, 0x1168
	built := of[program](a[0]).code(t)
	switch a[1] {
	case binarySizes:
		return numbers(len(built.encode()))
	case binaries: // the answer is where the caller wants the binary, and stays so
		binary := built.encode()
		copy(memory(*at[uintptr](a[3]), uintptr(len(binary))), binary)
		return memory(a[3], a[2])
	case kernelNames:
		return terminated(strings.Join(each.Of(built.Kernels, func(d declaration) string { return d.Name }), ";"))
	}
	return nil
}

// code returns what the program was built to; if it was not built, that is a failure and empty.
func (p *program) code(t *task) *code {
	if p.built == nil {
		t.fail(invalidProgramExecutable, "the program was not built")
		return &code{}
	}
	return p.built
}

// load brings the module onto the device; the program is locked.
func (p *program) load(t *task) {
	if p.module == 0 {
		machine := p.code(t).Machine
		t.run(&p.cuModuleLoadData, uintptr(unsafe.Pointer(&p.module)), uintptr(unsafe.Pointer(unsafe.SliceData(machine))))
		if c, err := theCompiler(); err == nil && t.failed != nil && newestMajor > 0 && int(c.major) > newestMajor {
			t.failed.Text += fmt.Sprintf(" (NVRTC %d.%d is newer than the driver; pip install nvidia-cuda-nvrtc-cu%d)", c.major, c.minor, newestMajor)
		}
	}
}

// kernel brings a kernel onto the device, and lets it have dynamic shared memory.
func (p *program) kernel(t *task, symbol string, dynamic int) *loaded {
	const mostThreads, mostDynamic = 0, 8 // attributes
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.enter(t)()
	l := p.loaded[symbol]
	if l == nil {
		p.load(t)
		l = &loaded{}
		t.run(&p.cuModuleGetFunction, uintptr(unsafe.Pointer(&l.function)), p.module, uintptr(unsafe.Pointer(library.CString(symbol))))
		l.threads = int(get[int32](t, &p.cuFuncGetAttribute, mostThreads, l.function))
		if t.failed == nil {
			p.loaded[symbol] = l
		}
	}
	if dynamic > l.dynamic { // only what is above 48 KiB with the static one must be asked for
		if t.run(&p.cuFuncSetAttribute, l.function, mostDynamic, uintptr(dynamic)); t.failed == nil {
			l.dynamic = dynamic
		}
	}
	return l
}

// getSymbol makes a buffer of a variable of the program, which has the memory.
func getSymbol(t *task, a []uintptr) *buffer {
	p := of[program](a[0])
	b := &buffer{context: p.context}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.enter(t)()
	p.load(t)
	t.run(&p.cuModuleGetGlobal_v2, uintptr(unsafe.Pointer(&b.at)), uintptr(unsafe.Pointer(&b.size)), p.module, a[1])
	if t.failed == nil {
		*at[uintptr](a[2]) = b.size
		b.begin(&p.object, nil)
	}
	return b
}
