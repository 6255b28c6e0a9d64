package problem

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
)

// Buffers returns the names of the buffers, the images and the samplers, in the order of the arguments.
func (p *Problem) Buffers() (names []string) {
	for _, a := range p.arguments {
		if a.Kind.HasContent() || a.Kind == SamplerArgument {
			names = append(names, a.Name)
		}
	}
	return names
}

// BufferSizes returns the expressions that are the sizes of buffers and images.
func (p *Problem) BufferSizes() (all []*expression.Expression) {
	for _, a := range p.arguments {
		if a.Kind == BufferArgument && a.Elements != nil {
			all = append(all, a.Elements)
		}
		for _, one := range a.Alternatives {
			all = append(all, one.condition)
		}
		all = append(all, a.Pixels...)
	}
	return all
}

// ExportBuffersBytes returns a function of a language that computes the sizes of the buffers in bytes, which may depend on
// the configuration. The parameters and the names are those of [Step.NDRange].
//
//	C:      static int NAME(PARAMETERS, size_t *bytes), for an array in the order of [Problem.Buffers], in which images
//	        and samplers have 0; it returns 0, or 1 if it failed
//	Python: def NAME(PARAMETERS), which returns a dict without images and samplers, or raises ValueError
//	Go:     func NAME(PARAMETERS) (map[string]int, error), without images and samplers
func (p *Problem) ExportBuffersBytes(l expression.Language, name string, parameters []string, names map[string]string) (string, error) {
	w := launchWriter{functionWriter: p.functionWriter(l, names), buffers: p.Buffers()}
	w.function(name, parameters, "size_t *bytes", "(bytes map[string]int, err error)", func() {
		switch l {
		case expression.C:
			w.statement("(void)bytes")
			w.statement("(void)failed")
		case expression.Python:
			w.statement("bytes = {}")
		case expression.Go:
			w.statement("bytes = map[string]int{}")
		}
		for _, a := range p.arguments {
			place := slices.Index(w.buffers, a.Name)
			switch {
			case place < 0 || a.Kind != BufferArgument && l != expression.C:
			case a.Kind != BufferArgument:
				w.statement(fmt.Sprintf("bytes[%d] = 0", place))
			case l == expression.C:
				w.statement(fmt.Sprintf("bytes[%d] = %s", place, w.bufferSize(&a)))
			case l == expression.Python:
				w.statement(fmt.Sprintf("bytes[%s] = %s", w.literal(a.Name), w.bufferSize(&a)))
			case l == expression.Go:
				w.statement(fmt.Sprintf("bytes[%s] = int(%s)", w.literal(a.Name), w.bufferSize(&a)))
			}
		}
		w.statement(map[expression.Language]string{expression.C: "return has_failed", expression.Python: "return bytes", expression.Go: "return bytes, nil"}[l])
	})
	if w.err != nil {
		return "", fmt.Errorf("the sizes of the buffers: %w", w.err)
	}
	return w.String(), nil
}

// bufferSize is the size of a buffer in bytes.
func (w *launchWriter) bufferSize(a *ArgumentInfo) string {
	if a.Elements == nil && a.Alternatives == nil {
		return fmt.Sprint(a.Content.Len() * a.Element.Size())
	}
	elements := ""
	if a.Elements == nil {
		elements = fmt.Sprint(a.Content.Len())
	} else {
		elements = w.whole(a.Elements)
	}
	if w.language == expression.C {
		return w.call("local", elements, w.elementBytes(a.Element, a.Alternatives))
	}
	return w.call("checked_mul", w.call("positive", elements), w.elementBytes(a.Element, a.Alternatives))
}

// elementBytes is the size of an element in bytes, which may depend on the configuration.
func (w *launchWriter) elementBytes(e Element, alternatives []alternative) string {
	if alternatives == nil {
		return fmt.Sprint(e.Size())
	}
	return w.choose(alternatives, "int64", func(a *ArgumentInfo) string { return fmt.Sprint(a.Element.Size()) })
}

// choose is the text of one of some alternatives, by its condition. The result is its type in Go.
func (w *launchWriter) choose(of []alternative, result string, text func(*ArgumentInfo) string) string {
	last := len(of) - 1
	chosen := text(of[last].argument)
	for _, a := range of[:last] {
		chosen = fmt.Sprintf(map[expression.Language]string{
			expression.C: "(%s ? %s : %s)", expression.Python: "(%[2]s if %[1]s else %[3]s)", expression.Go: "func() " + result + " { if %s { return %s }; return %s }()",
		}[w.language], w.condition(a), text(a.argument), chosen)
	}
	return chosen
}

