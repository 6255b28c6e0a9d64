package definition

import "fmt"

// Functions returns the fields of a definition that are Go functions, in the words of a specification file: «kernel.func».
func (d *Definition) Functions() []string {
	functions, _, _ := d.beyondData()
	return functions
}

// Outside returns the fields of a definition that name programs to run, and those that name files to read. A portable
// definition names no files.
func (d *Definition) Outside() (commands, files []string) {
	_, commands, files = d.beyondData()
	return commands, files
}

// beyondData returns the paths of the fields that hold more than plain data. Those of the kernel that gives the expected output begin
// with verify.spec.
func (d *Definition) beyondData() (functions, commands, files []string) {
	note := func(list *[]string, path string, given bool) {
		if given {
			*list = append(*list, path)
		}
	}
	k := &d.Kernel
	note(&functions, "kernel.func", k.Func != nil)
	note(&commands, "kernel.command", k.Command != nil)
	note(&files, "kernel.file", k.File != "" || k.CUDA != nil && k.CUDA.File != "")
	note(&files, "kernel.include_dirs", len(k.IncludeDirs) > 0 && k.Command == nil)
	for _, a := range d.Arguments {
		note(&files, "arguments."+a.Name+".fill", a.Fill.File != "")
	}
	for i, own := range d.Measure.Instruments {
		note(&commands, fmt.Sprintf("measure.instruments[%d].command", i), own.Command != nil)
	}
	v := d.Verify
	if v == nil {
		return functions, commands, files
	}
	note(&functions, "verify.reference", v.Reference != nil)
	note(&functions, "verify.check", v.Check != nil)
	note(&commands, "verify.command", v.Command != nil)
	note(&files, "verify.files", len(v.Files) > 0)
	if v.Problem != nil {
		reference := *v.Problem
		reference.Verify = nil // it is not itself verified
		f, c, n := reference.beyondData()
		for list, inner := range map[*[]string][]string{&functions: f, &commands: c, &files: n} {
			for _, path := range inner {
				*list = append(*list, "verify.spec."+path)
			}
		}
	}
	return functions, commands, files
}

// A FieldError is a fault of a field of a definition. Field is a path in the words of a specification
// file: «restrictions[2]», «arguments[0].size».
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }
