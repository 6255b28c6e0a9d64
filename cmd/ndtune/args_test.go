package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
)

func TestFlagsFirst(t *testing.T) {
	for _, test := range []struct{ given, want string }{
		{"", ""},
		{"tune", "tune"},
		{"tune a.yaml", "tune -- a.yaml"},
		{"tune a.yaml -v", "tune -v -- a.yaml"},
		{"tune -v a.yaml", "tune -v -- a.yaml"},
		{"tune a.yaml -p x=1,2 -q", "tune -p x=1,2 -q -- a.yaml"},
		{"tune -p=x=1 a.yaml --set=n=5", "tune -p=x=1 --set=n=5 -- a.yaml"},
		{"tune a.yaml --set n=5 -o r.json", "tune --set n=5 -o r.json -- a.yaml"},
		{"tune a.yaml --parameter x=-1", "tune --parameter x=-1 -- a.yaml"},
		{"tune a.yaml --set -5", "tune --set -5 -- a.yaml"},
		{"tune -p x=1 a.yaml --parameter y=2 -p=z=3", "tune -p x=1 -p y=2 -p=z=3 -- a.yaml"},
		{"tune --output=a.json -o b.json a.yaml", "tune --output=a.json --output b.json -- a.yaml"},
		{"tune --bogus=1 -b --bogus", "tune --bogus=1 -b --bogus"},
		{"tune -v -- -p", "tune -v -- -p"},
		{"tune a.yaml -- -v", "tune -- a.yaml -v"},
		{"tune --set -- a.yaml", "tune --set -- -- a.yaml"},
		{"tune -", "tune -- -"},
		{"tune a.yaml --log", "tune --log"}, // the parser says that the value is missing
		{"tune a.yaml -p", "tune -p"},
		{"tune a.yaml --bogus b.yaml", "tune --bogus -- a.yaml b.yaml"},
		{"tune a.yaml --bogus=1", "tune --bogus=1 -- a.yaml"},
		{"diffusion tune --nx 4 extra -q", "diffusion tune --nx 4 -q -- extra"},
		{"diffusion --nx 4 tune", "diffusion --nx -- 4 tune"},
		{"tune a.yaml --help", "tune --help"},
		{"tune a.yaml -p x=1 -h", "tune --help"},
		{"tune --help", "tune --help"},
		{"tune -- --help", "tune -- --help"},
		{"tune --log --help", "tune --log --help"},
		{"diffusion --help", "diffusion --help"},
		{"diffusion tune --help", "diffusion tune --help"},
		{"--help", "--help"},
		{"bogus --help", "-- bogus"},
		{"init a.cl -cl-std=CL3.0 -DN=4 -Iinclude -D M", "init --build-option -cl-std=CL3.0 -D N=4 -I include -D M -- a.cl"},
		{"tune a.yaml -cl-std=CL3.0", "tune -cl-std=CL3.0 -- a.yaml"},
		{"--help tune a.yaml", "tune --help"},
		{"-h diffusion tune", "diffusion tune --help"},
		{"diffusion --help tune --nx 4", "diffusion tune --help"},
		{"--help bogus tune", "-- bogus tune"},
		{"help", "-- help"},
		{"help tune", "tune --help"},
		{"h diffusion tune", "diffusion tune --help"},
		{"help bogus", "-- bogus"},
		{"--version", "--version"},
		{"-v tune", "-v -- tune"},
		{"bogus -x y", "-x -- bogus y"},
		{"tune a.yaml --de --generate-bash-completion", "tune a.yaml --de --generate-bash-completion"},
	} {
		got := flagsFirst(newApp(), append([]string{"ndtune"}, strings.Fields(test.given)...))
		if want := append([]string{"ndtune"}, strings.Fields(test.want)...); !slices.Equal(got, want) {
			t.Errorf("%q became %q, want %q", test.given, got, want)
		}
	}
	if got := flagsFirst(newApp(), nil); len(got) != 0 {
		t.Errorf("nothing became %q", got)
	}
}

// TestFlagsFirstIsIdempotent moves what was moved once more, in every command with every
// flag: nothing changes.
func TestFlagsFirstIsIdempotent(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing runs side by side")
	}
	var visit func(path []string, commands []*cli.Command)
	visit = func(path []string, commands []*cli.Command) {
		for _, c := range commands {
			here := append(slices.Clone(path), c.Name)
			for _, f := range c.Flags {
				for _, name := range f.Names() {
					once := flagsFirst(newApp(), append(slices.Clone(here), "a.yaml", flags.Dashed(name), "value", "b", "--", "-c"))
					if twice := flagsFirst(newApp(), once); !slices.Equal(once, twice) {
						t.Errorf("%q became %q", once, twice)
					}
				}
			}
			visit(here, c.Subcommands)
		}
	}
	visit([]string{"ndtune"}, newApp().Commands)
}

func TestFlagFault(t *testing.T) {
	flags := new(job.Options).Flags()
	for _, test := range []struct{ given, want string }{
		{"flag provided but not defined: -devise", `there is no flag --devise; did you mean "--device"?`},
		{"flag provided but not defined: -x", "there is no flag -x"},
		{"flag provided but not defined: -nonsense", "there is no flag --nonsense"},
		{"flag needs an argument: -log", "--log needs a value"},
		{"flag needs an argument: -o", "-o needs a value"},
		{`invalid value "5" for flag -time-limit: parse error`, "--time-limit 5: want a duration, such as 90s or 10m"},
		{`invalid value "many" for flag -max-evals: parse error`, "--max-evals many: want a whole number"},
		{`invalid value "-1" for flag -seed: parse error`, "--seed -1: want a whole number that is not negative"},
		{`invalid boolean value "x" for -v: parse error`, "-v x: want true, false or no value"},
		{"something else", "something else"},
	} {
		if got := flagFault(test.given, flags); got != test.want {
			t.Errorf("%s became %s, want %s", test.given, got, test.want)
		}
	}
}
