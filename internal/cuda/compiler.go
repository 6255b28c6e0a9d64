package cuda

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/library"
)

// NVRTCVariable is the environment variable for an NVRTC library to load instead of those that are found. If it is set, no other is tried.
const NVRTCVariable = "NDTUNE_NVRTC_LIBRARY"

// newestMajor is the newest major version of CUDA whose machine code the driver takes; 0: unknown. It is set before the first compilation.
var newestMajor int

// A compiler is an NVRTC library.
type compiler struct {
	*library.Library
	major, minor int32
	headers      []string // the folders of the toolkit's headers
}

// theCompiler loads NVRTC, once per process: it has 100 MB.
var theCompiler = sync.OnceValues(func() (*compiler, error) {
	l, err := openFirst(NVRTCVariable, libraries()...)
	switch {
	case err != nil && os.Getenv(NVRTCVariable) != "":
		return nil, err
	case err != nil:
		return nil, errors.New("no NVRTC, the compiler of CUDA C: install the CUDA toolkit, or NVRTC alone by pip install nvidia-cuda-nvrtc (for drivers of CUDA 12, nvidia-cuda-nvrtc-cu12); " +
			NVRTCVariable + " names a libnvrtc that is elsewhere")
	}
	// That of the package for Python 13.0 looks for its builtins where the linker does, and not beside itself.
	for _, builtins := range beside(l.Path, "libnvrtc-builtins.so*") {
		_, _ = library.Open(builtins) // where this fails, a build says what is missing
	}
	l.StatusText = "nvrtcGetErrorString"
	c := &compiler{Library: l, headers: headers(l.Path)}
	if err := l.Call("nvrtcVersion", uintptr(unsafe.Pointer(&c.major)), uintptr(unsafe.Pointer(&c.minor))); err != nil {
		return nil, fmt.Errorf("no NVRTC, the compiler of CUDA C: %w; %s names another library", err, NVRTCVariable)
	}
	return c, nil
})

// beside returns the files in a library's folder that match a pattern, none if the linker has found the library by its name.
func beside(path, pattern string) []string {
	if !filepath.IsAbs(path) {
		return nil
	}
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), pattern))
	return found
}

// roots are the folders where the toolkit or a Python with packages of NVIDIA may be.
func roots() []string {
	home, _ := os.UserHomeDir()
	python, _ := exec.LookPath("python3")
	all := []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda", os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX"),
		filepath.Dir(filepath.Dir(python)), filepath.Join(home, ".local"), "/usr/local/cuda-*", "/usr/local", "/usr"}
	return slices.DeleteFunc(all, func(root string) bool { return !filepath.IsAbs(root) })
}

var libraryMajor = regexp.MustCompile(`(?:libnvrtc\.so\.|nvrtc64_)(1\d)`)

// libraries returns the names of NVRTC, the best first. Machine code of an NVRTC that is newer than the driver would not load.
func libraries() []string {
	all := []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}
	places := []string{"lib64", "targets/*/lib", "lib", "lib/python3*/*-packages/nvidia/*/lib"}
	file := "libnvrtc.so.1*"
	if runtime.GOOS == "windows" {
		all = []string{"nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"}
		places = []string{"bin", "bin/x64", "Lib/site-packages/nvidia/*/bin", "Lib/site-packages/nvidia/*/bin/*"}
		file = "nvrtc64_1??_0.dll"
	}
	for _, root := range roots() {
		for _, place := range places {
			found, _ := filepath.Glob(filepath.Join(root, place, file))
			slices.Reverse(found) // the newest of a folder first
			all = append(all, found...)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(tooNew(a), tooNew(b)) })
	return all
}

func tooNew(name string) int {
	if m := libraryMajor.FindStringSubmatch(name); m != nil && newestMajor > 0 && number(m[1], 0) > newestMajor {
		return 1
	}
	return 0
}

