package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
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

// flagsDocument returns a table of the flags of each command.
func flagsDocument() string {
	var b strings.Builder
	fmt.Fprintln(&b, "# The flags of all commands")
	fmt.Fprintln(&b, "\nThis page is made from the program: `go test ./cmd/ndtune -run TestFlagsDocument -update`.")
	walkCommands(newApp().Commands, "ndtune", func(path string, c *cli.Command) {
		fmt.Fprintf(&b, "\n## %s %s\n\n%s\n", path, c.ArgsUsage, upperFirst(c.Usage)+".")
		var rows []string
		for _, f := range c.Flags {
			help, usage, _ := strings.Cut(flagHelp(f), "\t")
			if help == "-h, --help" {
				continue
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s |", help, strings.ReplaceAll(usage, "|", `\|`)))
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n| flag | meaning |\n|---|---|\n%s\n", strings.Join(rows, "\n"))
		}
	})
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
