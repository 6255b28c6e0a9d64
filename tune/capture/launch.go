// Package capture reads what Intel's OpenCL Intercept Layer (cliloader) writes of a launch of an application's kernel: its source,
// build options and sizes, its arguments, and the content of its buffers and images before and after it.
//
// A capture is data of others. Names, counts and sizes in it are bounded, only files that the layer writes are opened, a text in them
// never becomes a path, and nothing of it is executed. Refused are captures that are not whole, programs that the application loads as
// binaries of a device, and memory that a buffer cannot stand for: sub-buffers, shared virtual memory and pipes.
package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/files"
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
	Sampler *Sampler
	Memory  *Memory
}

// A Memory is a buffer or an image.
type Memory struct {
	Number int // of the allocation: arguments with one number have one buffer
	Bytes  int
	Image  *Image // nil: a buffer

	before, after string // names of files below the folder
}

// An Image has pixels of one format, without padding between rows.
type Image struct {
	Size        [3]int // in pixels: width, height, depth; 1 where the image has no such dimension
	Pixel       int    // bytes of a pixel
	Type, Order int    // of the channels, as numbers of OpenCL
}

// A Sampler has the words of OpenCL's constants, in lower case: clamp_to_edge for CL_ADDRESS_CLAMP_TO_EDGE.
type Sampler struct {
	Normalized         bool // coordinates
	Addressing, Filter string
}

// An Origin is what else ndtune knew of a launch when it captured it. It lies in the file ndtune.json of the folder, which captures
// that the layer alone made do not have.
type Origin struct {
	Device      string  `json:"device"`
	Hash        string  `json:"hash"` // of the program, in the layer's reports
	OptionsHash string  `json:"options_hash"`
	Calls       int     `json:"calls"` // of launches with these sizes, while the application ran without capture
	Mean        float64 `json:"mean_ns"`
	Min         float64 `json:"min_ns"`

	// Memory has the arguments whose memory is no buffer or image of its own, by index: "sub-buffer", "svm", "usm" or "pipe".
	Memory map[string]string `json:"memory,omitempty"`
}

// OriginFile is the name of the file with the [Origin].
const OriginFile = "ndtune.json"

// The limits of a capture.
const (
	maxEntries   = 1 << 13 // of a folder
	maxArguments = 1 << 10
	maxText      = 1 << 20 // bytes of texts and of values
	maxSource    = 1 << 26
	maxSize      = 1 << 40 // of an NDRange and of an image, in a dimension
	maxItems     = 1 << 50 // of an NDRange

	// MaxBytes is the most that all buffers and images of a launch may have, in bytes.
	MaxBytes = 4 << 30
)

// Read reads the captured launch in a folder, such as Replay/Enqueue_0_scale. The content of buffers and images stays in its files.
func Read(folder string) (*Launch, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("read a captured launch: %w", err)
	}
	defer root.Close()
	r := &reader{Launch: Launch{Folder: folder}, root: root}
	if err := r.read(); err != nil {
		return nil, err
	}
	return &r.Launch, nil
}

// A reader reads a folder.
type reader struct {
	Launch
	root  *os.Root
	names []string // of the files of the folder itself
}

func (r *reader) read() (err error) {
	if r.names, err = r.list("."); err != nil {
		return err
	}
	for _, step := range []func() error{r.readOrigin, r.readKernel, r.readSource, r.readSizes, r.readArguments, r.readMemory} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// failf returns an error about a file of the capture.
func (r *reader) failf(name, format string, args ...any) error {
	return fmt.Errorf("%s: %w", filepath.Join(r.Folder, filepath.FromSlash(name)), fmt.Errorf(format, args...))
}

// list returns the sorted names of the entries of a folder.
func (r *reader) list(name string) ([]string, error) {
	info, err := r.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, r.failf(name, "the folder is missing, so the capture is not whole: did the application end while this launch was captured?")
	case err != nil:
		return nil, r.failf(name, "%w", errors.Unwrap(err))
	case !info.IsDir():
		return nil, r.failf(name, "it is no folder, as which the layer writes it")
	}
	f, err := r.root.Open(name)
	if err != nil {
		return nil, r.failf(name, "%w", errors.Unwrap(err))
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries + 1)
	switch {
	case err != nil && err != io.EOF:
		return nil, r.failf(name, "%w", err)
	case len(names) > maxEntries:
		return nil, r.failf(name, "the folder has more than %d entries: it is no captured launch", maxEntries)
	}
	slices.Sort(names)
	return names, nil
}

