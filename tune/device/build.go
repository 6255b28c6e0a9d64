package device

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
)

// argumentInfoOption asks the compiler to keep what the kernel's arguments are.
const argumentInfoOption = "-cl-kernel-arg-info"

// maxLog bounds the build log that a reason carries, in bytes.
const maxLog = 16 << 10

// build compiles a variant and makes its kernel. It takes the binary instead where there is
// one and the driver accepts it.
func (s *session) build(v *tune.Variant, binary []byte, name string) (*cl.Program, *cl.Kernel, error) {
	options := argumentInfoOption + " " + v.OptionLine()
	program := s.load(binary, options)
	if program == nil {
		var err error
		if program, err = s.context.NewProgram(v.Source); err != nil {
			return nil, nil, fail(tune.Runtime, "make the program: %v", err)
		}
		if err := program.Build(options, s.device); err != nil {
			program.Release()
			return nil, nil, buildFailure(name, v, err)
		}
	}
	kernel, err := program.NewKernel(name)
	if err != nil {
		names, _ := program.KernelNames()
		program.Release()
		if errors.Is(err, cl.InvalidKernelName) {
			if len(names) == 0 {
				return nil, nil, fail(tune.Compile, "the source has no kernel named %s", name)
			}
			return nil, nil, fail(tune.Compile, "the source has no kernel named %s; it has %s", name, strings.Join(names, ", "))
		}
		return nil, nil, fail(tune.Compile, "make the kernel %s: %v", name, err)
	}
	return program, kernel, nil
}

// load makes a program of a binary, or nothing where there is none or the driver refuses it.
func (s *session) load(binary []byte, options string) *cl.Program {
	if len(binary) == 0 {
		return nil
	}
	program, err := s.context.NewProgramFromBinaries([]*cl.Device{s.device}, [][]byte{binary})
	if err != nil {
		return nil
	}
	if err := program.Build(options, s.device); err != nil {
		program.Release()
		return nil
	}
	return program
}

// buildFailure tells a source that does not compile from a driver that could not build.
func buildFailure(name string, v *tune.Variant, err error) error {
	var failed *cl.BuildError
	if !errors.As(err, &failed) {
		return fail(tune.Compile, "build %s: %v", name, err)
	}
	log := readable(failed.Log)
	reason := fmt.Sprintf("build %s: %v", name, failed.Err)
	if log != "" {
		reason += "\n" + shorten(log, maxLog)
	}
	if tooMuch := localMemoryError.FindString(log); tooMuch != "" {
		return fail(tune.Constraints, "local memory: %s", tooMuch)
	}
	if v.Prologue > 0 {
		// The compilers of NVIDIA and Oclgrind count lines without regard to #line.
		reason += fmt.Sprintf("\n(%d lines with #define stand before the source; some compilers count them)", v.Prologue)
	}
	return fail(tune.Compile, "%s", reason)
}

// localMemoryError is how NVIDIA's assembler refuses a kernel whose local memory is beyond
// what any of its devices has: «Entry function 'k' uses too much shared data (0x1000004
// bytes, 0x38c00 max)».
var localMemoryError = regexp.MustCompile(`(?i)[^\n:]*uses too much shared data[^\n]*`)

// readable is a compiler's log as valid UTF-8 without what some drivers leave around it.
func readable(log string) string {
	return strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(log, "\x00", ""), "\uFFFD"))
}

// shorten keeps the beginning and the end of a long text.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := limit*3/4, len(text)-limit/4
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", text[:head], tail-head, text[tail:])
}

// checkKernel refuses a built kernel that the device cannot launch with this work-group.
// The kernel's own maximum is no reason yet: NVIDIA's driver says 256 for every kernel, and
// runs larger work-groups all the same. Whether it does, the launch tells.
// Some drivers build kernels whose local memory exceeds the device's without a word.
func (s *session) checkKernel(k *cl.Kernel, v *tune.Variant, d tune.Device) error {
	info, err := k.WorkGroupInfo(s.device)
	if err != nil {
		return fail(tune.Runtime, "ask for the kernel's limits: %v", err)
	}
	local := info.LocalMem // without the arguments, which are not set yet
	for _, n := range v.LocalBytes {
		local += int64(n)
	}
	if d.LocalMemory > 0 && local > d.LocalMemory {
		return fail(tune.Constraints, "local memory %d B > device limit %d B", local, d.LocalMemory)
	}
	if c := info.CompileSize; c[0] > 0 && c != v.NDRange.Local {
		return fail(tune.Constraints, "the kernel requires a work-group of %d×%d×%d (reqd_work_group_size), not %d×%d×%d",
			c[0], c[1], c[2], v.NDRange.Local[0], v.NDRange.Local[1], v.NDRange.Local[2])
	}
	return nil
}
