package device

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ndtune/ndtune/cl"
)

// A Signature is the declaration of a kernel, as the driver reports it.
type Signature struct {
	Name      string
	Arguments []cl.ArgInfo
	WorkGroup [3]int // reqd_work_group_size; zeros: none
}

// A SourceError is the log of a source that does not compile.
type SourceError struct {
	Log  string
	Hint string // what the device or the options lack, or ""
}

func (e *SourceError) Error() string { return "the source does not compile:\n" + e.Log }

// Signatures builds a source and returns the declarations of its kernels, in the driver's order. The error of a
// source that does not compile is a [SourceError].
func Signatures(d *cl.Device, source, options string) ([]Signature, error) {
	context, err := cl.NewContext(d)
	if err != nil {
		return nil, err
	}
	defer context.Release()
	program, err := context.NewProgram(source)
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
		log := cmp.Or(readable(failed.Log, source, "source"), failed.Error())
		return nil, &SourceError{log, featureHint(log, options, info)}
	} else if err != nil {
		return nil, err
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