// headers returns the folders of the headers that belong to a library, or else to an installed toolkit. In CUDA 13, cub and thrust are in cccl.
func headers(path string) []string {
	folder := filepath.Dir(path)
	var places []string
	if filepath.IsAbs(path) { // else the system's linker has found it
		places = []string{folder + "/../include", folder + "/../../include", folder + "/../../cuda_runtime/include", folder + "/../targets/*/include"}
	}
	for _, root := range roots() {
		places = append(places, root+"/include", root+"/targets/*/include")
	}
	for _, place := range places {
		found, _ := filepath.Glob(place + "/cuda_fp16.h")
		if len(found) == 0 {
			continue
		}
		include := filepath.Dir(found[0])
		all := []string{include}
		for _, cccl := range []string{include + "/cccl", include + "/../../cuda_cccl/include"} {
			if _, err := os.Stat(cccl + "/cub"); err == nil {
				return append(all, cccl)
			}
		}
		return all
	}
	return nil
}

// Compiler returns an error that says how to get NVRTC, if it is not there. Devices are there without it.
func Compiler() error {
	_, err := theCompiler()
	return err
}

// compilerVersion returns what the version of a driver says of the compiler: «NVRTC 13.0».
func compilerVersion() string {
	c, err := theCompiler()
	if err != nil {
		return "no NVRTC"
	}
	return fmt.Sprintf("NVRTC %d.%d", c.major, c.minor)
}

// A code is what a build makes: the binary of a program.
type code struct {
	Log     string
	Kernels []declaration
	Machine []byte `json:"-"` // a cubin, or PTX if the options ask for a virtual architecture
}

// encode returns a binary, the same for the same code: a line of JSON and the machine code.
func (c *code) encode() []byte {
	head, _ := json.Marshal(c) // which cannot fail
	return append(append(head, '\n'), c.Machine...)
}

// decode is the inverse of encode.
func decode(data []byte) (*code, error) {
	head, machine, found := bytes.Cut(data, []byte("\n"))
	c := &code{Machine: machine}
	if err := json.Unmarshal(head, c); err != nil || !found {
		return nil, errors.New("no binary of CUDA")
	}
	return c, nil
}

// programName names the source in logs, in a way in which package device knows that lines are those of #line directives.
const programName = "<source>"

// compile compiles a source for an architecture such as sm_90, unless the options have another. The log is there in any case.
func compile(source, options, architecture string) (*code, string, *Failure) {
	c, err := theCompiler()
	if err != nil {
		return nil, err.Error(), &Failure{compilerNotAvailable, "", err.Error()}
	}
	r := parse(options)
	r.target = cmp.Or(r.target, architecture)
	r.arguments = append(r.arguments, "--gpu-architecture="+r.target)
	if r.fresh && (c.major > 12 || c.major == 12 && c.minor >= 9) { // the first version with a cache
		r.arguments = append(r.arguments, "-no-cache")
	}
	for _, folder := range c.headers {
		r.arguments = append(r.arguments, "-I"+folder)
	}
	if !slices.ContainsFunc(r.arguments, func(a string) bool { return strings.HasPrefix(strings.TrimLeft(a, "-"), "std") }) {
		r.arguments = append(r.arguments, "--std=c++17") // which is the default from NVRTC 12 on, and of nvcc 11: that of NVRTC 11 is C++ 03
	}
	before, source := "", strings.ReplaceAll(source, "\ufeff", "") // a mark of the byte order, of the file or of one that it includes
	if isOpenCL(source) {
		before = "#line 1 \"ndtune.cuh\"\n" + prologue
		source = translated(source)
		r.arguments = append(r.arguments, openCLArguments(source)...)
	}
	return c.compile(before+"#line 1 \"options\"\n"+r.macros+"#line 1 \""+programName+"\"\n"+source, r)
}

