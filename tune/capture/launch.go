// Package capture runs an [Application] under Intel's OpenCL Intercept Layer (cliloader), and reads what that writes: the [Profile] of its
// kernels, and of each captured [Launch] its source, build options and sizes, its arguments, and the content of its buffers and images
// before and after it. An [Answer] is what the tuning of a launch is worth for the application, and an [Injection] what of it the layer can
// put in the place of the application's own.
//
// Its types: a [Launch] is what was captured, a [Profile] has the times of all kernels, an [Injection] changes the application's next run.
//
// A capture is data of others. Names, counts and sizes in it are bounded, only files that the layer writes are opened, a text in them
// never becomes a path, and nothing of it is executed. Refused are captures that are not whole, programs that the application loads as
// binaries of a device, and memory that a buffer cannot stand for: sub-buffers, shared virtual memory and pipes.
package capture

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/source"
)

// A Launch is a captured launch of a kernel.
type Launch struct {
	Folder  string
	Kernel  string
	Source  string // OpenCL C; "" if the program was made from SPIR-V
	SPIRV   []byte
	Options string // of the compiler, as the application gave them

	Global    []int // one to three dimensions
	Local     []int // nil: the application left the choice to the driver
	Offset    []int // of the global ids
	Arguments []Argument
	Origin    Origin
}

// An Argument of a launch has a Value, unless one of the other kinds is set.
type Argument struct {
	Type    string // as the kernel declares it, without qualifiers; "": the driver did not tell
	Value   []byte
	Local   int // bytes of local memory
	Sampler *definition.Sampler
	Memory  *Memory
}

// A Memory is a buffer or an image.
type Memory struct {
	Number int // of the allocation: arguments with one number have one buffer
	Bytes  int
	Image  *Image // nil: a buffer

	files [2]string // with the content before and after the launch
}

// An Image has pixels of one format, without padding between rows.
type Image struct {
	Size        [3]int // in pixels: width, height, depth; 1 where the image has no such dimension
	Pixel       int    // bytes of a pixel
	Type, Order int    // of the channels, as numbers of OpenCL
}

// An Origin is what else ndtune knew of a launch when it captured it. It lies in the file ndtune.json of the folder, which captures
// that the layer alone made do not have.
type Origin struct {
	Launches // with these sizes, while the application ran without capture

	// Memory has the arguments whose memory is no buffer or image of its own, by index: "sub-buffer", "svm", "usm" or "pipe".
	Memory map[string]string `json:"memory,omitempty"`
}

// OriginFile is the name of the file with the [Origin].
const OriginFile = "ndtune.json"

// The limits of a capture.
const (
	maxEntries   = 1 << 13 // of a folder
	maxArguments = 1 << 10
	maxText      = 1 << 20 // bytes of a text, and of a value
	maxSource    = 1 << 26 // bytes
	maxSize      = 1 << 40 // in a dimension
	maxItems     = 1 << 50

	// MaxBytes is the most that all buffers and images of a launch may have, in bytes.
	MaxBytes = 4 << 30
)

// Read reads the captured launch in a folder, such as Replay/Enqueue_0_scale. The content of buffers and images stays in its files.
func Read(folder string) (*Launch, error) {
	root, err := os.OpenRoot(folder + "/") // a pipe in its place would be waited for
	if err != nil {
		return nil, fmt.Errorf("read a captured launch: %w", err)
	}
	defer root.Close()
	r := &reader{Launch: Launch{Folder: folder}, root: root}
	r.readOrigin()
	r.readKernel()
	r.readSource()
	r.readSizes()
	r.readArguments()
	r.readTypes()
	r.readMemory("Pre", 0)
	r.readMemory("Post", 1)
	r.checkMemory()
	if r.err != nil {
		return nil, r.err
	}
	return &r.Launch, nil
}

// A reader reads a folder. Once there is an error, what it returns is meaningless.
type reader struct {
	Launch
	root *os.Root
	err  error
}

// fail notes an error about a file of the capture, unless there is none or there was one before.
func (r *reader) fail(name string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is missing, so the capture is not whole: did the application end while this launch was captured?")
	}
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: %w", filepath.Join(r.Folder, filepath.FromSlash(name)), err)
	}
}

func (r *reader) failf(name, format string, args ...any) { r.fail(name, fmt.Errorf(format, args...)) }

