package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/footprint"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// nvidiaCompiler is the extension of NVIDIA's compiler.
const nvidiaCompiler = "cl_nv_compiler_options"

// argumentInfoOption asks the compiler to keep what the kernel's arguments are.
const argumentInfoOption = "-cl-kernel-arg-info"

// maxLog is the size in bytes of the longest build log in a reason.
const maxLog = 16 << 10

// Derive returns the variant of a configuration for a device. The error says why the device
// cannot run it.
func Derive(p *problem.Problem, c space.Configuration, d hardware.Device) (*problem.Variant, error) {
	v, err := p.Variant(c, d)
	if err != nil {
		return nil, err
	}
	if reason := v.ExceededLimit(d); reason != "" {
		return nil, errors.New(reason)
	}
	return v, nil
}

// FindBuffers returns the indices of a kernel's arguments of some names. It reports false unless
// the kernel takes these arguments and no others, all of them buffers of one type.
func FindBuffers(p *problem.Problem, kind array.Type, names ...string) (indices []int, ok bool) {
	infos := p.Arguments()
	for _, name := range names {
		i := slices.IndexFunc(infos, func(a problem.Argument) bool {
			return a.Name == name && a.Kind == definition.BufferArgument && a.Element.Type == kind
		})
		if i < 0 || len(infos) != len(names) || p.IsPipeline() {
			return nil, false
		}
		indices = append(indices, i)
	}
	return indices, true
}

// build makes the source of a variant, compiles it and makes its kernels. It takes the binary instead where
// there is one and the driver accepts it.
func (s *session) build(ctx context.Context, v *problem.Variant, binary []byte) (*Built, error) {
	if len(binary) > 0 {
		if program, err := s.assemble(binary, s.options(v)); err == nil {
			return s.link(program, v)
		}
	}
	if err := s.generate(ctx, v); err != nil {
		return nil, err
	}
	return s.compile(v)
}

// compile compiles a variant that has its source, and makes its kernels.
func (s *session) compile(v *problem.Variant) (*Built, error) {
	program := s.takeKept(v)
	var err error
	switch {
	case program != nil:
	case v.SPIRV():
		program, err = s.buildSPIRV(v)
	default:
		program, err = s.buildTarget(v.Source, s.options(v), v.Target)
	}
	if err != nil {
		return nil, s.buildFailure(v, err)
	}
	return s.link(program, v)
}

// mostKept is how many programs a launcher keeps: those of the finalists, and of their rivals.
const mostKept = 20

// A kept is a program that may be asked for again: for the final measurement, or for one single launch after the other. PoCL takes 24 ms
// to find a program in its cache.
type kept struct {
	*cl.Program
	key  string  // see session.keyOf
	time float64 // of a launch, in milliseconds; 0: it was not timed
}

// keep has the launcher keep the program of a variant, instead of its release, if it is one of the fastest.
func (s *session) keep(b *Built, time float64) {
	k := kept{b.program, s.keyOf(b.Variant), time}
	i := sort.Search(len(s.kept), func(i int) bool { return s.kept[i].time > time }) // of equal ones, the first are finalists
	s.kept, b.program = slices.Insert(s.kept, i, k), nil
	if len(s.kept) > mostKept {
		s.kept[mostKept].Release()
		s.kept = s.kept[:mostKept]
	}
}

// takeKept returns a program that was kept, which the caller owns then, or nil.
func (s *session) takeKept(v *problem.Variant) *cl.Program {
	key := s.keyOf(v)
	i := slices.IndexFunc(s.kept, func(k kept) bool { return k.key == key })
	if i < 0 {
		return nil
	}
	program := s.kept[i].Program
	s.kept = slices.Delete(s.kept, i, i+1)
	return program
}

// keyOf returns a text of everything on which the program of a variant depends.
func (s *session) keyOf(v *problem.Variant) string {
	return strings.Join([]string{v.Target, s.options(v), v.Source}, "\n")
}

// options returns all options of the compiler. Those of NVIDIA have the one that makes it print what the kernels take, if this
// is wanted: for all builds, so that they find each other in the driver's cache.
func (s *session) options(v *problem.Variant) string {
	options := v.OptionLine()
	if s.problem.Language() == source.OpenCL {
		options = argumentInfoOption + " " + options
	}
	if len(s.problem.Compiled()) > 0 && s.Info.HasExtension(nvidiaCompiler) {
		options = footprint.NVIDIAOption + " " + options
	}
	return options
}

// generate makes the source of a variant if it is made for each configuration. An error that is no *Failure
// says that the command cannot be started, which is no configuration's fault.
func (s *session) generate(ctx context.Context, v *problem.Variant) error {
	err := s.problem.Generate(ctx, v, s.generator)
	var unstarted *process.StartError
	switch {
	case err == nil || errors.As(err, &unstarted):
		return err
	case errors.Is(err, process.ErrLate):
		return fail(tune.Timeout, "%v", err)
	}
	return fail(tune.Compile, "%s", shorten(err.Error(), maxLog))
}

