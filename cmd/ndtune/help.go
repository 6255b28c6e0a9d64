package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

func init() {
	cli.FlagStringer = flagHelp
}

// flagHelp is the line of a flag in a help text: its names, its value once, what it does,
// and its default where there is one to speak of.
func flagHelp(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	usage, value := d.GetUsage(), ""
	if before, rest, found := strings.Cut(usage, "`"); found {
		if name, after, closed := strings.Cut(rest, "`"); closed {
			value, usage = name, before+name+after
		}
	}
	if value == "" && d.TakesValue() {
		value = "N"
	}
	var names []string
	for _, name := range f.Names() {
		if len(name) == 1 {
			names = append([]string{"-" + name}, names...)
		} else {
			names = append(names, "--"+name)
		}
	}
	text := strings.Join(names, ", ")
	if d.TakesValue() {
		text += " " + value
		if def := d.GetDefaultText(); def != "" && def != "0" && def != "0s" && def != `""` {
			usage += fmt.Sprintf(" (default: %s)", strings.Trim(def, `"`))
		}
	}
	return text + "\t" + usage
}