// list returns the sorted paths of what is in a folder.
func (r *reader) list(folder string) (names []string) {
	all, err := os.ReadDir(filepath.Join(r.Folder, folder)) // which waits for no pipe in its place, as that of a root would
	if err == nil && len(all) > maxEntries {
		err = fmt.Errorf("it has more than %d entries, so it is no captured launch", maxEntries)
	}
	r.fail(folder, err)
	return each.Of(all, func(e fs.DirEntry) string { return path.Join(folder, e.Name()) })
}

func (r *reader) has(name string) bool {
	_, err := r.root.Lstat(name)
	return err == nil
}

// size returns the size of a file, which must be a regular one, not a link, of at most limit bytes.
func (r *reader) size(name string, limit int64) int {
	info, err := r.root.Lstat(name)
	if err == nil {
		err = files.CheckRegular(info)
	}
	if err == nil && info.Size() > limit {
		err = fmt.Errorf("it has %d bytes, more than the %d that such a file may have", info.Size(), limit)
	}
	if r.fail(name, err); err != nil {
		return 0
	}
	return int(info.Size())
}

// content reads a file whole.
func (r *reader) content(name string, limit int64) []byte {
	if r.size(name, limit); r.err != nil {
		return nil
	}
	content, err := r.root.ReadFile(name)
	r.fail(name, err)
	return content
}

// text reads a file of text.
func (r *reader) text(name string, limit int64) string {
	text := strings.TrimRight(string(r.content(name, limit)), "\x00")
	if strings.ContainsRune(text, 0) {
		r.failf(name, "it is no text: it has NUL characters")
	}
	return text
}

// numbers returns the n numbers of a text, each from 0 to a limit.
func (r *reader) numbers(name, text string, n, limit int) []int {
	words, numbers := strings.Fields(text), make([]int, n)
	if len(words) != n {
		r.failf(name, "want %d numbers, found %d", n, len(words))
		return numbers
	}
	for i, word := range words {
		var err error
		if numbers[i], err = strconv.Atoi(word); err != nil || numbers[i] < 0 || numbers[i] > limit {
			r.failf(name, "%q is no number from 0 to %d", excerpt.Of(word), limit)
			numbers[i] = 0
		}
	}
	return numbers
}

// kinds are the kinds of memory that are refused, for messages.
var kinds = map[string]string{
	"sub-buffer": "a sub-buffer, a part of another buffer", "svm": "shared virtual memory (SVM)", "usm": "unified shared memory (USM)",
	"pipe": "a pipe",
}

func (r *reader) readOrigin() {
	if !r.has(OriginFile) {
		return
	}
	if err := json.Unmarshal(r.content(OriginFile, maxText), &r.Origin); err != nil {
		r.fail(OriginFile, err)
	}
	for i := range maxArguments {
		if kind, is := r.Origin.Memory[strconv.Itoa(i)]; is {
			r.failf("", "argument %d of the kernel is %s; only buffers and images of their own can be captured", i, cmp.Or(kinds[kind], "no buffer"))
		}
	}
}

func (r *reader) readKernel() {
	if !r.has("kernelName.txt") {
		r.failf("", "there is no kernelName.txt; a captured launch is a folder such as Replay/Enqueue_0_NAME, which cliloader writes")
	}
	if r.Kernel = strings.TrimSpace(r.text("kernelName.txt", maxText)); !kernelName.MatchString(r.Kernel) {
		r.failf("kernelName.txt", "%q is no name of a kernel", excerpt.Of(r.Kernel))
	}
	r.Options = strings.TrimSpace(r.text("buildOptions.txt", maxText))
}

var kernelName = regexp.MustCompile(`^[A-Za-z_][\w$.]{0,999}$`)

// readSource reads the source. Some drivers have an empty one for a program that was not made from source.
func (r *reader) readSource() {
	if r.has("kernel.cl") {
		if r.Source = r.text("kernel.cl", maxSource); strings.TrimSpace(r.Source) != "" {
			return
		}
	}
	switch {
	case r.has("kernel.spv"):
		r.Source, r.SPIRV = "", r.content("kernel.spv", maxSource)
		if !source.IsSPIRV(string(r.SPIRV)) {
			r.failf("kernel.spv", "it is no SPIR-V module")
		}
	default:
		r.failf("", "the program has no source, since the application loads it as a binary of its device or links it: "+
			"make the application build it from source, without its cache of binaries; CLI_RejectProgramBinaries=1 in the environment asks it to")
	}
}