func (c *compiler) compile(source string, r request) (*code, string, *Failure) {
	var program uintptr
	name, header, given := library.CString("cub/cub.cuh"), (*byte)(nil), uintptr(0)
	if text := c.cub(); text != "" && strings.Contains(source, "cub/cub.cuh") {
		header, given = library.CString(text), 1
	}
	if err := c.Call("nvrtcCreateProgram", uintptr(unsafe.Pointer(&program)), uintptr(unsafe.Pointer(library.CString(source))),
		uintptr(unsafe.Pointer(library.CString(programName))), given, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&name))); err != nil {
		return nil, "", failure("nvrtcCreateProgram", err)
	}
	defer func() { _ = c.Call("nvrtcDestroyProgram", uintptr(unsafe.Pointer(&program))) }()
	for _, name := range r.names {
		if err := c.Call("nvrtcAddNameExpression", program, uintptr(unsafe.Pointer(library.CString(name)))); err != nil {
			return nil, "", failure("nvrtcAddNameExpression", err)
		}
	}
	arguments := each.Of(r.arguments, library.CString)
	err := c.Call("nvrtcCompileProgram", program, uintptr(len(arguments)), uintptr(unsafe.Pointer(&arguments[0])))
	log := tidy(string(c.fetch(program, "nvrtcGetProgramLog")))
	if err != nil {
		if strings.Contains(log, "--gpu-architecture") {
			log += fmt.Sprintf("\n(NVRTC %d.%d does not compile for %s; %s names another one)", c.major, c.minor, r.target, NVRTCVariable)
		}
		return nil, cmp.Or(log, err.Error()), failure("nvrtcCompileProgram", err)
	}
	symbols := map[string][]string{}
	for _, name := range r.names {
		var symbol *byte
		if err := c.Call("nvrtcGetLoweredName", program, uintptr(unsafe.Pointer(library.CString(name))), uintptr(unsafe.Pointer(&symbol))); err != nil {
			return nil, cmp.Or(log, err.Error()), failure("nvrtcGetLoweredName", err)
		}
		lowered := text(uintptr(unsafe.Pointer(symbol)))
		symbols[lowered] = append(symbols[lowered], name)
	}
	ptx := bytes.TrimRight(c.fetch(program, "nvrtcGetPTX"), "\x00")
	built := &code{Log: log, Machine: c.fetch(program, "nvrtcGetCUBIN")}
	built.Kernels = declarations(string(ptx), built.Machine, symbols)
	if len(built.Machine) == 0 {
		built.Machine = append(ptx, 0)
	}
	return built, log, nil
}

// cub returns a text in place of <cub/cub.cuh>, which NVRTC does not compile: all headers for a block and for a warp. It is "" without cub.
func (c *compiler) cub() (text string) {
	for _, folder := range c.headers {
		for _, pattern := range []string{"cub/block/block_*.cuh", "cub/warp/warp_*.cuh"} {
			found, _ := filepath.Glob(filepath.Join(folder, pattern))
			for _, file := range found {
				text += "#include <" + path.Dir(pattern) + "/" + filepath.Base(file) + ">\n"
			}
		}
	}
	return text
}

// fetch returns what NVRTC has of a program, nil if there is nothing.
func (c *compiler) fetch(program uintptr, function string) []byte {
	var size uintptr
	if err := c.Call(function+"Size", program, uintptr(unsafe.Pointer(&size))); err != nil || size == 0 {
		return nil
	}
	data := make([]byte, size)
	_ = c.Call(function, program, uintptr(unsafe.Pointer(&data[0])))
	return data
}

// failure returns the failure of a function of NVRTC. If its library of builtins is missing, it cannot compile anything.
func failure(call string, err error) *Failure {
	const builtinFailure = 7 // NVRTC_ERROR_BUILTIN_OPERATION_FAILURE
	f := &Failure{buildProgramFailure, call, err.Error()}
	if status, is := errors.AsType[*library.StatusError](err); is {
		f.Text = cmp.Or(status.Text, f.Text)
		if status.Status == builtinFailure {
			f.Status = compilerNotAvailable
		}
	}
	return f
}

var (
	logPlace = regexp.MustCompile(`(?m)^([^\s(][^\n(]*)\((\d+)\): `)
	logNoise = regexp.MustCompile(`(?m)^(?:Remark: The warnings can be suppressed|ptxas info +: Compile time).*\n+`)
	logNames = regexp.MustCompile(`(?m)^__nv_name_map\(\d+\): `)
	logHosts = regexp.MustCompile(`(open source file "[^"\n]*")[^\n]*|(host functions are not allowed) in JIT mode`)
)

// forHosts says what to do with a source that has host code.
const forHosts = "$1$2: put what is for the host between #ifndef __CUDACC_RTC__ and #endif; for headers, see docs/cuda.md#the-source"

// tidy returns a log with places as other compilers have them, FILE:LINE, and without lines that say nothing of the source, or
// another thing in each build.
func tidy(log string) string {
	log = logNames.ReplaceAllString(strings.ReplaceAll(log, "\x00", ""), "name of the kernel: ")
	log = logHosts.ReplaceAllString(logPlace.ReplaceAllString(log, "$1:$2: "), forHosts)
	return strings.TrimSpace(logNoise.ReplaceAllString(log+"\n", ""))
}
