package problem

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/clc"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/launch"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

func (p *Problem) compileKernel(errs *fieldErrors) {
	k := p.definition.Kernel
	if !space.IsIdentifier(k.Name) && (k.Name != "" || !p.IsPipeline()) {
		errs.addf("kernel.name", "%q is not the name of a kernel function", k.Name)
	}
	switch given := count(k.Source != "", k.File != "", k.Func != nil, k.Command != nil); {
	case given == 0:
		errs.addf("kernel", "the source is missing: give a file, the source itself or a command")
	case given > 1:
		errs.addf("kernel", "give the source once: as a file, as a text, as a command or as a function")
	case k.Command != nil:
		checkCommand(errs, "kernel", k.Command)
		p.commandDigest = sync.OnceValue(p.digestCommand)
	case k.File != "":
		text, err := clc.ResolveIncludes(files.ReadFile, k.File, k.IncludeDirs)
		errs.add("kernel.file", err)
		if err == nil && strings.TrimSpace(text) == "" {
			errs.addf("kernel.file", "%s is empty", k.File)
		}
		p.source = text
	case len(k.IncludeDirs) > 0 && k.Source != "":
		text, err := resolveText(k.Name+".cl", k.Source, "", k.IncludeDirs)
		errs.add("kernel.source", err)
		p.source = text
	default:
		p.source = k.Source
	}
}

// resolveText replaces the #include directives of a source that has no file. Names are relative to a folder,
// which is not part of the text; "": only the other folders are searched.
func resolveText(own, source, folder string, dirs []string) (string, error) {
	return clc.ResolveIncludes(func(path string) ([]byte, error) {
		switch {
		case path == own:
			return []byte(source), nil
		case folder == "" && filepath.Dir(path) == ".":
			return nil, fs.ErrNotExist
		}
		return files.ReadFile(within(folder, path))
	}, own, dirs)
}

// within returns a path that is relative to a folder.
func within(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// checkCommand checks the command of a field such as verify.
func checkCommand(errs *fieldErrors, field string, c *task.Command) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		errs.addf(field+".command", "the command is empty")
	}
	if c.Timeout < 0 {
		errs.addf(field+".timeout", "%s is no time that a command can take", c.Timeout)
	}
}

// SourceCommand returns the command that makes sources, with its time limit, or nil.
func (p *Problem) SourceCommand() *task.Command { return p.definition.Kernel.Command.WithTimeout() }

// generated reports whether each configuration has a source that is made for it.
func (p *Problem) generated() bool {
	return p.definition.Kernel.Func != nil || p.definition.Kernel.Command != nil
}

// maxGenerated is how many bytes a command may print.
const maxGenerated = 16 << 20

// Generate makes the source of a variant if a function or a command makes it. [Problem.Variant] does not
// do so, since only a process that builds the variant needs the source.
//
// The error of a command that cannot be started is a [process.StartError], which is no fault of the
// configuration, and that of a command that takes too long is [process.ErrLate].
func (p *Problem) Generate(ctx context.Context, v *launch.Variant) error {
	if !p.generated() {
		return nil
	}
	source, err := p.makeSource(ctx, v)
	if err != nil {
		return err
	}
	source, _ = p.override(source)
	_, words, values := p.defines(v.Configuration)
	v.SetSource(source, words+values)
	return nil
}

func (p *Problem) makeSource(ctx context.Context, v *launch.Variant) (string, error) {
	if function := p.definition.Kernel.Func; function != nil {
		source, err := function(v.Configuration)
		if err != nil {
			err = fmt.Errorf("make the kernel's source: %w", err)
		}
		return source, err
	}
	source, err := p.runSourceCommand(ctx, v)
	if err != nil {
		err = fmt.Errorf("kernel.command: %w", err)
	}
	return source, err
}

// runSourceCommand runs the command that makes the source of a variant.
func (p *Problem) runSourceCommand(ctx context.Context, v *launch.Variant) (string, error) {
	input, err := json.Marshal(p.Values(v.Configuration))
	if err != nil {
		return "", fmt.Errorf("encode the configuration: %w", err)
	}
	command := p.SourceCommand()
	ended, err := process.Command{
		Args: v.Command, Dir: command.Dir, Input: append(input, '\n'), Timeout: command.Timeout, Output: maxGenerated,
	}.Run(ctx)
	if err != nil {
		return "", err
	}
	fail := func(fault string) error {
		text := strings.Join(v.Command, " ") + ": " + fault
		// The last line says why: before it, Python prints where.
		if printed := strings.TrimSpace(ended.Stderr); printed != "" {
			before, last, several := cutLast(printed, "\n")
			if text += ": " + last; several {
				text += "\n" + before
			}
		}
		return errors.New(text)
	}
	switch {
	case ended.Status != 0:
		return "", fail(fmt.Sprintf("exit status %d", ended.Status))
	case ended.More:
		return "", fail(fmt.Sprintf("the source is longer than %d MiB", maxGenerated>>20))
	case strings.TrimSpace(ended.Stdout) == "":
		return "", fail("no source on standard output")
	}
	// A name without folders: the text does not depend on the place of the specification.
	return resolveText(p.KernelName()+".cl", ended.Stdout, within(command.Dir, "."), p.definition.Kernel.IncludeDirs)
}

// cutLast returns the parts of a text before and after the last separator; without one, the text is the
// last part.
func cutLast(text, separator string) (before, last string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return "", text, false
}

// SourceName returns the name of the source in the messages of compilers.
func (p *Problem) SourceName() string {
	k := p.definition.Kernel
	return cmp.Or(k.SourceName, k.File, "source")
}

// digestCommand returns a digest of what the command of the kernel makes, as far as it is known without
// running it for all configurations: the files in its folder that its arguments name, and the source of the
// first configuration.
func (p *Problem) digestCommand() string {
	k := p.definition.Kernel
	if k.CommandDigest != "" {
		return k.CommandDigest
	}
	h := sha256.New()
	for _, argument := range k.Command.Args {
		if content, err := files.ReadFile(filepath.Join(k.Command.Dir, argument)); err == nil {
			fmt.Fprintf(h, "%q\n%x\n", argument, sha256.Sum256(content))
		}
	}
	fmt.Fprintf(h, "%q", p.firstSource())
	return hex.EncodeToString(h.Sum(nil))
}

// firstSource returns the source that is made for the first configuration. It is "" if it cannot be made,
// or if its command depends on the device.
func (p *Problem) firstSource() string {
	first, err := p.parameters.ConfigureFirst(nil)
	if err != nil || slices.ContainsFunc(p.command, func(o launch.Option) bool { return o.Reads("device") }) {
		return ""
	}
	v := &launch.Variant{Configuration: first}
	env := p.environment(hardware.Device{})
	first.Assign(env)
	if v.Command, err = p.commandIn(env); err != nil {
		return ""
	}
	source, err := p.makeSource(context.Background(), v)
	if err != nil {
		return ""
	}
	return source
}
