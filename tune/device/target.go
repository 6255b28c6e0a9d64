package device

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/ndtune/ndtune/cl"
)

// A targetError says that the driver builds no program for a target.
type targetError struct{ target, reason string }

func (e *targetError) Error() string {
	return fmt.Sprintf("the kernel is for the target %s, and %s", e.target, e.reason)
}

// buildTarget compiles a source for a target of NVIDIA's assembler, such as sm_90a, which its OpenCL compiler does not choose
// by itself. If target is empty or the source builds without it, it is Build.
//
// The compiler translates OpenCL C to PTX for the basic target of the device, such as sm_90, and the assembler then refuses
// instructions of an extended one («not supported on .target sm_90»). No option changes the target. But the program has
// its PTX as binary even after this refusal, so a program is made of it with another target. That is documented nowhere:
// it was found on driver 580.159.04. Where it cannot be had, the error says so.
func (l *Launcher) buildTarget(source, options, target string) (*cl.Program, error) {
	program, err := l.Context.NewProgram(source)
	if err != nil {
		return nil, fmt.Errorf("make the program: %w", err)
	}
	refused := program.Build(options)
	if target == "" && refused != nil {
		program.Release()
	}
	if target == "" || refused == nil {
		return program, refused
	}
	binary, _ := program.Binary() // nil if there is none
	assembly := retarget(binary, target)
	program.Release()
	if assembly != nil {
		if program, refused = l.assemble(assembly, options); refused == nil {
			return program, nil
		}
	}
	if reason := l.targetReason(target); reason != "" {
		return nil, &targetError{target, reason}
	}
	return nil, refused
}

// assemble builds a program of a binary, such as PTX.
func (l *Launcher) assemble(binary []byte, options string) (*cl.Program, error) {
	program, err := l.Context.NewProgramFromBinary(binary)
	return built(program, options, err)
}

// built builds a program that was made without an error, which it releases if it does not build.
func built(program *cl.Program, options string, err error) (*cl.Program, error) {
	if err == nil {
		err = program.Build(options)
	}
	if err != nil {
		program.Release()
		return nil, err
	}
	return program, nil
}

// targetReason says why the driver builds no program for a target, or nothing if it builds an empty kernel. It
// finds out once for each target.
func (l *Launcher) targetReason(target string) (reason string) {
	if known, ok := l.targets[target]; ok {
		return known
	}
	defer func() { l.targets[target] = reason }()
	empty, err := l.Build("kernel void ndtune_target() {}", "")
	if err != nil {
		return fmt.Sprintf("an empty kernel does not build: %v", err)
	}
	defer empty.Release()
	binary, _ := empty.Binary()
	if ptxTarget.Find(binary) == nil {
		return "the driver makes no PTX, whose target could be changed"
	}
	assembly := retarget(binary, target)
	if assembly == nil {
		return "" // it is the target of all programs
	}
	program, err := l.assemble(assembly, "")
	if err == nil {
		program.Release()
		return ""
	}
	if failed, is := errors.AsType[*cl.BuildError](err); is && strings.TrimSpace(failed.Log) != "" {
		return "the driver builds no program for it: " + shorten(readable(failed.Log, "", "source"), maxLog)
	}
	return fmt.Sprintf("the driver builds no program for it: %v", err)
}

// ptxTarget finds the target of PTX text: «.target sm_90, texmode_independent» (PTX ISA, section «PTX Module Directives»).
var ptxTarget = regexp.MustCompile(`(?m)^\.target[ \t]+(sm_\w+)`)

// retarget returns PTX for another target, or nil if the binary is no PTX or has this target.
func retarget(binary []byte, target string) []byte {
	at := ptxTarget.FindSubmatchIndex(binary)
	if at == nil || string(binary[at[2]:at[3]]) == target {
		return nil
	}
	return bytes.Join([][]byte{binary[:at[2]], binary[at[3]:]}, []byte(target))
}
