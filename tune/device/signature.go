package device

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
)

// A Signature is the declaration of a kernel, as the driver reports it, or as the text of a kernel in CUDA C has it.
type Signature struct {
	Name      string
	Arguments []cl.ArgInfo
	WorkGroup [3]int            // reqd_work_group_size; zeros: none
	Template  []source.Variable // the parameters of a template in CUDA C
	Symbols   []source.Variable // the variables in constant memory that it reads in CUDA C
	Unread    bool              // the arguments are not known: macros make them in CUDA C
}

// A SourceError is the log of a source that does not compile.
type SourceError struct {
	Log  string
	Hint string // what the device or the options lack, or ""
}

func (e *SourceError) Error() string { return "the source does not compile:\n" + e.Log }

// Signatures builds a source and returns the declarations of its kernels, in the driver's order. The error of a
// source that does not compile is a [SourceError].
func Signatures(d *cl.Device, text, options string) ([]Signature, error) {
	context, err := cl.NewContext(d)
	if err != nil {
		return nil, err
	}
	defer context.Release()
	program, err := context.NewProgram(text)
	if err != nil {
		return nil, err
	}
	defer program.Release()
	var failed *cl.BuildError
	if err := program.Build(argumentInfoOption + " " + options); errors.As(err, &failed) {
		info, err := d.Info()
		if err != nil {
			return nil, err
		}
		log := cmp.Or(readable(failed.Log, text, "source"), failed.Error())
		if errors.Is(failed, cl.CompilerNotAvailable) {
			return nil, errors.New(log)
		}
		return nil, &SourceError{log, featureHint(log, options, info)}
	} else if err != nil {
		return nil, err
	}
	if language, err := source.LanguageOf("", text); language == source.CUDA || err != nil {
		return CUDASignatures(text), err // NVRTC tells neither types nor templates
	}
	names, err := program.KernelNames()
	if err != nil {
		return nil, err
	}
	var all []Signature
	for _, name := range names {
		s, err := signature(program, name, d)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func signature(p *cl.Program, name string, d *cl.Device) (Signature, error) {
	s := Signature{Name: name}
	k, err := p.NewKernel(name)
	if err != nil {
		return s, err
	}
	defer k.Release()
	n, err := k.NumArgs()
	if err != nil {
		return s, err
	}
	for i := range n {
		a, err := k.ArgInfo(i)
		if errors.Is(err, cl.KernelArgInfoNotAvailable) {
			return s, fmt.Errorf("the driver of %s does not describe the arguments of kernels", d)
		} else if err != nil {
			return s, err
		}
		s.Arguments = append(s.Arguments, a)
	}
	group, err := k.WorkGroupInfo()
	s.WorkGroup = group.CompileSize
	return s, err
}

// CUDASignatures returns the declarations of the kernels of a source in CUDA C. Dynamic shared memory is the last argument.
func CUDASignatures(text string) (all []Signature) {
	for _, k := range source.Kernels(source.Active(text, nil)) {
		all = append(all, Signature{
			Name: k.Name, Arguments: argumentInfos(k, len(k.Arguments)+1), Template: k.Template, Symbols: k.Symbols, Unread: k.Arguments == nil,
		})
	}
	return all
}

// argumentInfos returns the descriptions of the arguments of a kernel in CUDA C, of which there are at most n: dynamic shared memory is the
// last one.
func argumentInfos(k source.Kernel, n int) []cl.ArgInfo {
	infos := each.Of(k.Arguments, argumentInfo)
	if len(infos) == n-1 && len(k.Shared) > 0 {
		info := argumentInfo(k.Shared[0])
		info.Address = cl.AddressLocal
		infos = append(infos, info)
	}
	return infos
}

func argumentInfo(v source.Variable) cl.ArgInfo {
	info := cl.ArgInfo{Name: v.Name, Type: cmp.Or(source.OpenCLType(v.Type), v.Type), Access: cl.AccessNone, Address: cl.AddressPrivate}
	if pointers := v.Pointers + len(v.Counts); pointers > 0 {
		info.Type, info.Address = info.Type+strings.Repeat("*", pointers), cl.AddressGlobal
		if v.Const {
			info.Qualifier = cl.TypeConst
		}
	}
	return info
}

// argInfos returns what the driver, or else the source in CUDA C, tells of the arguments of a kernel; of what nobody tells, nothing.
func (k bound) argInfos(v *problem.Variant) []cl.ArgInfo {
	infos := make([]cl.ArgInfo, len(k.launch.Arguments))
	n, _ := k.NumArgs()
	text := declared(v.Source, k.launch.Kernel, n)
	for i := range min(n, len(infos)) {
		if told, err := k.ArgInfo(i); err == nil {
			infos[i] = told
		} else if text != nil {
			infos[i] = text[i]
		}
	}
	return infos
}

// declared returns what a source in CUDA C tells of the arguments of a kernel, of which there are n: nil if it does not tell them for sure, as
// where conditions leave two kernels. A type that is not known, such as a parameter of a template, is "", and may be a pointer.
func declared(text, kernel string, n int) []cl.ArgInfo {
	kernels := slices.DeleteFunc(source.Kernels(text), func(k source.Kernel) bool { return k.Name != source.FunctionName(kernel) })
	if len(kernels) != 1 {
		return nil
	}
	infos := argumentInfos(kernels[0], n)
	if len(infos) != n || kernels[0].Arguments == nil {
		return nil
	}
	for i, a := range kernels[0].Arguments {
		switch info := &infos[i]; {
		case source.OpenCLType(a.Type) != "" && a.Pointers < 2:
		case info.Address == cl.AddressPrivate:
			*info = cl.ArgInfo{Name: a.Name}
		default:
			info.Type = ""
		}
	}
	return infos
}
