package source

import (
	"runtime"
	"slices"
	"strings"
)

// words of CUDA C, and what OpenCL C has in their place.
var (
	cudaIndices = map[string]string{"threadIdx": "get_local_id", "blockIdx": "get_group_id", "blockDim": "get_local_size", "gridDim": "get_num_groups"}
	cudaWords   = map[string]string{
		"__global__": "__kernel", "__shared__": "__local", "__constant__": "__constant", "__restrict__": "restrict", "__syncthreads": "barrier",
		"__syncthreads_and": "barrier", "__syncthreads_or": "barrier", "__syncthreads_count": "barrier", "this_thread_block": "barrier",
	}
	cudaAttributes = []string{"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__align__", "alignas"} // with arguments
)

// asOpenCL returns the words of a source, and their lines, with those of OpenCL C in place of those of CUDA C: get_local_id(0) for
// threadIdx.x. Launch bounds, alignments and extern "C" are left out. A source without kernels in CUDA C stays as it is.
func asOpenCL(all []string, lines []int) ([]string, []int) {
	if !slices.Contains(all, "__global__") {
		return all, lines
	}
	var words []string
	var at []int
	add := func(line int, added ...string) {
		words, at = append(words, added...), append(at, slices.Repeat([]int{line}, len(added))...)
	}
	index := func(i int) []string { // the call in place of an index such as threadIdx.x
		if i+2 >= len(all) || cudaIndices[all[i]] == "" || all[i+1] != "." || len(all[i+2]) != 1 || !strings.Contains("xyz", all[i+2]) {
			return nil
		}
		return []string{cudaIndices[all[i]], "(", string('0' + all[i+2][0] - 'x'), ")"}
	}
	ends := map[int]bool{} // the brackets that close extern "C"
	for i := 0; i < len(all); i++ {
		next := ""
		if i+1 < len(all) {
			next = all[i+1]
		}
		switch call := index(i); {
		case call != nil && all[i] == "blockDim" && i+4 < len(all) && all[i+3] == "*" && all[i+4] == "blockIdx" && index(i+4) != nil:
			add(lines[i], slices.Concat(index(i+4), []string{"*"}, call)...) // as PerGroup has them
			i += 6
		case call != nil:
			add(lines[i], call...)
			i += 2
		case next == "(" && slices.Contains(cudaAttributes, all[i]):
			i = closing(all, i+1) - 1
		case all[i] == "extern" && next == `"C"`:
			if i++; i+1 < len(all) && all[i+1] == "{" {
				i++
				ends[closing(all, i)-1] = true
			}
		case ends[i]:
		case cudaWords[all[i]] != "":
			add(lines[i], cudaWords[all[i]])
		default:
			add(lines[i], all[i])
		}
	}
	return words, at
}

// A Kernel is the head of a kernel in CUDA C.
type Kernel struct {
	Name      string
	Arguments []Variable // nil if the text does not tell them, as where a macro makes them
	Template  []Variable // the parameters of a template: a Type is typename, class, or that of a number
	Shared    []Variable // dynamic shared memory: the arrays extern __shared__ that it reaches
	Symbols   []Variable // the variables __constant__ that it reaches
}

// A Variable is what a declaration in CUDA C declares.
type Variable struct {
	Name, Type string // the type without qualifiers and asterisks, such as unsigned int
	Pointers   int    // asterisks, and brackets of an argument
	Const      bool
	Counts     []string // the lengths of an array, by dimension
	Default    string   // the text after =
}

// Kernels returns the kernels in CUDA C of a source, in its order.
func Kernels(text string) (all []Kernel) {
	words, shared, symbols := withoutVariables(tokens(text))
	for i, w := range words {
		if w != "__global__" {
			continue
		}
		k, body, ok := kernelHead(words, i)
		if ok && len(shared)+len(symbols) > 0 {
			reached := reach(text, words, body)
			unreached := func(v Variable) bool { return !reached[v.Name] }
			k.Shared, k.Symbols = slices.DeleteFunc(slices.Clone(shared), unreached), slices.DeleteFunc(slices.Clone(symbols), unreached)
		}
		if ok {
			all = append(all, k)
		}
	}
	return all
}

// withoutVariables returns words without the declarations of variables in dynamic shared and constant memory, and these.
func withoutVariables(words []string) (rest []string, shared, symbols []Variable) {
	for i := 0; i < len(words); i++ {
		isSymbol := words[i] == "__constant__"
		if !isSymbol && (words[i] != "__shared__" || i == 0 || words[i-1] != "extern") {
			rest = append(rest, words[i])
			continue
		}
		end := i + 1
		for end < len(words) && !slices.Contains([]string{";", "=", "{"}, words[end]) {
			end++
		}
		v, ok := variable(words[i+1 : end])
		switch v.Pointers -= len(v.Counts); {
		case ok && isSymbol:
			symbols = append(symbols, v)
		case ok:
			shared = append(shared, v)
		}
		i = end - 1
	}
	return rest, shared, symbols
}

