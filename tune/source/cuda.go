package source

import (
	"regexp"
	"slices"
	"strings"
)

// cudaWords replaces words of CUDA C by those of OpenCL C, which have the same meaning: threadIdx.x by get_local_id(0).
var cudaWords = func() *strings.Replacer {
	pairs := []string{"__global__", "__kernel", "__restrict__", "restrict", "this_thread_block", "barrier", "__syncthreads_and", "barrier",
		"__syncthreads_or", "barrier", "__syncthreads_count", "barrier", "__syncthreads", "barrier"}
	for _, index := range []string{"threadIdx get_local_id", "blockIdx get_group_id", "blockDim get_local_size", "gridDim get_num_groups"} {
		cuda, opencl, _ := strings.Cut(index, " ")
		pairs = append(pairs, cuda+".x", opencl+"(0)", cuda+".y", opencl+"(1)", cuda+".z", opencl+"(2)")
	}
	return strings.NewReplacer(pairs...)
}()

var (
	cudaAttribute = regexp.MustCompile(`(?:__launch_bounds__|__align__|\balignas)\([^()\n]*\)|\bextern[ \t]+"C"`)
	groupLast     = regexp.MustCompile(`(get_local_size\([012]\)) *\* *(get_group_id\([012]\))`)
)

// asOpenCL returns a source in CUDA C with the words of OpenCL C, on the same lines. Another source stays as it is.
func asOpenCL(text string) string {
	if !strings.Contains(text, "__global__") {
		return text
	}
	text = cudaWords.Replace(cudaAttribute.ReplaceAllString(text, ""))
	return groupLast.ReplaceAllString(text, "$2 * $1") // as PerGroup has them
}

// A Kernel is the head of a kernel in CUDA C.
type Kernel struct {
	Name      string
	Arguments []Variable // nil if the text does not tell them, as where a macro makes them
	Template  []Variable // the parameters of a template: a Type is typename, class, or that of a number
	Shared    []Variable // dynamic shared memory: the arrays extern __shared__ that it reaches
	Symbols   []Variable // the variables __constant__ without a value that it reaches
}

// A Variable is what a declaration in CUDA C declares.
type Variable struct {
	Name, Type string   // the type without qualifiers and asterisks, such as unsigned int
	Pointers   int      // asterisks
	Const      bool     // the value, or what the first asterisk points to
	Counts     []string // the lengths of an array, by dimension
	Default    string   // the text after =
}

// Kernels returns the kernels in CUDA C of a source, in its order.
func Kernels(text string) (all []Kernel) {
	if !strings.Contains(text, "__global__") {
		return nil
	}
	words := tokens(asOpenCL(text))
	joined := strings.Join(words, " ")
	shared, symbols := declared(joined, `\bextern __shared__ ([^;={]*) ;`), declared(joined, `\b__constant__ ([^;={]*) ;`)
	for open, w := range words {
		if w != "(" {
			continue
		}
		start, body, found := kernelAt(words, open)
		if !found || closing(words, open) != body || !isName(words[open-1]) {
			continue
		}
		k := Kernel{Name: words[open-1], Arguments: []Variable{}}
		if words[open+1] != "void" || open+3 != body {
			k.Arguments = variables(arguments(words, open))
		}
		from, end := lastIndex(words[:start], ";", "{", "}")+1, lastIndex(words[:start], ">")
		if words[from] == "template" && from+1 < end {
			k.Template = variables(arguments(slices.Concat([]string{"("}, words[from+2:end], []string{")"}), 0))
		}
		if len(shared)+len(symbols) > 0 {
			reached := reach(text, words, body)
			unreached := func(v Variable) bool { return !reached[v.Name] }
			k.Shared, k.Symbols = slices.DeleteFunc(slices.Clone(shared), unreached), slices.DeleteFunc(slices.Clone(symbols), unreached)
		}
		all = append(all, k)
	}
	return all
}

// lastIndex returns the last index of one of some words, or -1.
func lastIndex(words []string, of ...string) int {
	i := len(words) - 1
	for i >= 0 && !slices.Contains(of, words[i]) {
		i--
	}
	return i
}

// declared returns the variables of the declarations that a pattern matches.
func declared(words, pattern string) (all []Variable) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(words, -1) {
		all = append(all, variables([][]string{strings.Fields(m[1])})...)
	}
	return all
}

// variables reads declarations, nil if one of them cannot be read.
func variables(declarations [][]string) []Variable {
	all := []Variable{}
	for _, words := range declarations {
		v, ok := variable(words)
		if !ok && len(words) > 0 {
			return nil
		} else if ok {
			all = append(all, v)
		}
	}
	return all
}

var cudaQualifiers = strings.Fields("volatile restrict __restrict __grid_constant__ struct static __device__")

// variable reads a declaration such as const float *__restrict__ a. It returns false for references, and for types and macros with arguments.
func variable(words []string) (v Variable, ok bool) {
	if i := slices.Index(words, "="); i >= 0 {
		v.Default, words = strings.Join(words[i+1:], ""), words[:i]
	}
	var names []string
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "const":
			v.Const = v.Const || v.Pointers == 0
		case w == "*":
			v.Pointers++
		case w == "[":
			end := closing(words, i)
			v.Counts = append(v.Counts, strings.Join(words[i+1:max(i+1, end-1)], " "))
			i = end - 1
		case !isName(w):
			return v, false
		case !slices.Contains(cudaQualifiers, w):
			names = append(names, w)
		}
	}
	if len(names) < 2 {
		return v, false
	}
	v.Name, v.Type = names[len(names)-1], strings.Join(names[:len(names)-1], " ")
	return v, true
}

// cudaTypes are the types of CUDA C whose size is the same on all systems, which long has not, with their names in OpenCL C.
var cudaTypes = map[string]string{
	"char": "char", "signed char": "char", "int8_t": "char", "uchar": "uchar", "unsigned char": "uchar", "uint8_t": "uchar", "bool": "uchar",
	"short": "short", "int16_t": "short", "ushort": "ushort", "unsigned short": "ushort", "uint16_t": "ushort",
	"int": "int", "int32_t": "int", "uint": "uint", "unsigned": "uint", "unsigned int": "uint", "uint32_t": "uint",
	"long long": "long", "long long int": "long", "int64_t": "long", "unsigned long long": "ulong", "unsigned long long int": "ulong", "uint64_t": "ulong",
	"size_t": "ulong", "half": "half", "__half": "half", "float": "float", "double": "double",
}

var cudaVector = regexp.MustCompile(`^(u?)(char|short|int|long|float|double|(?:__)?half)(?:long)?([124])$`)

// OpenCLType returns the name in OpenCL C of a type of CUDA C that numbers or vectors of them have; "" for other types, and for
// vectors of three numbers, which have the size of four in OpenCL C alone.
func OpenCLType(cuda string) string {
	if m := cudaVector.FindStringSubmatch(cuda); m != nil {
		return m[1] + strings.TrimPrefix(m[2], "__") + strings.TrimPrefix(m[3], "1")
	}
	return cudaTypes[cuda]
}
