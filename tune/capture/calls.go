package capture

import (
	"bufio"
	"cmp"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// calls are what a call log of the layer tells of the launches of one process.
type calls struct {
	shapes   []Launches
	launches []call
	memory   map[int]map[string]string // of launches with memory that a buffer cannot stand for, as in [Origin]
}

// A call is a launch of a shape, by the layer's number.
type call struct{ number, shape int }

var (
	enqueueLine = regexp.MustCompile(`^>>>> clEnqueueNDRangeKernel\( (\S+)\$([0-9A-F]{8})_\d+_([0-9A-F]{8}) \): .*kernel = (\S+),` +
		`(?: global_work_offset = < (.*?) >,)? global_work_size = < (.*?) >, local_work_size = < (.*?) >.*; EnqueueCounter: (\d+)`)
	argumentLine = regexp.MustCompile(`^>>>> clSetKernelArg(\w*)\(.*?kernel = (\S+), index = (\d+),.* value = (0x[0-9a-f]+|\(nil\))`)
	createdLine  = regexp.MustCompile(`^<<<< (clCreate\w+): returned (0x[0-9a-f]+)`)
)

// pointerKinds are the kinds of memory to which the functions clSetKernelArg… set pointers, by the ends of their names.
var pointerKinds = map[string]string{"SVMPointer": "svm", "MemPointerINTEL": "usm"}

// createdKinds are the kinds of memory that functions create.
var createdKinds = map[string]string{"clCreateSubBuffer": "sub-buffer", "clCreatePipe": "pipe"}

// readCalls reads a call log, as far as it goes: that of a program that was killed may end in the middle of a line.
func readCalls(from io.Reader) *calls {
	c := &calls{memory: map[int]map[string]string{}}
	created := map[string]string{}          // kinds, by handle
	bound := map[string]map[string]string{} // kinds, by kernel and argument
	known := map[string]int{}               // shapes, by their texts
	for lines, inside := bufio.NewReaderSize(from, 1<<12), false; ; {
		line, more, err := lines.ReadLine()
		switch text := string(line); {
		case err != nil:
			return c
		case inside: // a long line, such as that of a source
		case strings.HasPrefix(text, "<<<< clCreate"):
			if found := createdLine.FindStringSubmatch(text); found != nil {
				created[found[2]] = createdKinds[found[1]]
			}
		case strings.HasPrefix(text, ">>>> clSetKernelArg"):
			if found := argumentLine.FindStringSubmatch(text); found != nil {
				if bound[found[2]] == nil {
					bound[found[2]] = map[string]string{}
				}
				bound[found[2]][found[3]] = cmp.Or(pointerKinds[found[1]], created[found[4]])
			}
		case strings.HasPrefix(text, ">>>> clEnqueueNDRangeKernel"):
			if found := enqueueLine.FindStringSubmatch(text); found != nil {
				c.add(found, bound[found[4]], known)
			}
		}
		inside = more
	}
}

// add adds a launch.
func (c *calls) add(found []string, arguments map[string]string, known map[string]int) {
	key := strings.Join(append(found[1:4:4], found[5:8]...), "|")
	i, again := known[key]
	if !again {
		i = len(c.shapes)
		known[key] = i
		c.shapes = append(c.shapes, Launches{Kernel: found[1], Hash: found[2], OptionsHash: found[3],
			Offset: withoutZeros(sizes(found[5])), Global: sizes(found[6]), Local: sizes(found[7])})
	}
	number, _ := strconv.Atoi(found[8]) // it has digits only
	c.launches = append(c.launches, call{number, i})
	for index, kind := range arguments {
		if kind != "" {
			if c.memory[number] == nil {
				c.memory[number] = map[string]string{}
			}
			c.memory[number][index] = kind
		}
	}
}

// begin returns the launch from which on the most of the wanted ones are the first of their kernels.
func (c *calls) begin(wanted []Launches) (number, found int) {
	first := map[string]bool{} // whether the first launch of a kernel, from here on, is wanted
	count := 0
	for _, l := range slices.Backward(c.launches) {
		s := c.shapes[l.shape]
		kernel := s.Kernel + s.Build()
		if first[kernel] {
			count--
		}
		if first[kernel] = slices.ContainsFunc(wanted, s.Is); first[kernel] {
			count++
		}
		if count > 0 && count >= found {
			number, found = l.number, count
		}
	}
	return number, found
}
