package commands

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/capture"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/scaffold"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
	"github.com/ndtune/ndtune/tune/worker"
)

type initOptions struct {
	sources                  []string
	device, kernel, capture  string
	defines, includes, build cli.StringSlice
	buildTimeout             time.Duration
	out                      string // "": beside the last source, or here for a captured launch
	force                    bool
}

func initCommand(run flags.Runner[initOptions]) *cli.Command {
	o := &initOptions{buildTimeout: worker.DefaultBuildTimeout}
	return &cli.Command{
		Name:      "init",
		Usage:     "write a first specification for a kernel",
		ArgsUsage: "KERNEL.cl... | --capture FOLDER",
		Description: `Builds the source, reads the arguments of the kernel from the built program and the macros, structs
and outputs from the source (of CUDA C, all of them), and writes a specification. Where only you know a value, such as the
size of a buffer, it says DECIDE; fill it in before tuning. The output is verified by that of the
kernel itself in its default configuration, which is the weakest reference.

   ndtune init kernel.cl                           # a file with one kernel; writes kernel.yaml
   ndtune init kernels.cl --kernel reduce          # a file with several
   ndtune init kernel.cu                           # CUDA C, also templates
   ndtune init kernel.cl -D REAL=float -I include -cl-std=CL3.0   # with the options of the program's own build
   ndtune init kernel.cl -D 'SQUARE(x)=((x) * (x))'
   ndtune init common.cl kernel.cl -o kernel.yaml  # a source in several files, in this order
   ndtune init --capture scale/launch -o scale.yaml # a launch of an application, captured by ndtune capture or cliloader`,
		Flags: []cli.Flag{
			flags.Device(&o.device, ""),
			flags.Text(&o.kernel, "kernel k", flags.CategorySpec, "`NAME` of the kernel, if the source has several"),
			flags.Text(&o.capture, "capture", flags.CategorySpec, "make the specification of the captured launch in `FOLDER`, with its data (docs/capture.md)"),
			flags.List(&o.defines, "define D", flags.CategorySpec, "define a macro, `NAME=VALUE`, NAME or NAME(x)=VALUE; may be repeated"),
			flags.List(&o.includes, "include I", flags.CategorySpec, "look for included files in `FOLDER`; may be repeated"),
			flags.List(&o.build, "build-option", flags.CategorySpec, "pass `OPTION` to the compiler; may be repeated. Those that begin with -cl- need no flag"),
			flags.Duration(&o.buildTimeout, "build-timeout", flags.CategoryEvaluation, "give up if the build takes longer than `DURATION`"),
			flags.Text(&o.out, "output o", flags.CategoryOutput,
				"write the specification to `FILE` (default: KERNEL.yaml beside the last source; with --capture, NAME.yaml of the kernel here)"),
			flags.Switch(&o.force, "force f", flags.CategoryOutput, "replace the file if it exists"),
		},
		Action: flags.Action(o, run),
	}
}

func (o *initOptions) Read(c *cli.Context) (err error) {
	if o.capture == "" {
		o.sources, err = flags.Paths(c, "the source of a kernel")
	} else if c.NArg() > 0 {
		err = ui.Wrong("--capture has the source; leave out %s", c.Args().First())
	}
	return err
}

func initSpec(ctx context.Context, t *ui.Console, o *initOptions) error {
	if o.capture != "" {
		return initCapture(ctx, t, o)
	}
	last := o.sources[len(o.sources)-1]
	out, err := o.output(strings.TrimSuffix(last, filepath.Ext(last)) + ".yaml")
	if err != nil {
		return err
	}
	u, err := scaffold.Read(scaffold.Options{
		Sources: o.sources, Defines: o.defines.Value(), Includes: o.includes.Value(), Build: o.build.Value(),
	})
	if err != nil {
		return ui.Usage(err)
	}
	listed, err := device.SelectFor(o.device, u.Language())
	if err != nil {
		return err
	}
	err = u.Build(ctx, scaffold.Compiler{Device: listed, Timeout: o.buildTimeout}, o.kernel)
	if err != nil {
		return err
	}
	proposal := scaffold.Propose(*u, out)
	if err := proposal.Write(out); err != nil {
		return err
	}
	return reportProposal(t, out, proposal)
}

// initCapture writes the specification of a captured launch.
func initCapture(ctx context.Context, t *ui.Console, o *initOptions) error {
	l, err := capture.Read(o.capture)
	if err != nil {
		return ui.Usage(err)
	}
	out, err := o.output(l.Kernel+".yaml", ".cl", ".spv")
	if err != nil {
		return err
	}
	listed, err := device.SelectFor(o.device, source.OpenCL)
	if err != nil {
		return err
	}
	proposal, err := scaffold.FromCapture(ctx, l, out, scaffold.Compiler{Device: listed, Timeout: o.buildTimeout})
	if err != nil {
		return err
	}
	return reportProposal(t, out, proposal)
}

// Output returns the file that gets the specification. Neither it nor files with its name and other extensions may be there.
func (o *initOptions) output(byDefault string, others ...string) (string, error) {
	out := cmp.Or(o.out, byDefault)
	if err := ui.CheckWritable(out); err != nil {
		return "", ui.Wrong("write to %s: %w", out, err)
	}
	for _, extension := range append(others, filepath.Ext(out)) {
		path := strings.TrimSuffix(out, filepath.Ext(out)) + extension
		if _, err := os.Stat(path); err == nil && !o.force {
			return "", ui.Wrong("%s exists already; --force replaces it, -o writes to another file", path)
		}
	}
	return out, nil
}

// reportProposal says what was written, whether it can be read, and what to type next.
func reportProposal(t *ui.Console, out string, proposal *scaffold.Proposal) error {
	w := t.Out
	kernel := proposal.Definition.Kernel.Name
	fmt.Fprintf(w, "%s: a specification of the kernel %s, with %s to check (DECIDE)\n", out, kernel, figure.Count(proposal.Decisions(), "decision"))
	if _, err := spec.Load(out, spec.Options{}); err != nil {
		fmt.Fprintf(w, "It cannot be used yet:\n%v\n", err)
		return nil
	}
	if v := proposal.Definition.Verify; v != nil && v.Files == nil {
		fmt.Fprintln(w, "The reference is the kernel itself, the weakest one: it shows only that configurations agree.")
	}
	name := process.Quoted(out)
	values := ui.Join("", func(p space.Parameter) string { return fmt.Sprintf(" -p %s=%v", p.Name, proposal.Defaults[p.Name]) },
		proposal.Definition.Parameters...)
	fmt.Fprintf(w, `
Next:
  ndtune run %s%s    # one configuration
  ndtune tune %s --max-evals 10    # a short search
  ndtune tune %s
`, name, values, name, name)
	return nil
}