// buildSPIRV builds a variant whose source is a SPIR-V module. It asks for no description of the arguments:
// that is an option for sources.
func (s *session) buildSPIRV(v *problem.Variant) (*cl.Program, error) {
	if !strings.Contains(s.Info.ILVersion, "SPIR-V") {
		return nil, fail(tune.Constraints, "the kernel is a SPIR-V module, and the device takes none (CL_DEVICE_IL_VERSION has no SPIR-V)")
	}
	program, err := s.Context.NewProgramFromIL([]byte(v.Source))
	return built(program, v.OptionLine(), err)
}

// buildFailure tells a source that does not compile from a driver that could not build.
func (s *session) buildFailure(v *problem.Variant, err error) error {
	name := s.problem.KernelName()
	var failed *cl.BuildError
	var known *Failure
	var target *targetError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &target):
		return fail(tune.Constraints, "%v", err)
	case errors.As(err, &failed):
	case errors.Is(err, cl.InvalidBuildOptions):
		return fail(tune.Compile, "build %s: %v", name, err)
	case errors.Is(err, cl.InvalidValue) && v.SPIRV():
		return fail(tune.Compile, "load the SPIR-V module: %v", err)
	default:
		return fail(tune.Runtime, "%v", err)
	}
	log := readable(failed.Log, v.Source, s.problem.SourceName())
	reason := fmt.Sprintf("build %s: %v", name, failed.Err)
	if option := s.unknownCXX(v); option != "" {
		reason = fmt.Sprintf("build %s: the driver does not compile C++ for OpenCL (%s): %v", name, option, failed.Err)
	}
	if log != "" {
		reason += "\n" + shorten(log, maxLog)
	}
	if tooMuch := localMemoryError.FindString(log); tooMuch != "" {
		return fail(tune.Constraints, "local memory: %s", tooMuch)
	}
	for _, hint := range []string{v.Hint, featureHint(log, v.OptionLine(), s.Info)} {
		if hint != "" {
			reason += "\n(" + hint + ")"
		}
	}
	return fail(tune.Compile, "%s", reason)
}

// featureHint says why a kernel cannot compute halves or does not find a function of sub-groups, or "" if the log names neither.
func featureHint(log, options string, d *cl.DeviceInfo) string {
	switch missing := missingSubGroup.FindStringSubmatch(log); {
	case missingHalf.MatchString(log) && d.HasExtension("cl_khr_fp16"):
		return "halves need #pragma OPENCL EXTENSION cl_khr_fp16 : enable"
	case missingHalf.MatchString(log):
		return "the device computes no half: it lacks the extension cl_khr_fp16; vload_half and vstore_half convert to float and back"
	case missing == nil:
		return ""
	case !d.HasExtension("cl_khr_subgroups") && !d.HasExtension("cl_intel_subgroups"):
		return "the device has no sub-groups: its extensions are neither cl_khr_subgroups nor cl_intel_subgroups"
	case strings.HasPrefix(missing[1], "intel_") && !d.HasExtension("cl_intel_subgroups"):
		return "the device does not have the extension cl_intel_subgroups"
	case !strings.Contains(options, "-cl-std=CL2") && !strings.Contains(options, "-cl-std=CL3"):
		return "sub-groups need OpenCL C 2.0 or newer: build_options: [-cl-std=CL3.0], or -cl-std=CL2.0"
	}
	has := slices.DeleteFunc(slices.Clone(d.Extensions), func(e string) bool { return !strings.Contains(e, "subgroup") })
	return "of the extensions for sub-groups, the device has " + strings.Join(has, ", ")
}

// missingSubGroup finds a function of sub-groups that a compiler does not know: «implicit declaration of function
// 'sub_group_reduce_add'», «use of undeclared identifier 'get_sub_group_size'», «Unresolved extern function …».
var missingSubGroup = regexp.MustCompile(
	`(?i)(?:implicit|undeclared|undefined|unresolved)[^\n]*?\b((?:get_|intel_)?(?:\w+_)??sub_group_\w+)`)

// missingHalf finds the complaints of compilers about halves that they do not compute.
var missingHalf = regexp.MustCompile(
	`(?i)error\b[^\n]*(?:half' is not allowed|(?:identifier|type name) '(?:convert_|as_)?half(?:\d+(?:_\w+)?)?'|requires cl_khr_fp16)`)