func (r *reader) has(name string) bool {
	_, found := slices.BinarySearch(r.names, name)
	return found
}

// open opens a file of the capture, which must be a regular one, of at most limit bytes.
func (r *reader) open(name string, limit int64) (*os.File, int64, error) {
	info, err := r.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, r.failf(name, "the file is missing, so the capture is not whole")
	case err != nil:
		return nil, 0, r.failf(name, "%w", errors.Unwrap(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, 0, r.failf(name, "it is a link; a capture has regular files only")
	case files.CheckRegular(info) != nil:
		return nil, 0, r.failf(name, "%w", files.CheckRegular(info))
	case info.Size() > limit:
		return nil, 0, r.failf(name, "it has %d bytes, more than the %d that such a file may have", info.Size(), limit)
	}
	f, err := r.root.Open(name)
	if err != nil {
		return nil, 0, r.failf(name, "%w", errors.Unwrap(err))
	}
	return f, info.Size(), nil
}

// content reads a file whole.
func (r *reader) content(name string, limit int64) ([]byte, error) {
	f, size, err := r.open(name, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	bytes := make([]byte, size)
	if _, err := io.ReadFull(f, bytes); err != nil {
		return nil, r.failf(name, "the file became shorter while it was read")
	}
	return bytes, nil
}

// numbers reads the numbers of a text, which must be from 0 to the limit.
func (r *reader) numbers(name, text string, limit int) (numbers []int, err error) {
	for _, word := range strings.Fields(text) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n > limit {
			return nil, r.failf(name, "%q is no number from 0 to %d", excerpt.Of(word), limit)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// count reads a file of n numbers.
func (r *reader) count(name string, n, limit int) ([]int, error) {
	text, err := r.content(name, maxText)
	if err != nil {
		return nil, err
	}
	numbers, err := r.numbers(name, string(text), limit)
	if err == nil && len(numbers) != n {
		err = r.failf(name, "it has %d numbers instead of %d", len(numbers), n)
	}
	return numbers, err
}

func (r *reader) readOrigin() error {
	if !r.has(OriginFile) {
		return nil
	}
	text, err := r.content(OriginFile, maxText)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &r.Origin); err != nil {
		return r.failf(OriginFile, "%w", err)
	}
	for _, argument := range slices.Sorted(maps.Keys(r.Origin.Memory)) {
		kind, known := refused[r.Origin.Memory[argument]]
		if i, err := strconv.Atoi(argument); !known || err != nil || i < 0 || i >= maxArguments {
			return r.failf(OriginFile, "%q is no argument, or %q no kind of its memory", excerpt.Of(argument), excerpt.Of(r.Origin.Memory[argument]))
		}
		return r.failf("", "argument %s of the kernel is %s, which a captured buffer cannot stand for", argument, kind)
	}
	return nil
}

// refused are the kinds of memory that are refused, for messages.
var refused = map[string]string{
	"sub-buffer": "a sub-buffer, a part of another buffer", "svm": "shared virtual memory (SVM)",
	"usm": "unified shared memory (USM)", "pipe": "a pipe",
}

func (r *reader) readKernel() error {
	if !r.has("kernelName.txt") {
		return r.failf("", "there is no kernelName.txt; a captured launch is a folder such as Replay/Enqueue_0_NAME, which cliloader writes")
	}
	name, err := r.content("kernelName.txt", maxText)
	if err != nil {
		return err
	}
	if r.Kernel = strings.TrimSpace(string(name)); !kernelName.MatchString(r.Kernel) {
		return r.failf("kernelName.txt", "%q is no name of a kernel", excerpt.Of(r.Kernel))
	}
	options, err := r.content("buildOptions.txt", maxText)
	r.Options = strings.TrimSpace(strings.TrimRight(string(options), "\x00\n"))
	if err == nil && strings.ContainsRune(r.Options, 0) {
		err = r.failf("buildOptions.txt", "it is no text")
	}
	return err
}

var kernelName = regexp.MustCompile(`^[A-Za-z_][\w$.]{0,999}$`)

func (r *reader) readSource() error {
	if r.has("kernel.cl") {
		source, err := r.content("kernel.cl", maxSource)
		if err != nil {
			return err
		}
		if r.Source = strings.TrimRight(string(source), "\x00"); strings.ContainsRune(r.Source, 0) {
			return r.failf("kernel.cl", "it is no text: it has NUL characters")
		}
		if strings.TrimSpace(r.Source) != "" { // else the driver has no source of a program made from something else
			return nil
		}
	}
	if r.has("kernel.spv") {
		source, err := r.content("kernel.spv", maxSource)
		if err == nil && (len(source) < 20 || !slices.Contains([]string{"\x03\x02\x23\x07", "\x07\x23\x02\x03"}, string(source[:4]))) {
			err = r.failf("kernel.spv", "it is no SPIR-V module")
		}
		r.Source, r.SPIRV = "", source
		return err
	}
	if r.has("DeviceBinary0.bin") {
		return r.failf("", "the application loads the program as a binary of its device, so the capture has no source: "+
			"make the application build from source, for example without its cache of binaries")
	}
	return r.failf("", "there is neither kernel.cl nor kernel.spv, so the capture is not whole")
}

func (r *reader) readSizes() error {
	const name = "worksizes.txt"
	text, err := r.content(name, maxText)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(string(text), " \n"), "\n")
	if len(lines) != 3 {
		return r.failf(name, "it has %d lines instead of 3: global size, local size and offset", len(lines))
	}
	for i, to := range []*[]int{&r.Global, &r.Local, &r.Offset} {
		if *to, err = r.numbers(name, lines[i], maxSize); err != nil {
			return err
		}
	}
	total := 1.0
	for _, n := range r.Global {
		total *= float64(n)
	}
	d := len(r.Global)
	switch zeros := slices.Contains(r.Local, 0); {
	case d < 1 || d > 3 || len(r.Local) != d || len(r.Offset) != d:
		return r.failf(name, "the three lines have %d, %d and %d numbers instead of one for each of 1 to 3 dimensions",
			d, len(r.Local), len(r.Offset))
	case total == 0 || total > maxItems:
		return r.failf(name, "a global size of %v launches nothing that can be measured", r.Global)
	case zeros && slices.Max(r.Local) > 0:
		return r.failf(name, "the local size %v is 0 in some dimensions only", r.Local)
	case zeros:
		r.Local = nil
	}
	return nil
}

var (
	argumentFile = regexp.MustCompile(`^(Argument|Local|Sampler|Image_MetaData_|SVM_Arg_Offset_)(0|[1-9]\d{0,8})\.(bin|txt)$`)
	memoryFile   = regexp.MustCompile(`^Enqueue_\d+_Kernel_.*_Arg_(\d{1,9})_(Buffer|Image)_(\d{1,9})(_\d+x\d+x\d+_\d+bpp)?\.(bin|raw)$`)
)

// readArguments reads what the files of the folder itself tell of arguments.
func (r *reader) readArguments() error {
	var found []bool
	for _, name := range r.names {
		parts := argumentFile.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		i, _ := strconv.Atoi(parts[2])
		if i >= maxArguments {
			return r.failf(name, "a kernel with more than %d arguments is no kernel", maxArguments)
		}
		if grow := i + 1 - len(r.Arguments); grow > 0 {
			r.Arguments, found = append(r.Arguments, make([]Argument, grow)...), append(found, make([]bool, grow)...)
		}
		if err := r.readArgument(&r.Arguments[i], name, parts[1]); err != nil {
			return err
		}
		found[i] = true
	}
	if i := slices.Index(found, false); i >= 0 {
		return r.failf(fmt.Sprintf("Argument%d.bin", i), "the file is missing, so the capture is not whole: nothing is known of argument %d", i)
	}
	for i, a := range r.Arguments {
		if a.Local > 0 && a.Value != nil {
			return r.failf(fmt.Sprintf("Local%d.txt", i), "argument %d is both local memory and a value", i)
		}
	}
	return r.readTypes()
}

// readArgument reads a file about an argument.
func (r *reader) readArgument(a *Argument, name, kind string) (err error) {
	var numbers []int
	switch kind {
	case "Argument":
		if a.Value, err = r.content(name, maxText); err == nil && len(a.Value) == 0 {
			err = r.failf(name, "the file is empty")
		}
	case "Local":
		if numbers, err = r.count(name, 1, math.MaxInt32); err != nil {
			return err
		}
		if a.Local = numbers[0]; a.Local == 0 {
			err = r.failf(name, "local memory of 0 bytes is none")
		}
	case "Sampler":
		a.Sampler, err = r.sampler(name)
	case "SVM_Arg_Offset_":
		if numbers, err = r.count(name, 1, math.MaxInt); err == nil && numbers[0] != 0 {
			err = r.failf(name, "the argument points into the middle of shared virtual memory (SVM), for which a captured buffer cannot stand")
		}
		if a.Memory == nil {
			a.Memory = &Memory{}
		}
	case "Image_MetaData_":
		if numbers, err = r.count(name, 9, maxSize); err != nil {
			return err
		}
		a.Memory = &Memory{Image: &Image{Size: [3]int(numbers[:3]), Pixel: numbers[3], Type: numbers[6], Order: numbers[7]}}
		total := float64(numbers[0]) * float64(numbers[1]) * float64(numbers[2]) * float64(numbers[3])
		if total == 0 || total > MaxBytes || numbers[3] > 64 {
			err = r.failf(name, "an image of %v pixels of %d bytes is empty or too large", numbers[:3], numbers[3])
		}
	}
	return err
}

// sampler reads a text such as CL_SAMPLER_NORMALIZED_COORDS = CL_TRUE, CL_SAMPLER_FILTER_MODE = CL_FILTER_LINEAR.
func (r *reader) sampler(name string) (*Sampler, error) {
	text, err := r.content(name, maxText)
	if err != nil {
		return nil, err
	}
	s := &Sampler{Normalized: true, Addressing: "clamp", Filter: "nearest"} // the defaults of OpenCL
	for property := range strings.SplitSeq(string(text), ",") {
		key, value, _ := strings.Cut(property, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		known := true
		switch key {
		case "": // after the last comma
		case "CL_SAMPLER_NORMALIZED_COORDS":
			s.Normalized = value == "CL_TRUE"
			known = s.Normalized || value == "CL_FALSE"
		case "CL_SAMPLER_ADDRESSING_MODE":
			value, known = strings.CutPrefix(value, "CL_ADDRESS_")
			s.Addressing = strings.ToLower(value)
			known = known && slices.Contains(strings.Fields("none clamp clamp_to_edge repeat mirrored_repeat"), s.Addressing)
		case "CL_SAMPLER_FILTER_MODE":
			value, known = strings.CutPrefix(value, "CL_FILTER_")
			s.Filter = strings.ToLower(value)
			known = known && slices.Contains([]string{"nearest", "linear"}, s.Filter)
		default:
			known = false
		}
		if !known {
			return nil, r.failf(name, "the sampler has a property that is not known: %q", excerpt.Of(strings.TrimSpace(property)))
		}
	}
	return s, nil
}

// readTypes reads the types of the arguments. A driver that does not tell them leaves the file empty.
func (r *reader) readTypes() error {
	const name = "ArgumentDataTypes.txt"
	if !r.has(name) {
		return nil
	}
	text, err := r.content(name, maxText)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if strings.TrimSpace(string(text)) == "" {
		return nil
	}
	if len(lines) != len(r.Arguments) {
		return r.failf(name, "the kernel has %d arguments, but the capture has %d: it is not whole", len(lines), len(r.Arguments))
	}
	for i, line := range lines {
		r.Arguments[i].Type = strings.TrimSpace(line)
	}
	return nil
}

// readMemory finds the files with the content of buffers and images.
func (r *reader) readMemory() error {
	if !slices.ContainsFunc(r.Arguments, func(a Argument) bool { return a.Memory != nil }) {
		return nil
	}
	for _, folder := range []string{"Pre", "Post"} {
		names, err := r.list(folder)
		if err != nil {
			return err
		}
		for _, name := range names {
			if parts := memoryFile.FindStringSubmatch(name); parts != nil {
				if err := r.addMemory(path.Join(folder, name), folder == "Pre", parts); err != nil {
					return err
				}
			}
		}
	}
	total, sizes := 0, map[int]int{}
	for i, a := range r.Arguments {
		m := a.Memory
		switch {
		case m == nil:
			continue
		case m.before == "" && m.after == "":
			return r.failf("Pre", "the content of argument %d is missing: the layer could not read its memory, "+
				"or the application released it before the launch", i)
		case m.before == "" || m.after == "":
			present := m.before + m.after
			return r.failf(present, "the content of argument %d on the other side of the launch is missing, so the capture is not whole: "+
				"did the application end while this launch was captured?", i)
		case strings.Trim(string(a.Value), "\x00") == "":
			return r.failf(fmt.Sprintf("Argument%d.bin", i), "argument %d has memory, but this is no handle of it", i)
		}
		if size, again := sizes[m.Number]; again && size != m.Bytes {
			return r.failf(m.before, "allocation %d has %d bytes here and %d bytes in another argument", m.Number, m.Bytes, size)
		} else if !again {
			total += m.Bytes
		}
		sizes[m.Number] = m.Bytes
		if total > MaxBytes {
			return r.failf("Pre", "the buffers and images of the launch have more than %d bytes, which is too large", MaxBytes)
		}
		r.Arguments[i].Value = nil
	}
	return nil
}

// addMemory adds a file with the content of an argument.
func (r *reader) addMemory(name string, before bool, parts []string) error {
	i, _ := strconv.Atoi(parts[1])
	if i >= len(r.Arguments) || r.Arguments[i].Memory == nil {
		return r.failf(name, "the capture has no argument %d with memory", i)
	}
	m := r.Arguments[i].Memory
	if isImage := parts[2] == "Image"; isImage != (m.Image != nil) {
		return r.failf(name, "argument %d is a buffer in one file and an image in another", i)
	}
	f, size, err := r.open(name, MaxBytes)
	if err != nil {
		return err
	}
	f.Close()
	number, _ := strconv.Atoi(parts[3])
	to := &m.after
	if before {
		to = &m.before
	}
	switch {
	case *to != "":
		return r.failf(name, "there are two files with the content of argument %d", i)
	case size == 0:
		return r.failf(name, "the file is empty")
	case m.Image != nil && int(size) != m.Image.Size[0]*m.Image.Size[1]*m.Image.Size[2]*m.Image.Pixel:
		return r.failf(name, "it has %d bytes, but the image has %v pixels of %d bytes", size, m.Image.Size, m.Image.Pixel)
	case !before && m.before != "" && (int(size) != m.Bytes || number != m.Number):
		return r.failf(name, "it has %d bytes of allocation %d, but before the launch argument %d had %d bytes of allocation %d",
			size, number, i, m.Bytes, m.Number)
	}
	*to, m.Bytes, m.Number = name, int(size), number
	return nil
}

// Before returns the content of the buffer or image that is argument i before the launch.
func (l *Launch) Before(i int) ([]byte, error) { return l.memory(i, l.Arguments[i].Memory.before) }

// After returns the content of the buffer or image that is argument i after the launch.
func (l *Launch) After(i int) ([]byte, error) { return l.memory(i, l.Arguments[i].Memory.after) }

func (l *Launch) memory(i int, name string) ([]byte, error) {
	root, err := os.OpenRoot(l.Folder)
	if err != nil {
		return nil, fmt.Errorf("read a captured launch: %w", err)
	}
	defer root.Close()
	r := &reader{Launch: Launch{Folder: l.Folder}, root: root}
	content, err := r.content(name, MaxBytes)
	if err == nil && len(content) != l.Arguments[i].Memory.Bytes {
		err = r.failf(name, "the file has %d bytes now instead of %d", len(content), l.Arguments[i].Memory.Bytes)
	}
	return content, err
}