func (w *launchWriter) condition(a alternative) string {
	text, _, err := a.condition.Export(w.language, w.names)
	w.fail(err)
	return text
}

// ExportLaunches returns a function of a language that makes the launches of a run of the problem, one after the
// other, with the same sizes, buffers and bytes as [Problem.Variant] has. It needs [expression.Runtime]. The parameters
// and the names are those of [Step.NDRange]. Kernels have the numbers of [Problem.KernelNames].
//
// The function gets the buffers that the application made, in C an array in the order of [Problem.Buffers], in Python
// and Go a mapping of their names. Buffers that change places in the launches change places there as well, so
// that each name has its content after the launches.
//
//	C:      static int NAME(PARAMETERS, cl_mem *buffers, int (*launch)(void *data, const nd_kernel_launch *), void *data)
//	Python: def NAME(PARAMETERS, buffers), which returns a list of Launch, or raises ValueError
//	Go:     func NAME(PARAMETERS, buffers map[string]any) ([]Launch, error)
//
// The function of C calls launch for each launch. It returns 0; the status of a launch that is not 0; or 1 if an
// expression has no value, a launch has no size, there is no launch or there are too many. It makes no launch then.
// If the functions fail, the buffers are as they were.
func (p *Problem) ExportLaunches(l expression.Language, name string, parameters []string, names map[string]string) (string, error) {
	w := launchWriter{functionWriter: p.functionWriter(l, names), kernels: p.KernelNames(), buffers: p.Buffers()}
	steps := p.Steps()
	var quoted []string
	for _, b := range w.buffers {
		quoted = append(quoted, w.literal(b))
	}
	list := strings.Join(quoted, ", ")
	further := map[expression.Language][]string{expression.Python: {"buffers"}, expression.Go: {"buffers map[string]any"}}[l]
	w.function(name, append(slices.Clone(parameters), further...), "cl_mem *buffers, int (*launch)(void *data, const nd_kernel_launch *), void *data", "(launches []Launch, err error)", func() {
		switch l {
		case expression.C:
			w.bodyC(steps)
		case expression.Python:
			w.statement("names = [" + list + "]")
			w.statement("launches, held = [], nd_buffers(buffers, names)")
			w.steps(steps, 1)
			w.statement("return nd_finish(launches, buffers, names, held)")
		case expression.Go:
			w.statement("names := []string{" + list + "}")
			w.statement("held := ndBuffers(buffers, names)")
			w.steps(steps, 1)
			w.statement("return ndFinish(launches, buffers, names, held), nil")
		}
	})
	if w.err != nil {
		return "", fmt.Errorf("the launches: %w", w.err)
	}
	return w.String(), nil
}

// bodyC writes the launches in C. They are computed twice, so that none is made if one cannot be.
func (w *launchWriter) bodyC(steps []Step) {
	arguments, bytes := limits(steps)
	copyHeld := func(to, from string) {
		if n := len(w.buffers); n > 0 {
			w.statement(fmt.Sprintf("memcpy(%s, %s, %d * sizeof *held)", to, from, n))
		}
	}
	w.statement(fmt.Sprintf("nd_argument arguments[%d]", max(1, arguments)))
	w.statement(fmt.Sprintf("unsigned char bytes[%d]", max(1, bytes)))
	w.statement(fmt.Sprintf("cl_mem held[%d]", max(1, len(w.buffers))))
	w.statement("nd_kernel_launch next")
	w.statement("int pass, launches, status")
	if len(w.buffers) == 0 {
		w.statement("(void)buffers")
		w.statement("(void)held")
	}
	w.statement("(void)bytes")
	w.statement("next.arguments = arguments")
	w.block("for (pass = 0; pass < 2; pass++)", func() {
		w.statement("launches = 0")
		copyHeld("held", "buffers")
		w.steps(steps, 1)
		w.statement("if (has_failed || launches == 0) return 1")
	})
	copyHeld("buffers", "held")
	w.statement("return 0")
}

// limits returns the most arguments and the most bytes of scalars that a kernel has.
func limits(steps []Step) (arguments, bytes int) {
	for _, s := range steps {
		own := 0
		for _, a := range s.Arguments {
			own += a.scalarSize()
		}
		innerArguments, innerBytes := limits(s.Steps)
		arguments, bytes = max(arguments, innerArguments, len(s.Arguments)), max(bytes, innerBytes, own)
	}
	return arguments, bytes
}

// scalarSize returns the bytes of a scalar, with the largest of its types; 0 for other arguments.
func (a *StepArgument) scalarSize() int {
	switch {
	case a.Kind != ScalarArgument:
		return 0
	case a.Raw != nil:
		return len(a.Raw)
	}
	size := a.Element.Size()
	for _, one := range a.alternatives {
		size = max(size, one.argument.Element.Size())
	}
	return size
}

