package main

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/spec"
)

// The categories of flags in help texts.
const (
	categorySpec       = "specification"
	categorySearch     = "search"
	categoryEvaluation = "evaluation"
	categoryOutput     = "output"
)

// deviceFlag chooses the device of a command. More describes further values of the flag.
func deviceFlag(more string) cli.Flag {
	return &cli.StringFlag{Name: "device", Aliases: []string{"d"}, Category: categoryEvaluation,
		Usage: "`DEVICE` to use: index, platform:device, cpu, gpu, or a part of its name" + more +
			" (default: the first GPU, else the first device)"}
}

// outputFlag names the files that a command writes.
func outputFlag(to *cli.StringSlice, usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, Destination: to, TakesFile: true, Category: categoryOutput, Usage: usage}
}

// jsonFlag chooses JSON for the output of a command.
func jsonFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON", Destination: to}
}

// selectDevice finds the device that the command line names.
func selectDevice(c *cli.Context) (device.Listed, error) {
	all, err := device.List()
	if err != nil {
		return device.Listed{}, err
	}
	return device.Select(all, c.String("device"))
}

// selectDevices finds the devices that the command line names, which share a search.
func selectDevices(c *cli.Context) ([]device.Listed, error) {
	all, err := device.List()
	if err != nil {
		return nil, err
	}
	return device.SelectAlike(all, c.String("device"))
}

// specFlags change the specification.
func specFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{
			Name: "set", Category: categorySpec,
			Usage: "give a constant another value, `NAME=VALUE`, or any key of the specification by its path, " +
				"such as spec.measure.cache=cold or spec.objective=energy; may be repeated; " +
				"tune and compare take several numbers, n=1024,2048, as sizes",
		},
		&cli.StringSliceFlag{
			Name: "parameter", Aliases: []string{"p"}, Category: categorySpec,
			Usage: "give a parameter only these values, `PARAMETER=VALUE[,VALUE…]`; may be repeated",
		},
	}
}

// tuneFlags control a search and its outputs.
func tuneFlags() []cli.Flag {
	return append(evaluationFlags(),
		deviceFlag("; several of one model share a search: gpu uses all GPUs of the first one's model, 0:0,0:1 uses two devices"),
		&cli.StringFlag{Name: "strategy", Category: categorySearch,
			Usage: "search with `STRATEGY`: " + strategyNames() + "; ndtune strategies describes them; " + strategyForms + " (default: auto)"},
		&cli.StringSliceFlag{
			Name: "start", Category: categorySearch,
			Usage: "begin with this configuration, `PARAMETER=VALUE,…` for all parameters with several values; may be repeated",
		},
		newTunePriorFlag(),
		&cli.IntFlag{
			Name: "max-evals", Category: categorySearch,
			Usage: "evaluate at most `N` configurations, failures included; those beyond the device's limits do not count",
		},
		&cli.IntFlag{
			Name: "patience", Category: categorySearch,
			Usage: "end the search after `N` evaluations that improve the best by less than 1 % (default: no end; of several sizes, " +
				"50 for all but the first)",
		},
		&cli.DurationFlag{
			Name: "time-limit", Category: categorySearch,
			Usage: "start no configuration after `DURATION`, such as 90s or 10m; those that workers hold are finished",
		},
		newRetryFlag(),
		&cli.Uint64Flag{Name: "seed", Value: 1, Category: categorySearch, Usage: "seed of the strategy's random choices"},
		&cli.StringFlag{
			Name: "log", TakesFile: true, Category: categoryOutput,
			Usage: "keep the run log in `FILE` (of several sizes, in FILE.SIZE.jsonl), and continue the run that it holds (default: a " +
				"new file in the user's state folder)",
		},
		outputFlag(nil, "write the results to `FILE`: .json (T4), .csv or .jsonl (run log), .gz after it; may be repeated"),
		&cli.BoolFlag{
			Name: "verbose", Aliases: []string{"v"}, Category: categoryOutput,
			Usage: "show skipped configurations and the reasons, whole build logs, the output of workers, and the use of their time",
		},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: categoryOutput, Usage: "print the best configuration only"},
		&cli.StringFlag{
			Name: "serve", Category: categoryOutput,
			Usage: "show the running search in browsers on this machine at `HOST:PORT`, such as 127.0.0.1:8080; :0 is a free port",
		},
	)
}

// specOptions returns the changes that the flags make to a specification.
func specOptions(c *cli.Context) (spec.Options, error) {
	set := map[string]string{}
	for _, text := range c.StringSlice("set") {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return spec.Options{}, wrong("--set %s: want NAME=VALUE", text)
		}
		set[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	parameters, err := spec.ParseAssignments(c.StringSlice("parameter"))
	if err != nil {
		return spec.Options{}, wrong("-p: %w", err)
	}
	observe, err := observeNames(c.StringSlice("observe"))
	if err != nil {
		return spec.Options{}, err
	}
	return spec.Options{Set: set, Parameters: parameters, Observe: observe}, nil
}

// noArguments refuses arguments.
func noArguments(c *cli.Context) error {
	if c.Args().Len() > 0 {
		return wrong("%s takes no argument, but %q is given", c.Command.HelpName, c.Args().First())
	}
	return nil
}

// positiveInts returns the positive numbers in a text, with commas between them; nil if it holds
// anything else.
func positiveInts(text string) []int {
	var numbers []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return nil
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// pathArguments returns the arguments of a command that reads files, each of which is named once.
func pathArguments(c *cli.Context, what string) ([]string, error) {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return nil, wrong("name %s: %s %s (see %s --help)", what, c.Command.HelpName, c.Command.ArgsUsage, c.Command.HelpName)
	}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, wrong("%s is named twice", path)
		}
	}
	return paths, nil
}

// loadSizes is [spec.Load] for a command that takes several sizes.
func loadSizes(path string, o spec.Options) (*spec.Spec, error) {
	o.Sizes = true
	return spec.Load(path, o)
}

// loadSpec reads the specification that the command line names, with its changes, and checks its search space.
func loadSpec(c *cli.Context) (*spec.Spec, error) {
	s, err := loadFrom(c, spec.Load)
	if err != nil {
		return nil, err
	}
	return s, s.CheckSpace(c.Context)
}

// loadFrom reads the specification that the command line names, with its changes.
func loadFrom(c *cli.Context, load func(string, spec.Options) (*spec.Spec, error)) (read *spec.Spec, err error) {
	paths, err := pathArguments(c, "a specification")
	if err != nil {
		return read, err
	}
	if len(paths) > 1 {
		return read, wrong("one specification at a time, not %s", strings.Join(paths, " "))
	}
	options, err := specOptions(c)
	if err != nil {
		return read, err
	}
	if paths[0] == standardInput && slices.Contains(readsInput, c.Command.Name) {
		paths[0] = "standard input"
		switch options.Text, err = documentsOf(c).next(c.Context); {
		case err == io.EOF:
			return read, errNoSpecification
		case err != nil:
			return read, err
		}
	}
	return load(paths[0], options)
}

// checkOneObjective refuses several objectives where configurations are compared by one number. The flag is that which names one.
func checkOneObjective(o judge.Objective, by, path, flag string) error {
	if o.Several() {
		return wrong("%s compares configurations by one objective, and %s has several: %s; name one with %s", by, path, o, flag)
	}
	return nil
}