func (r *reader) readSizes() {
	const name = "worksizes.txt"
	lines := strings.Split(strings.TrimSpace(r.text(name, maxText)), "\n")
	d := len(strings.Fields(lines[0]))
	if len(lines) != 3 || d < 1 || d > 3 {
		r.failf(name, "want three lines, each with a number for each of one to three dimensions")
		return
	}
	for i, to := range []*[]int{&r.Global, &r.Local, &r.Offset} {
		*to = r.numbers(name, lines[i], d, maxSize)
	}
	items := 1.0
	for _, n := range r.Global {
		items *= float64(n)
	}
	switch {
	case items == 0 || items > maxItems:
		r.failf(name, "a launch of %v work-items cannot be measured", r.Global)
	case slices.Max(r.Local) == 0:
		r.Local = nil
	case slices.Min(r.Local) == 0:
		r.failf(name, "the local size %v is 0 in some dimensions only", r.Local)
	}
}

var (
	argumentFile = regexp.MustCompile(`^(Argument|Local|Sampler|Image_MetaData_|SVM_Arg_Offset_)(0|[1-9]\d{0,8})\.(bin|txt)$`)
	memoryFile   = regexp.MustCompile(`^P\w+/Enqueue_\d+_Kernel_.*_Arg_(\d{1,9})_(Buffer|Image)_(\d{1,9})(_\w+)?\.(bin|raw)$`)
)

// readArguments reads what the files of the folder itself tell of arguments.
func (r *reader) readArguments() {
	for _, name := range r.list(".") {
		parts := argumentFile.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		i, _ := strconv.Atoi(parts[2])
		if i >= maxArguments {
			r.failf(name, "a kernel has at most %d arguments", maxArguments)
			return
		}
		if more := i + 1 - len(r.Arguments); more > 0 {
			r.Arguments = append(r.Arguments, make([]Argument, more)...)
		}
		r.readArgument(&r.Arguments[i], name, parts[1])
	}
	for i, a := range r.Arguments {
		switch {
		case len(a.Value) == 0 && a.Local == 0:
			r.fail(fmt.Sprintf("Argument%d.bin", i), fs.ErrNotExist)
		case len(a.Value) > 0 && a.Local > 0:
			r.failf(fmt.Sprintf("Local%d.txt", i), "argument %d is local memory or NULL here, and has a value in another file", i)
		}
	}
}

// readArgument reads a file about an argument.
func (r *reader) readArgument(a *Argument, name, kind string) {
	switch text := string(r.content(name, maxText)); kind {
	case "Argument":
		a.Value = []byte(text)
	case "Local":
		a.Local = r.numbers(name, text, 1, math.MaxInt32)[0]
	case "Sampler":
		a.Sampler = r.sampler(name, text)
	case "SVM_Arg_Offset_":
		if r.numbers(name, text, 1, math.MaxInt)[0] != 0 {
			r.failf(name, "the argument points into shared virtual memory (SVM or USM); only buffers and images of their own can be captured")
		}
		a.Memory = &Memory{}
	case "Image_MetaData_":
		n := r.numbers(name, text, 9, maxSize)
		a.Memory = &Memory{Image: &Image{Size: [3]int(n), Pixel: n[3], Type: n[6], Order: n[7]}}
		if size := float64(n[0]) * float64(n[1]) * float64(n[2]) * float64(n[3]); size == 0 || size > MaxBytes {
			r.failf(name, "an image of %v pixels of %d bytes is empty or too large", n[:3], n[3])
		}
	}
}

// readTypes reads the types of the arguments. Of drivers that do not tell them, the file is empty.
func (r *reader) readTypes() {
	const name = "ArgumentDataTypes.txt"
	if !r.has(name) {
		return
	}
	lines := strings.Split(strings.TrimSpace(r.text(name, maxText)), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return
	}
	if len(lines) != len(r.Arguments) {
		r.failf(name, "the kernel has %d arguments, but the capture has %d, so it is not whole", len(lines), len(r.Arguments))
		return
	}
	for i, line := range lines {
		r.Arguments[i].Type = strings.TrimSpace(line)
	}
}

// sampler reads a text such as CL_SAMPLER_NORMALIZED_COORDS = CL_TRUE, CL_SAMPLER_FILTER_MODE = CL_FILTER_LINEAR.
func (r *reader) sampler(name, text string) *definition.Sampler {
	s := &definition.Sampler{Coordinates: "normalized", Addressing: "clamp", Filter: "nearest"} // OpenCL's defaults
	to := map[string]*string{"NORMALIZED_COORDS": &s.Coordinates, "ADDRESSING_MODE": &s.Addressing, "FILTER_MODE": &s.Filter}
	for property := range strings.SplitSeq(strings.TrimRight(text, ", \n"), ", ") {
		key, value, _ := strings.Cut(strings.TrimPrefix(property, "CL_SAMPLER_"), " = ")
		word, known := samplerWords[value]
		if to[key] == nil || !known {
			r.failf(name, "%q is no property of a sampler that is known", excerpt.Of(property))
			return s
		}
		*to[key] = word
	}
	return s
}

