package problem

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

func (p compiler) compileKernel() {
	k := p.definition.Kernel
	switch given := count(k.Source != "", k.File != "", k.Func != nil, k.Command != nil); {
	case given == 0:
		p.addf("kernel", "the source is missing: give a file, the source itself or a command")
	case given > 1:
		p.addf("kernel", "give the source once: as a file, as a text, as a command or as a function")
	case k.Command != nil:
		p.checkCommand("kernel", k.Command)
		p.commandDigest = sync.OnceValue(p.digestCommand)
	case k.File != "":
		text, err := source.ResolveIncludes(files.ReadFile, k.File, k.IncludeDirs)
		p.add("kernel.file", err)
		if err == nil && strings.TrimSpace(text) == "" {
			p.addf("kernel.file", "%s is empty", k.File)
		}
		p.source = text
	case len(k.IncludeDirs) > 0 && k.Source != "":
		text, err := resolveText(k.Name+extensions[k.Language], k.Source, "", k.IncludeDirs)
		p.add("kernel.source", err)
		p.source = text
	default:
		p.source = k.Source
	}
	p.findLanguage()
}

// extensions are those of the names of sources without a file, by what the definition says of the language.
var extensions = map[source.Language]string{"": ".cl", source.OpenCL: ".cl", source.CUDA: ".cu"}

// resolveText replaces the #include directives of a source that has no file. Names are relative to a folder,
// which is not part of the text; "": only the other folders are searched.
func resolveText(own, text, folder string, dirs []string) (string, error) {
	return source.ResolveIncludes(func(path string) ([]byte, error) {
		switch {
		case path == own:
			return []byte(text), nil
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
func (p compiler) checkCommand(field string, c *definition.Command) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		p.addf(field+".command", "the command is empty")
	}
	if c.Timeout < 0 {
		p.addf(field+".timeout", "%s is no time that a command can take", c.Timeout)
	}
}

// SourceCommand returns the command that makes sources, with its time limit, or nil.
func (p *Problem) SourceCommand() *definition.Command {
	return p.definition.Kernel.Command.WithTimeout()
}

// Generator returns the program that makes sources, for [Problem.Generate]; nil if there is none. Whoever asks for it closes it.
func (p *Problem) Generator() *process.Program {
	c := p.SourceCommand()
	if c == nil {
		return nil
	}
	return &process.Program{
		Args: c.Args, Dir: c.Dir, Timeout: c.Timeout, Wanted: `{"source": "…"}, {"spirv": "…"} in Base64, or {"error": "…"}`,
	}
}

// generated reports whether each configuration has a source that is made for it.
func (p *Problem) generated() bool {
	return p.definition.Kernel.Func != nil || p.definition.Kernel.Command != nil
}

// Generate makes the source of a variant if a function or a command makes it. [Problem.Variant] does not
// do so, since only a process that builds the variant needs the source. The generator is that of the problem.
//
// The error of a command that cannot be started is a [process.StartError], which is no fault of the
// configuration, and that of a command that takes too long is [process.ErrLate].
func (p *Problem) Generate(ctx context.Context, v *Variant, generator *process.Program) error {
	if !p.generated() {
		return nil
	}
	text, err := p.makeSource(ctx, v.Configuration, generator)
	if err != nil {
		return err
	}
	if found, err := source.LanguageOf("", text); err != nil || p.language == source.OpenCL && found != p.language {
		return cmp.Or(err, errors.New("the source that is made is in CUDA C: the specification has to say so, by kernel.language: cuda"))
	}
	text, _ = p.override(text)
	_, words, values := p.defines(v.Configuration)
	v.SetSource(text, words+values)
	return nil
}

func (p *Problem) makeSource(ctx context.Context, c space.Configuration, generator *process.Program) (source string, err error) {
	if function := p.definition.Kernel.Func; function != nil {
		if source, err = function(c); err != nil {
			err = fmt.Errorf("make the kernel's source: %w", err)
		}
		return source, err
	}
	var answer struct {
		Source string `json:"source"`
		SPIRV  []byte `json:"spirv"`
	}
	if err = generator.Ask(ctx, &answer, p.Values(c)); err == nil {
		source = cmp.Or(answer.Source, string(answer.SPIRV))
		if strings.TrimSpace(source) == "" {
			err = errors.New("it answered with an empty source")
		}
	}
	if err != nil {
		return "", fmt.Errorf("kernel.command: %s: %w", generator, err)
	}
	// A name without folders: the text does not depend on the place of the specification.
	k := p.definition.Kernel
	if source, err = resolveText(p.KernelName()+extensions[k.Language], source, within(k.Command.Dir, "."), k.IncludeDirs); err != nil {
		err = fmt.Errorf("kernel.command: %w", err)
	}
	return source, err
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

// firstSource returns the source that is made for the first configuration, "" if it cannot be made.
func (p *Problem) firstSource() string {
	first, err := p.parameters.ConfigureFirst(nil)
	if err != nil {
		return ""
	}
	generator := p.Generator()
	defer generator.Close(false)
	source, _ := p.makeSource(context.Background(), first, generator) // the search says why there is none
	return source
}
