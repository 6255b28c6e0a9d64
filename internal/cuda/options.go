package cuda

import (
	"slices"
	"strings"
)

// A request holds what the options of a build ask for.
type request struct {
	arguments []string // of NVRTC
	macros    string   // #define and #undef, a line each
	names     []string // name expressions, such as «add<float, 128>»
	target    string   // an architecture such as sm_90; "": that of the device
	fresh     bool     // nothing may come from a cache
}

const (
	nameOption = "-ndtune-name=" // a name expression: the name of a kernel that is an instance of a template, or in a namespace
	freshMacro = "NDTUNE_FRESH_" // a macro of a build that no cache may answer begins with it
)

// counterparts are NVRTC's for options of OpenCL. Others of OpenCL are left out, and all else is NVRTC's.
var counterparts = map[string]string{
	"-cl-nv-verbose": "--ptxas-options=-v", "-cl-nv-maxrregcount": "--maxrregcount", // the first writes to the log what ptxas says of each kernel
	"-cl-fast-relaxed-math": "--use_fast_math", "-cl-denorms-are-zero": "--ftz=true",
}

// parse reads a line of options. Macros become lines before the source: NVRTC reads a header of its own before the source, which an
// option such as -D size=4096 breaks.
func parse(line string) (r request) {
	words := split(line)
	for i := 0; i < len(words); i++ {
		w := words[i]
		if i+1 < len(words) && slices.Contains([]string{"-D", "-U", "-I"}, w) {
			i++
			w += words[i]
		}
		flag, value, given := strings.Cut(w, "=")
		if name, ok := strings.CutPrefix(w, nameOption); ok {
			r.names = append(r.names, name)
		} else if macro, ok := strings.CutPrefix(w, "-D"); ok {
			name, value, given := strings.Cut(macro, "=")
			if !given {
				value = "1"
			}
			r.macros += "#define " + name + " " + value + "\n"
			r.fresh = r.fresh || strings.HasPrefix(name, freshMacro)
		} else if name, ok := strings.CutPrefix(w, "-U"); ok {
			r.macros += "#undef " + name + "\n"
		} else if own := counterparts[flag]; own != "" {
			r.arguments = append(r.arguments, own+w[len(flag):])
		} else if flag == "-arch" || flag == "--gpu-architecture" {
			if !given && i+1 < len(words) {
				i++
				value = words[i]
			}
			r.target = value // the last one counts
		} else if !strings.HasPrefix(w, "-cl-") {
			r.arguments = append(r.arguments, w)
		}
	}
	return r
}

// split splits a line of options at spaces that are not in quotes. A backslash keeps a quote behind it as a character, and in quotes
// a backslash too.
func split(line string) (words []string) {
	var word []byte
	started, quoted := false, false
	for i := 0; i < len(line); i++ {
		escaped := line[i] == '\\' && i+1 < len(line) && (line[i+1] == '"' || quoted && line[i+1] == '\\')
		switch c := line[i]; {
		case escaped:
			i++
			word, started = append(word, line[i]), true
		case c == '"':
			quoted, started = !quoted, true
		case strings.IndexByte(" \t\r\n", c) >= 0 && !quoted:
			if started {
				words = append(words, string(word))
			}
			word, started = nil, false
		default:
			word, started = append(word, c), true
		}
	}
	if started {
		words = append(words, string(word))
	}
	return words
}