// samplerWords are the words of specifications by OpenCL's constants.
var samplerWords = map[string]string{
	"CL_TRUE": "normalized", "CL_FALSE": "pixels", "CL_FILTER_NEAREST": "nearest", "CL_FILTER_LINEAR": "linear", "CL_ADDRESS_NONE": "none",
	"CL_ADDRESS_CLAMP": "clamp", "CL_ADDRESS_CLAMP_TO_EDGE": "clamp_to_edge", "CL_ADDRESS_REPEAT": "repeat",
	"CL_ADDRESS_MIRRORED_REPEAT": "mirrored_repeat",
}

// readMemory finds the files with the content of buffers and images before (0) or after (1) the launch.
func (r *reader) readMemory(folder string, side int) {
	if !slices.ContainsFunc(r.Arguments, func(a Argument) bool { return a.Memory != nil }) {
		return
	}
	for _, name := range r.list(folder) {
		parts := memoryFile.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		i, _ := strconv.Atoi(parts[1])
		number, _ := strconv.Atoi(parts[3])
		if i >= len(r.Arguments) || r.Arguments[i].Memory == nil || (parts[2] == "Image") != (r.Arguments[i].Memory.Image != nil) {
			r.failf(name, "it is the content of an argument that the capture does not have")
			continue
		}
		m, size := r.Arguments[i].Memory, r.size(name, MaxBytes)
		switch x := m.Image; {
		case m.files[side] != "":
			r.failf(name, "%s is the content of argument %d, too", m.files[side], i)
		case size == 0:
			r.failf(name, "it is empty")
		case x != nil && size != x.Size[0]*x.Size[1]*x.Size[2]*x.Pixel:
			r.failf(name, "it has %d bytes, but the image has %v pixels of %d bytes", size, x.Size, x.Pixel)
		case side == 1 && m.files[0] != "" && (size != m.Bytes || number != m.Number):
			r.failf(name, "it has %d bytes of allocation %d, but before the launch there were %d of allocation %d", size, number, m.Bytes, m.Number)
		}
		m.files[side], m.Bytes, m.Number = name, size, number
	}
}

// checkMemory checks that the content of all buffers and images is there.
func (r *reader) checkMemory() {
	total, sizes := 0, map[int]int{}
	for i := range r.Arguments {
		a := &r.Arguments[i]
		m := a.Memory
		if m == nil {
			continue
		}
		for side, folder := range []string{"Pre", "Post"} {
			if m.files[side] == "" {
				r.failf(folder, "the content of argument %d is missing, so the capture is not whole: was the memory released before the launch, "+
					"or did the application end while the launch was captured?", i)
			}
		}
		size, again := sizes[m.Number]
		switch {
		case strings.Trim(string(a.Value), "\x00") == "":
			r.failf(fmt.Sprintf("Argument%d.bin", i), "argument %d is NULL, but has the content of a buffer", i)
		case again && size != m.Bytes:
			r.failf(m.files[0], "allocation %d has %d bytes here and %d in another argument", m.Number, m.Bytes, size)
		case !again:
			total, sizes[m.Number] = total+m.Bytes, m.Bytes
		}
		a.Value = nil
	}
	if total > MaxBytes {
		r.failf("Pre", "the buffers and images of the launch have more than %d bytes, which is too large", MaxBytes)
	}
}

// Content returns the content of the buffer or image that is argument i before and after the launch.
func (l *Launch) Content(i int) (before, after []byte, err error) {
	root, err := os.OpenRoot(l.Folder + "/")
	if err != nil {
		return nil, nil, fmt.Errorf("read a captured launch: %w", err)
	}
	defer root.Close()
	r, m := &reader{Launch: Launch{Folder: l.Folder}, root: root}, l.Arguments[i].Memory
	before, after = r.content(m.files[0], int64(m.Bytes)), r.content(m.files[1], int64(m.Bytes))
	if len(before) != m.Bytes || len(after) != m.Bytes {
		r.failf("", "the size of the content of argument %d has changed", i)
	}
	return before, after, r.err
}
