package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/clc"
)

// A Change is what another configuration of a captured launch needs of the application.
type Change struct {
	*Launch
	Launches
	Macros [][3]string // name, old value, new value
	Global []int       // nil: that of the application, as for all that is injected
	Local  []int       // nil: that of the application
}

func (c *Change) String() string {
	var parts []string
	for _, m := range c.Macros {
		parts = append(parts, fmt.Sprintf("-D %s=%s in place of %s", m[0], m[2], m[1]))
	}
	if c.Global != nil {
		parts = append(parts, fmt.Sprintf("the global size %s in place of %s", figure.Sizes(c.Global), figure.Sizes(c.Launches.Global)))
	}
	if c.Local != nil {
		parts = append(parts, fmt.Sprintf("the local size %s in place of %s", figure.Sizes(c.Local), c.LocalText()))
	}
	return strings.Join(parts, ", ")
}

// An Injection is what the layer puts in the place of what an application does.
type Injection struct {
	Options map[string]string // of each [Launches.Build]
	Local   []int             // of all launches without a local size that it divides; nil: none
}

// Add adds a change if nothing else changes with it in the launches of the application, or a check of the application's own judges what does.
// The error says what stands against it.
func (j *Injection) Add(c *Change, all []Launches, judged bool) error {
	options, again := j.Options[c.Build()]
	if !again {
		options = c.Launch.Options
	}
	for _, m := range c.Macros {
		is := regexp.MustCompile(`(?:^|\s)-D\s*`+m[0]+`(=\S*)?(?:\s|$)`).FindAllStringSubmatchIndex(options, -1)
		if len(is) != 1 || is[0][2] < 0 || options[is[0][2]:is[0][3]] != "="+m[1] {
			return fmt.Errorf("the application's build options do not give -D %s=%s once", m[0], m[1])
		}
		options = options[:is[0][2]] + "=" + m[2] + options[is[0][3]:]
	}
	if j.Local != nil && c.Local != nil && !slices.Equal(j.Local, c.Local) {
		return fmt.Errorf("the layer sets one local size, and another kernel gets %s", figure.Sizes(j.Local))
	}
	if !slices.ContainsFunc(all, c.Is) {
		return fmt.Errorf("the application does not launch it this time with the global size %s and the build options %s",
			figure.Sizes(c.Launches.Global), c.Options)
	}
	for _, l := range all {
		build := l.Build() == c.Build()
		own := build && l.Kernel == c.Launches.Kernel
		at := fmt.Sprintf("the global size %s and the local size %s", figure.Sizes(l.Global), l.LocalText())
		switch {
		case len(c.Macros) > 0 && own && !l.Is(c.Launches) && !judged:
			return fmt.Errorf("it is also launched with %s, where nothing is verified; --check COMMAND can judge that", at)
		case len(c.Macros) > 0 && build && !own && !judged && c.reaches(l.Kernel):
			return fmt.Errorf("the kernel %s of the same program depends on these macros, too; --check COMMAND can judge that", l.Kernel)
		case c.Local == nil:
		case own && l.Local != nil:
			return fmt.Errorf("the application launches it with %s, and the layer can only set a local size where there is none", at)
		case own && !fits(c.Local, l.Global):
			return fmt.Errorf("it is also launched with %s, which the local size %s does not divide", at, figure.Sizes(c.Local))
		case !own && l.Local == nil && fits(c.Local, l.Global) && !judged:
			return fmt.Errorf("the layer would give its local size to the kernel %s, too; --check COMMAND can judge that", l.Kernel)
		}
	}
	if len(c.Macros) > 0 {
		if j.Options == nil {
			j.Options = map[string]string{}
		}
		j.Options[c.Build()] = options
	}
	if c.Local != nil {
		j.Local = c.Local
	}
	return nil
}

// reaches reports whether a kernel of the program may depend on one of the macros.
func (c *Change) reaches(kernel string) bool {
	f := clc.FindKernel(c.Source, kernel)
	return f == nil || slices.ContainsFunc(c.Macros, func(m [3]string) bool { return f.Reach[m[0]] })
}

// fits reports whether the layer gives a local size to launches with a global size and none of their own. It does not look at further
// dimensions of the local size.
func fits(local, global []int) bool {
	for i, n := range global {
		if i >= len(local) || n%local[i] != 0 {
			return false
		}
	}
	return true
}

// compilations is how often a program object can be built anew with injected options.
const compilations = 16

// MeasureWith is [Application.Measure] with an injection. It is an error if the application does not build a program whose options are
// injected.
func (a *Application) MeasureWith(j Injection) (*Profile, error) {
	with, controls := *a, append([]string{"InjectProgramSource=1"}, timing...)
	with.inject = map[string]string{}
	missing := map[string]bool{}
	for build, options := range j.Options {
		missing[build] = true
		hash, own, _ := strings.Cut(build, "_")
		for i := range compilations {
			with.inject[fmt.Sprintf("CLI_%s_%04d_%s_options.txt", hash, i, own)] = options
		}
	}
	for i, n := range j.Local {
		controls = append(controls, fmt.Sprintf("NullLocalWorkSize%c=%d", 'X'+i, n))
	}
	return with.run(func([]string) {}, func(_ *Profile, folders []string) (err error) {
		for _, folder := range folders {
			log, fault := os.ReadFile(filepath.Join(folder, logFile))
			if !errors.Is(fault, fs.ErrNotExist) { // else the process has ended at once
				err = errors.Join(err, fault)
			}
			for _, found := range injectedLine.FindAllSubmatch(log, -1) {
				delete(missing, string(found[1])+"_"+string(found[2]))
			}
		}
		for build := range missing {
			err = errors.Join(err, fmt.Errorf("the application did not build the program %s this time, so nothing was injected there", build))
		}
		return err
	}, controls...)
}

var injectedLine = regexp.MustCompile(`(?m)^Injecting options file: .*/CLI_([0-9A-F]{8})_\d+_([0-9A-F]{8})_options\.txt$`)
