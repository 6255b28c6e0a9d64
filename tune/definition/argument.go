package definition

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/array"
)

// An Argument is one argument of the kernel, in the kernel's order. It is a buffer unless Value,
// LocalSize, Image, Sampler, Alias or Symbol is set.
type Argument struct {
	Name string
	// Type is a name for [array.ParseType] such as "float32" or "int4", "bytes", a StructType, or an expression over constants and parameters
	// with such a text, such as the name of a parameter. It is optional with Data.
	Type string

	// A buffer has Size elements, which are Data or made by Fill. Size defaults to the length of Data.
	Size   Expr
	Data   any // a Go slice of numbers, or an *array.Array
	Fill   Fill
	Output bool // compared with the reference by Verify

	// RestoreEachLaunch restores the initial content of the buffer before every launch, for kernels
	// that work in place. Otherwise it is restored before each configuration.
	RestoreEachLaunch bool

	// A scalar is a number, a bool, an expression, or a slice of them for a vector. A struct by value is a
	// map[string]any of its fields, or a text of hexadecimal digits, which are all its bytes; so are "bytes".
	Value any

	LocalSize Expr // local memory, in elements

	Image   *Image // Type and Size do not apply
	Sampler *Sampler

	// Alias names another argument, a buffer. The kernel gets that buffer for this argument, too. Only Type applies, which may
	// be another than that of the buffer.
	Alias string

	// Symbol says that the content is that of a variable of the source, which has the name: constant memory of CUDA C, such as
	// __constant__ float weights[9]. It has no place among the arguments of the kernel. Type, Size, Data and Fill apply.
	Symbol bool
}

// A Fill is the initial content of a buffer: a Kind, an Expression, Fields, a copy of another argument, or
// a file. The expressions may read constants only. A Kind or an Expression fills each field of a struct.
type Fill struct {
	Kind                        array.FillKind
	Value, Low, High, Mean, Std Expr // of the Kind: see [array.Fill]

	// Expression computes each scalar from index, the index of its element, lane, its place within a vector,
	// and item, its place within the arrays of a struct. A condition is 0 or 1.
	Expression Expr

	Fields map[string]Fill // of a struct; fields without a fill are zeros

	Copy string // name of another buffer of the same type and size
	File string // path of a .npy file; a struct takes the bytes of any

	// Shared is memory of another process on a device of CUDA: the handle of an allocation by cuIpcGetMemHandle, in hexadecimal digits, and
	// the offset of the content in bytes: "5f…00+4000". The kernel gets a copy; an output of a first launch that is kept is copied back.
	Shared string
}

// SharedAt returns the handle and the offset in bytes of Shared.
func (f Fill) SharedAt() (handle [64]byte, offset int, err error) {
	digits, rest, _ := strings.Cut(f.Shared, "+")
	offset, err = strconv.Atoi(rest)
	n := 0
	if len(digits) == 2*len(handle) {
		n, _ = hex.Decode(handle[:], []byte(digits))
	}
	if err != nil || n < len(handle) || offset < 0 {
		err = fmt.Errorf("%s is no place in memory: 128 hexadecimal digits of cuIpcGetMemHandle, a plus and an offset in bytes", excerpt.Of(f.Shared))
	}
	return handle, offset, err
}

// IsZero reports whether no content is given.
func (f Fill) IsZero() bool { return reflect.ValueOf(f).IsZero() }

// An Image says that an argument is an image. Its content is an array of pixels, x first. A pixel is a
// vector of channels, a normalized channel its integer.
type Image struct {
	Shape  string // 1d, 2d, 3d, 1d_array, 2d_array or 1d_buffer
	Format string // order and type of the channels: rgba/float32, r/unorm_int8
	Size   []Expr // in pixels by dimension, and for an array the number of images
}

// A Sampler says that an argument is a sampler, in the words of OpenCL. Empty texts mean pixels, none
// and nearest.
type Sampler struct {
	Coordinates string // pixels or normalized
	Addressing  string // none, clamp, clamp_to_edge, repeat or mirrored_repeat
	Filter      string // nearest or linear
}

// A StructType is a struct that arguments can have as their type. It is laid out as OpenCL C does.
type StructType struct {
	Name   string
	Fields []StructField
}

// A StructField is a field of a [StructType].
type StructField struct {
	Name  string
	Type  string // as that of an [Argument], or the name of an earlier StructType
	Count Expr   // length of an array, the same for all configurations; "": the field is no array
}

// An ArgumentKind is the kind of an argument.
type ArgumentKind string

// HasContent reports whether arguments of the kind have initial content.
func (k ArgumentKind) HasContent() bool {
	return k == BufferArgument || k == ImageArgument || k == SymbolArgument
}

// WithArticle returns the kind with its article: «a buffer», «an image», «local memory».
func (k ArgumentKind) WithArticle() string {
	switch k {
	case LocalArgument:
		return string(k)
	case ImageArgument, AliasArgument:
		return "an " + string(k)
	}
	return "a " + string(k)
}

// The kinds.
const (
	BufferArgument  ArgumentKind = "buffer"
	ScalarArgument  ArgumentKind = "scalar"
	LocalArgument   ArgumentKind = "local memory"
	ImageArgument   ArgumentKind = "image"
	SamplerArgument ArgumentKind = "sampler"
	AliasArgument   ArgumentKind = "alias of a buffer"
	SymbolArgument  ArgumentKind = "symbol"
)