// A launchWriter writes the launches of steps.
type launchWriter struct {
	functionWriter
	kernels, buffers []string
}

// steps writes steps within loops, of which it is the given number.
func (w *launchWriter) steps(list []Step, loop int) {
	for _, s := range list {
		if s.Repeat == nil {
			w.once(&s, loop)
			continue
		}
		index, end := fmt.Sprint("k", loop), fmt.Sprint("n", loop)
		count := w.call("natural", w.repetitions(s.Repeat))
		head := map[expression.Language]string{
			expression.C:      "for (int64_t %[1]s = 0, %[2]s = %[3]s; %[1]s < %[2]s; %[1]s++)",
			expression.Python: "for %[1]s in range(%[3]s)",
			expression.Go:     "for %[1]s, %[2]s := int64(0), %[3]s; %[1]s < %[2]s; %[1]s++",
		}[w.language]
		w.block(fmt.Sprintf(head, index, end, count), func() {
			outer := w.names
			if w.names = maps.Clone(outer); s.Index != "" {
				w.names[s.Index] = index
			}
			if s.Swap != [2]string{} {
				w.swap(index, slices.Index(w.buffers, s.Swap[0]), slices.Index(w.buffers, s.Swap[1]))
			}
			w.once(&s, loop+1)
			w.names = outer
		})
	}
}

// repetitions is the value of repeat. A condition is 0 or 1.
func (w *launchWriter) repetitions(e *expression.Expression) string {
	text, kind, err := e.Export(w.language, w.names)
	switch {
	case err != nil || kind != expression.Bool:
		return w.whole(e)
	case w.language == expression.Go:
		return w.call("truth", text)
	}
	return text
}

// swap lets two buffers change places before all repetitions but the first.
func (w *launchWriter) swap(index string, a, b int) {
	w.when(index+" > 0", func() {
		if w.language != expression.C {
			w.statement(fmt.Sprintf("held[%[1]d], held[%[2]d] = held[%[2]d], held[%[1]d]", a, b))
			return
		}
		w.statement(fmt.Sprintf("cl_mem other = held[%d]", a))
		w.statement(fmt.Sprintf("held[%d] = held[%d]", a, b))
		w.statement(fmt.Sprintf("held[%d] = other", b))
	})
}

// once writes one repetition of a step.
func (w *launchWriter) once(s *Step, loop int) {
	if s.Kernel == "" {
		w.steps(s.Steps, loop)
		return
	}
	w.block("", func() {
		sizes := w.ndrange(s)
		kernel := fmt.Sprintf("%d, %s", slices.Index(w.kernels, s.Kernel), w.literal(s.Kernel))
		switch w.language {
		case expression.C:
			w.launchC(s, sizes)
		case expression.Python:
			w.statement("nd_add_launch(launches, " + kernel + ", nd_launch(" + sizes + ")" + w.arguments(s, "(%s, %s)") + ")")
		case expression.Go:
			w.statement("ndAddLaunch(&launches, " + kernel + ", ndLaunch(" + sizes + ")" + w.arguments(s, "Argument{%s, %s}") + ")")
		}
	})
}

// launchC writes a launch in C.
func (w *launchWriter) launchC(s *Step, sizes string) {
	at := 0 // in the bytes
	for i, a := range s.Arguments {
		buffer, size, value := -1, "", ""
		switch a.Kind {
		case ScalarArgument:
			value, size = fmt.Sprint("bytes + ", at), fmt.Sprint(a.scalarSize())
			if a.alternatives == nil {
				w.storeC(&a, at)
			} else {
				size = "(size_t)" + w.elementBytes(a.Element, a.alternatives)
			}
			for _, one := range a.alternatives {
				own := one.argument.exported()
				w.when(w.condition(one), func() { w.storeC(&own, at) })
			}
			at += a.scalarSize()
		case LocalArgument:
			size, value = w.call("local", w.whole(a.Local), w.elementBytes(a.Element, a.alternatives)), "NULL"
		default:
			buffer = slices.Index(w.buffers, a.Name)
			size, value = "sizeof *held", fmt.Sprintf("&held[%d]", buffer)
		}
		w.statement(fmt.Sprintf("arguments[%d] = nd_argument_of(%s, %d, %s, %s)", i, w.literal(a.Name), buffer, size, value))
	}
	w.statement(fmt.Sprint("next.kernel = ", slices.Index(w.kernels, s.Kernel)))
	w.statement("next.name = " + w.literal(s.Kernel))
	w.statement(fmt.Sprint("next.count = ", len(s.Arguments)))
	w.statement("if (nd_launch(&next.range, " + sizes + ", failed) || launches++ == ND_MAX_LAUNCHES) return 1")
	w.statement("if (pass == 1 && (status = launch(data, &next)) != 0) return status")
}

