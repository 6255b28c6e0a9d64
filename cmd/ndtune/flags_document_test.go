package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/internal/each"
)

var update = flag.Bool("update", false, "write docs/flags.md anew")

// TestFlagsDocument compares docs/flags.md with the flags of all commands. With -update, it writes the file.
func TestFlagsDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "flags.md")
	want := flagsDocument()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/flags.md is not what the commands have: go test ./cmd/ndtune -run TestFlagsDocument -update")
	}
}

// flagsDocument returns a table of the flags of a search, and the other flags of each command.
func flagsDocument() string {
	var b strings.Builder
	fmt.Fprintln(&b, "# The flags of all commands")
	fmt.Fprintln(&b, "\nThis page is made from the program: `go test ./cmd/ndtune -run TestFlagsDocument -update`.")
	table := func(rows []string) {
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n| flag | meaning |\n|---|---|\n%s\n", strings.Join(rows, "\n"))
		}
	}
	row := func(f cli.Flag) string {
		help, usage, _ := strings.Cut(flagHelp(f), "\t")
		return fmt.Sprintf("| `%s` | %s |", help, strings.ReplaceAll(usage, "|", `\|`))
	}
	fmt.Fprintf(&b, "\n## The flags of a search\n")
	o := &job.Options{}
	shared := each.Of(append(o.Spec.Flags(), o.Flags()...), row)
	table(shared)
	walkCommands(newApp().Commands, "ndtune", func(path string, c *cli.Command) {
		fmt.Fprintf(&b, "\n## %s %s\n\n%s\n", path, c.ArgsUsage, upperFirst(c.Usage)+".")
		var rows, own, of []string
		for _, f := range c.Flags {
			if r := row(f); slices.Contains(f.Names(), "help") {
				continue
			} else if rows = append(rows, r); slices.Contains(shared, r) {
				of = append(of, fmt.Sprintf("`%s`", flags.Dashed(f.Names()[0])))
			} else {
				own = append(own, r)
			}
		}
		missing := slices.DeleteFunc(slices.Clone(shared), func(r string) bool { return slices.Contains(rows, r) })
		switch all := "[the flags of a search](#the-flags-of-a-search)"; {
		case len(missing) == 0:
			fmt.Fprintf(&b, "\nIt has %s.\n", all)
		case len(missing) < len(of):
			fmt.Fprintf(&b, "\nIt has %s, but for %s.\n", all, strings.Join(each.Of(missing, nameInRow), ", "))
		case len(of) > 0:
			fmt.Fprintf(&b, "\nOf %s, it has %s.\n", all, strings.Join(of, ", "))
		}
		table(own)
	})
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

// nameInRow returns the long name of the flag of a row.
func nameInRow(row string) string { return "`" + regexp.MustCompile(`--[\w-]+`).FindString(row) + "`" }

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
