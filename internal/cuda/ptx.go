package cuda

import (
	"bytes"
	"debug/elf"
	"regexp"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
)

// A declaration describes a kernel of a program.
type declaration struct {
	Name, Symbol string // in the source, or as an option names it; and in the machine code
	Parameters   []int  // their sizes in bytes
	Dynamic      bool   // it uses dynamic shared memory
	Shared       int    // static shared memory in bytes
	Threads      [3]int // of a block, that it requires; zeros: any
	MostThreads  int    // of a block; 0: the source does not say it
	calls        bool   // it calls functions
}

// What is read of PTX, which has one form since CUDA 7. See «PTX ISA», Kernel Function Directives.
var (
	ptxFunction  = regexp.MustCompile(`\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)\s*\(([^)]*)\)([^{;]*)\{`)
	ptxParameter = regexp.MustCompile(`\.param\s+(?:\.align\s+\d+\s+)?\.[a-z](\d+)[^,\[]*(?:\[(\d+)\])?`)
	ptxThreads   = regexp.MustCompile(`\.(reqntid|maxntid)\s+(\d+)(?:,\s*(\d+))?(?:,\s*(\d+))?`)
	ptxDynamic   = regexp.MustCompile(`\.extern\s+\.shared\s[^;\[]*?([\w$]+)\s*\[\s*\]`)
	ptxShared    = regexp.MustCompile(`(?m)^\s*\.shared\s+(?:\.align\s+\d+\s+)?\.[a-z](\d+)\s[^;\[]*(?:\[(\d+)\])?;`)
	ptxTarget    = regexp.MustCompile(`\.target\s+sm_(\d+)`)
)

// declarations returns the kernels of a program, from its PTX and its machine code. Symbols are the names that some of them were
// asked for by, and have in place of their own.
func declarations(ptx string, machine []byte, symbols map[string][]string) (all []declaration) {
	sizes := sharedSizes(ptx, machine)
	arrays := each.Of(ptxDynamic.FindAllStringSubmatch(ptx, -1), func(m []string) string { return regexp.QuoteMeta(m[1]) })
	dynamic := regexp.MustCompile(`[\s\[](?:` + strings.Join(arrays, "|") + `)[\s+;,\]]`)
	called := false // a function that is no kernel uses dynamic shared memory
	unasked := map[string]int{}
	at := ptxFunction.FindAllStringSubmatchIndex(ptx, -1)
	for i, m := range at {
		end := len(ptx)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		part := func(group int) string { return ptx[m[2*group]:m[2*group+1]] }
		body := ptx[m[1]:end]
		uses := len(arrays) > 0 && dynamic.MatchString(body)
		if part(1) == "func" {
			called = called || uses
			continue
		}
		d := declaration{Symbol: part(2), Parameters: []int{}, Dynamic: uses, calls: strings.Contains(body, "call"), Shared: sizes[part(2)]}
		for _, p := range ptxParameter.FindAllStringSubmatch(part(3), -1) {
			d.Parameters = append(d.Parameters, number(p[1], 0)/8*number(p[2], 1))
		}
		for _, v := range ptxShared.FindAllStringSubmatch(body, -1) {
			if sizes == nil {
				d.Shared += number(v[1], 0) / 8 * number(v[2], 1)
			}
		}
		for _, t := range ptxThreads.FindAllStringSubmatch(part(4), -1) {
			block := [3]int{number(t[2], 1), number(t[3], 1), number(t[4], 1)}
			d.MostThreads = block[0] * block[1] * block[2]
			if t[1] == "reqntid" {
				d.Threads = block
			}
		}
		names := symbols[d.Symbol]
		if names == nil {
			names = []string{sourceName(d.Symbol)}
			unasked[names[0]]++
		}
		for _, d.Name = range names {
			all = append(all, d)
		}
	}
	for i, d := range all {
		all[i].Dynamic = d.Dynamic || called && d.calls
		if symbols[d.Symbol] == nil && unasked[d.Name] > 1 { // in several namespaces or of several types: it names none of them
			all[i].Name = d.Symbol
		}
	}
	return all
}

// number returns a number of digits, or what no digits mean.
func number(digits string, none int) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return none
}

// sourceName returns the last part of a function's name in the source: «f» for the symbols f, _Z1fPf and _ZN5space1fEPf.
func sourceName(symbol string) string {
	rest, mangled := strings.CutPrefix(symbol, "_Z")
	name := symbol
	for rest = strings.TrimPrefix(rest, "N"); mangled; {
		rest = strings.TrimPrefix(rest, "L")
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n := number(rest[:digits], 0)
		if n == 0 || digits+n > len(rest) {
			break
		}
		name, rest = rest[digits:digits+n], rest[digits+n:]
	}
	return name
}

// sharedSizes returns the bytes of static shared memory by symbol, which machine code has as sections; nil if it is none.
func sharedSizes(ptx string, machine []byte) map[string]int {
	if len(machine) > 24 {
		machine = bytes.Clone(machine)
		copy(machine[20:], []byte{1, 0, 0, 0}) // up to CUDA 12, the version of the file is one of NVIDIA
	}
	f, err := elf.NewFile(bytes.NewReader(machine))
	if err != nil {
		return nil
	}
	reserved := 0 // bytes of each block that the system has
	if m := ptxTarget.FindStringSubmatch(ptx); m != nil && number(m[1], 0) >= 90 {
		reserved = 1024
	}
	sizes := map[string]int{}
	for _, s := range f.Sections {
		if symbol, ok := strings.CutPrefix(s.Name, ".nv.shared."); ok {
			sizes[symbol] = max(0, int(s.Size)-reserved)
		}
	}
	return sizes
}