// unknownCXX returns the option for C++ for OpenCL if the driver does not compile even an empty kernel with
// it, else "". Not all drivers that compile the language list cl_ext_cxx_for_opencl.
func (s *session) unknownCXX(v *problem.Variant) string {
	i := slices.IndexFunc(v.Options, func(o string) bool { return strings.HasPrefix(o, "-cl-std=CLC++") })
	if i < 0 {
		return ""
	}
	if _, err := s.Kernel("__kernel void ndtune_cxx_probe() {}", v.Options[i], "ndtune_cxx_probe"); err == nil {
		return ""
	}
	return v.Options[i]
}

// localMemoryError is how NVIDIA's assembler refuses a kernel whose local memory is beyond
// what any of its devices has: «Entry function 'k' uses too much shared data (0x1000004
// bytes, 0x38c00 max)».
var localMemoryError = regexp.MustCompile(`(?i)[^\n:]*uses too much shared data[^\n]*`)

// warningsIn returns the log of a successful build if it has a warning about the source, else "". NVIDIA's
// compiler warns of each kernel that another function may call, and prints the footprints of kernels if it is asked to.
func warningsIn(log string) string {
	lines := slices.DeleteFunc(strings.Split(log, "\n"), func(line string) bool {
		return strings.Contains(line, "overriding noinline attribute") ||
			strings.HasPrefix(line, "ptxas info ") || strings.HasPrefix(line, "ptxas         .")
	})
	log = strings.TrimSpace(strings.Join(lines, "\n"))
	if !strings.Contains(strings.ToLower(log), "warning") {
		return ""
	}
	return shorten(log, maxLog)
}

// readable returns a compiler's log as valid UTF-8, without zero bytes and white space around it. A source has no file for a compiler:
// the name that it gets here takes the place of the compiler's own, which may differ from build to build.
func readable(log, text, name string) string {
	log = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(log, "\x00", ""), "\uFFFD"))
	return unnamedSource.ReplaceAllStringFunc(log, func(at string) string {
		m := unnamedSource.FindStringSubmatch(at)
		line, err := strconv.Atoi(m[1])
		if err != nil {
			return name + m[2] + m[3]
		}
		// NVIDIA's compiler counts the lines of the text, without regard to #line.
		place := source.PlaceOf(text, line)
		return fmt.Sprintf("%s:%d", cmp.Or(place.File, name), place.Line)
	})
}

// unnamedSource matches what compilers call a source: that of NVIDIA with a line; those of PoCL and AMD; ARM, Qualcomm and Apple; and
// that of Intel's GPUs.
var unnamedSource = regexp.MustCompile(`(?m)<kernel>:([0-9]+)|` +
	`(?:(?:/[^:\n]*/)?\b(?:tempfile_\w+\.cl|CompileSource)\b|<source>|<program source>)(:[0-9]+)?|^1(:[0-9]+:[0-9]+)`)

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

// checkLaunch refuses a launch that the device cannot make with the built kernel.
// The kernel's own maximum is no reason yet: NVIDIA's driver says 256 for every kernel, and
// runs larger work-groups all the same. Whether it does, the launch tells.
// Some drivers build kernels whose local memory exceeds the device's without a word. NVIDIA's assembler refuses what is too
// much: arrays in the kernel may have more than the device says, such as 226 KiB instead of 48 on compute capability 9.0.
func (s *session) checkLaunch(l Launch, of problem.Launch, d hardware.Device) error {
	info, err := l.Kernel.WorkGroupInfo()
	if err != nil {
		return fail(tune.Runtime, "ask for the kernel's limits: %v", err)
	}
	var arguments int64
	for _, n := range of.LocalBytes {
		arguments += int64(n)
	}
	local := info.LocalMem + arguments // which are not set yet
	assembled := arguments == 0 && s.Info.HasExtension(nvidiaCompiler) && !d.IsCUDA()
	if d.LocalMemory > 0 && local > d.LocalMemory && !assembled {
		return fail(tune.Constraints, "local memory %d B > device limit %d B", local, d.LocalMemory)
	}
	if c, given := info.CompileSize, l.Range.Local; c[0] > 0 && given[0] > 0 && c != given {
		return fail(tune.Constraints, "the kernel requires a work-group of %d×%d×%d (reqd_work_group_size), not %d×%d×%d",
			c[0], c[1], c[2], given[0], given[1], given[2])
	}
	return nil
}