// kernelHead reads a kernel whose word __global__ has an index, unless it has no body, and finds its body.
func kernelHead(words []string, at int) (k Kernel, body int, ok bool) {
	open := at
	for open < len(words) && words[open] != "(" {
		if open++; open+1 < len(words) && slices.Contains(cudaAttributes, words[open]) {
			open = closing(words, open+1)
		}
	}
	end := closing(words, open)
	if open == len(words) || end == len(words) || words[end] != "{" || !isName(words[open-1]) {
		return k, 0, false
	}
	k.Name = words[open-1]
	if k.Arguments = []Variable{}; !slices.Equal(words[open:end], []string{"(", "void", ")"}) {
		k.Arguments = variables(words[open+1 : end-1])
	}
	from := at // of the declaration
	for from > 0 && !slices.Contains([]string{";", "{", "}"}, words[from-1]) {
		from--
	}
	if head := words[from:at]; len(head) > 2 && head[0] == "template" {
		last := len(head) - 1
		for head[last] != ">" && last > 0 {
			last--
		}
		k.Template = variables(head[2:max(2, last)])
	}
	return k, end, true
}

// variables reads declarations between commas, nil if one of them cannot be read.
func variables(words []string) []Variable {
	all := []Variable{}
	for _, words := range arguments(slices.Concat([]string{"("}, words, []string{")"}), 0) {
		v, ok := variable(words)
		if !ok && len(words) > 0 {
			return nil
		} else if ok {
			all = append(all, v)
		}
	}
	return all
}

// variable reads a declaration such as const float *__restrict__ a.
func variable(words []string) (v Variable, ok bool) {
	var names []string
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "const":
			v.Const = v.Const || v.Pointers == 0
		case slices.Contains([]string{"volatile", "restrict", "__restrict__", "__restrict", "__grid_constant__", "struct", "static", "__device__"}, w):
		case slices.Contains(cudaAttributes, w):
			i = closing(words, i+1) - 1
		case w == "*":
			v.Pointers++
		case w == "[":
			end := closing(words, i)
			v.Pointers++
			v.Counts = append(v.Counts, strings.Join(words[i+1:max(i+1, end-1)], " "))
			i = end - 1
		case w == "=":
			v.Default = strings.Join(words[i+1:], "")
			i = len(words)
		case isName(w):
			names = append(names, w)
		default: // a reference, a type with arguments, a macro with arguments
			return v, false
		}
	}
	if len(names) < 2 {
		return v, false
	}
	v.Name, v.Type = names[len(names)-1], strings.Join(names[:len(names)-1], " ")
	return v, true
}

// cudaTypes are the scalar types of CUDA C, with their names in OpenCL C.
var cudaTypes = map[string]string{
	"char": "char", "uchar": "uchar", "short": "short", "ushort": "ushort", "int": "int", "uint": "uint", "long": "long", "ulong": "ulong",
	"half": "half", "float": "float", "double": "double",
	"signed char": "char", "int8_t": "char", "unsigned char": "uchar", "uint8_t": "uchar", "bool": "uchar", "unsigned short": "ushort", "int16_t": "short",
	"uint16_t": "ushort", "unsigned": "uint", "unsigned int": "uint", "int32_t": "int", "uint32_t": "uint", "long long": "long", "long long int": "long",
	"int64_t": "long", "unsigned long": "ulong", "unsigned long long": "ulong", "unsigned long long int": "ulong", "uint64_t": "ulong", "size_t": "ulong", "__half": "half",
}

// OpenCLType returns the name in OpenCL C of a type of CUDA C that numbers or vectors of them have; "" for other types, and for
// vectors of three numbers, which have the size of four in OpenCL C alone.
func OpenCLType(cuda string) string {
	if of := cudaTypes[cuda]; of != "" && runtime.GOOS == "windows" && (cuda == "long" || cuda == "unsigned long") {
		return strings.Replace(of, "long", "int", 1)
	} else if of != "" {
		return of
	}
	scalar := cudaTypes[strings.Replace(strings.TrimRight(cuda, "124"), "longlong", "long", 1)]
	switch lanes := strings.TrimLeft(cuda, "abcdefghijklmnopqrstuvwxyz_"); {
	case scalar == "":
	case lanes == "1":
		return scalar
	case lanes == "2" || lanes == "4":
		return scalar + lanes
	}
	return ""
}