// storeC stores a scalar in C, from a place in the bytes on.
func (w *launchWriter) storeC(a *StepArgument, at int) {
	fixed, stored := w.scalar(a)
	if len(fixed) > 0 {
		w.statement(fmt.Sprintf("memcpy(bytes + %d, %s, %d)", at, w.bytes(fixed), len(fixed)))
	}
	for _, v := range stored {
		operation := "nd_store"
		if v.real {
			operation = "nd_store_real"
		}
		w.statement(fmt.Sprintf("%s(bytes + %d, '%c', %s, failed)", operation, at+v.offset, v.code, v.text))
	}
}

// arguments are those of a launch in Python or Go, each in a format of its name and its value, after commas.
func (w *launchWriter) arguments(s *Step, format string) string {
	var b strings.Builder
	for _, a := range s.Arguments {
		var value string
		switch a.Kind {
		case ScalarArgument:
			if value = w.stored(&a); a.alternatives != nil {
				value = w.choose(a.alternatives, "[]byte", func(one *ArgumentInfo) string { own := one.exported(); return w.stored(&own) })
			}
		case LocalArgument:
			value = w.call("local", w.whole(a.Local), w.elementBytes(a.Element, a.alternatives))
		default:
			value = fmt.Sprintf("held[%d]", slices.Index(w.buffers, a.Name))
		}
		fmt.Fprintf(&b, ", "+format, w.literal(a.Name), value)
	}
	return b.String()
}

// stored is a call that makes the bytes of a scalar in Python or Go.
func (w *launchWriter) stored(a *StepArgument) string {
	fixed, stored := w.scalar(a)
	if fixed == nil {
		fixed = make([]byte, a.scalarSize())
	}
	values := []string{w.bytes(fixed)}
	for _, v := range stored {
		values = append(values, fmt.Sprintf(map[expression.Language]string{expression.Python: `(%d, "%c", %s)`, expression.Go: "ndValue{%d, '%c', %s}"}[w.language], v.offset, v.code, v.text))
	}
	return w.call("bytes", values...)
}

// A storedValue is a value in a language that is stored as a type.
type storedValue struct {
	offset int
	code   byte // of the type; see the runtime
	text   string
	real   bool // else an integer
}

// scalar returns the bytes of a scalar that are the same for all launches, nil if there are none, and the values that
// are computed.
func (w *launchWriter) scalar(a *StepArgument) (fixed []byte, stored []storedValue) {
	if a.Raw != nil {
		return a.Raw, nil
	}
	all, constant, computed := make([]byte, a.Element.Size()), false, 0
	for _, v := range a.Scalars {
		if v.Lanes == nil {
			b, err := array.ScalarBytes(v.Type, v.Value)
			w.fail(err)
			copy(all[v.Offset:], b)
			constant = true
		}
		for i, e := range v.Lanes {
			text, kind, err := e.Export(w.language, w.names)
			if err == nil && kind == expression.String {
				err = fmt.Errorf("%s cannot be exported to %s: it is %s, not a number", e, w.language, kind)
			}
			if err != nil {
				w.fail(fmt.Errorf("argument %s: %w", a.Name, err))
			}
			if kind == expression.Bool && w.language == expression.Go {
				text = w.call("truth", text)
			}
			size := v.Type.Scalar().Size()
			computed += size
			stored = append(stored, storedValue{v.Offset + i*size, typeCodes[v.Type.Scalar()], text, kind == expression.Float})
		}
	}
	if constant || computed < len(all) {
		fixed = all
	}
	return fixed, stored
}

// typeCodes are the types of values in [expression.Runtime], which are those of Python's struct.
var typeCodes = map[array.Type]byte{
	array.Int8: 'b', array.Int16: 'h', array.Int32: 'i', array.Int64: 'q', array.Uint8: 'B', array.Uint16: 'H', array.Uint32: 'I', array.Uint64: 'Q',
	array.Float16: 'e', array.Float32: 'f', array.Float64: 'd',
}

// bytes is a text of the language with the bytes.
func (w *launchWriter) bytes(all []byte) string {
	var b strings.Builder
	if w.language == expression.Python {
		b.WriteByte('b')
	}
	b.WriteByte('"')
	for _, c := range all {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String() + `"`
}

// literal is a text of the language.
func (w *launchWriter) literal(text string) string {
	literal, err := expression.Literal(w.language, text)
	w.fail(err)
	return literal
}