// checkArguments compares the problem's arguments with those of the built kernel: their
// number, their kinds, and the sizes of scalars, as far as the driver or the source in CUDA C tells.
func (s *session) checkArguments(k bound, v *problem.Variant) error {
	n, err := k.NumArgs()
	if err != nil {
		return fail(tune.Runtime, "ask for the kernel's arguments: %v", err)
	}
	given := k.launch.Arguments
	if last := len(given) - 1; n == last && s.problem.Language() == source.CUDA && s.infos[given[last]].Kind == definition.LocalArgument {
		given = given[:last] // dynamic shared memory for which this configuration has no use
	}
	if n != len(given) {
		reason := fmt.Sprintf("the kernel %s takes %d arguments, %d are given", k.launch.Kernel, n, len(given))
		if s.problem.Language() == source.CUDA {
			reason += "; dynamic shared memory (local_size) counts as one more, the last"
		}
		return fail(tune.Compile, "%s", reason)
	}
	infos := k.argInfos(v)
	for index, i := range given {
		a, info := s.infos[i], infos[index]
		if problem := mismatch(info, a); problem != "" {
			return fail(tune.Compile, "%s: %s", s.argument(k.launch, index), problem)
		}
		bytes := float64(v.Elements[i]) * float64(a.Element.Size())
		if most := s.Info.MaxConstantSize; info.Address == cl.AddressConstant && most > 0 && bytes > float64(most) {
			return fail(tune.Constraints, "%s: %.0f B of constant memory > device limit %d B", s.argument(k.launch, index), bytes, most)
		}
	}
	return nil
}

func mismatch(info cl.ArgInfo, a problem.Argument) string {
	kernelTakes := func(what string) string {
		declared := strings.TrimSpace(info.Type + " " + info.Name)
		return fmt.Sprintf("the kernel takes %s («%s»), the definition gives %s", what, declared, a.Kind.WithArticle())
	}
	switch takes := objectOf(info.Type); {
	case takes != "" && takes != a.Kind:
		return kernelTakes(takes.WithArticle())
	case a.Image != nil && takes == a.Kind && info.Type != imageTypeName(a.Image):
		return "the kernel takes " + info.Type + ", the definition gives " + imageTypeName(a.Image)
	case takes != "":
		return ""
	}
	switch info.Address {
	case cl.AddressGlobal, cl.AddressConstant:
		if a.Kind != definition.BufferArgument && a.Kind != definition.AliasArgument {
			return kernelTakes("a buffer")
		}
		return elementMismatch(info, a)
	case cl.AddressLocal:
		if a.Kind != definition.LocalArgument {
			return kernelTakes("local memory")
		}
	case cl.AddressPrivate:
		if a.Kind != definition.ScalarArgument {
			return kernelTakes("a scalar")
		}
		if a.Raw != nil {
			return "" // setting the argument compares the sizes
		}
		typ, err := array.ParseType(openCLName(info.Type))
		if err == nil && a.Element.Struct != nil && typ.Size() != a.Element.Struct.Size {
			return fmt.Sprintf("the kernel takes %s of %d bytes, the definition gives %s of %d",
				info.Type, typ.Size(), a.Element, a.Element.Struct.Size)
		}
		if err == nil && a.Element.Struct == nil && (typ.Size() != a.Element.Type.Size() || floatSize(typ) != floatSize(a.Element.Type)) {
			return "the kernel takes " + info.Type + ", the definition gives " + a.Element.Type.OpenCL()
		}
	}
	return ""
}

// objectOf returns the kind of an argument whose type is an object of OpenCL, or "" for other types.
func objectOf(typ string) definition.ArgumentKind {
	switch {
	case strings.HasPrefix(typ, "image") && strings.HasSuffix(typ, "_t"):
		return definition.ImageArgument
	case typ == "sampler_t":
		return definition.SamplerArgument
	}
	return ""
}

// floatSize returns the bits of a floating-point type's scalars, and 0 for integers.
func floatSize(t array.Type) int {
	switch t.Scalar() {
	case array.Float16, array.Float32, array.Float64:
		return 8 * t.Scalar().Size()
	}
	return 0
}

// elementMismatch finds buffers of other numbers: bytes and structures may be anything, but
// float for double, or int for float, is a slip.
func elementMismatch(info cl.ArgInfo, a problem.Argument) string {
	typ, err := array.ParseType(openCLName(strings.TrimRight(info.Type, "* ")))
	if err != nil || a.Element.Struct != nil || typ.Scalar().Size() == 1 || a.Element.Type.Scalar().Size() == 1 {
		return ""
	}
	if typ.Scalar().Size() != a.Element.Type.Scalar().Size() || floatSize(typ) != floatSize(a.Element.Type) {
		return "the kernel takes elements of " + typ.OpenCL() + ", the definition gives " + a.Element.Type.OpenCL()
	}
	return ""
}

// openCLName makes a driver's type name one that array knows. OpenCL C's int8 is a vector,
// NumPy's is not.
func openCLName(name string) string {
	name = strings.TrimSpace(name)
	switch name {
	case "int8", "int16", "uint8", "uint16", "float16":
		scalar := strings.TrimRight(name, "0123456789")
		return scalar + "32x" + name[len(scalar):]
	}
	return strings.Replace(name, "unsigned ", "u", 1)
}
