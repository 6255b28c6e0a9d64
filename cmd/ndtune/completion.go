package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
)

// completionScripts ask the program itself for the possible words, through a flag of urfave/cli. If
// there are none, the shell completes file names. For the word «--», which would end the flags, the
// scripts ask with «-». They pass the word even if it is empty, because after a flag it is the value
// of that flag.
var completionScripts = map[string]string{
	"bash": `_ndtune() {
    local word="${COMP_WORDS[COMP_CWORD]}" words=("${COMP_WORDS[@]:0:$COMP_CWORD}")
    case "$word" in
        --) words+=(-) ;;
        *) words+=("$word") ;;
    esac
    COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$word"))
}
complete -o default -F _ndtune ndtune
`,
	"zsh": `#compdef ndtune
_ndtune() {
    local -a found asked
    asked=("${words[@]:0:$((CURRENT - 1))}")
    case "${words[CURRENT]}" in
        --) asked+=(-) ;;
        *) asked+=("${words[CURRENT]}") ;;
    esac
    found=("${(@f)$("${asked[@]}" --generate-bash-completion 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then _describe 'ndtune' found; else _files; fi
}
compdef _ndtune ndtune
`,
	"powershell": `Register-ArgumentCompleter -Native -CommandName ndtune -ScriptBlock {
    param($word, $ast, $cursor)
    $asked = @($ast.CommandElements | ForEach-Object { $_.ToString() })
    if ($word -and -not $word.StartsWith('-')) { $asked = $asked[0..($asked.Count - 2)] }
    if ($word -eq '--') { $asked[-1] = '-' }
    $rest = @($asked | Select-Object -Skip 1) + '--generate-bash-completion'
    & $asked[0] @rest 2>$null | Where-Object { $_ -like "$word*" } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
`,
}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a completion script for a shell",
		ArgsUsage: "bash|zsh|fish|powershell",
		BashComplete: func(c *cli.Context) {
			fmt.Fprintln(c.App.Writer, "bash\nzsh\nfish\npowershell")
		},
		Description: `Prints a script that completes commands and flags.

   source <(ndtune completion bash)
   ndtune completion zsh > "${fpath[1]}/_ndtune"
   ndtune completion fish > ~/.config/fish/completions/ndtune.fish
   ndtune completion powershell >> $PROFILE`,
		Action: func(c *cli.Context) error {
			shell := strings.ToLower(c.Args().First())
			script, known := completionScripts[shell]
			switch {
			case c.Args().Len() != 1 || !known && shell != "fish":
				return wrong("name one shell: bash, zsh, fish or powershell")
			case shell == "fish":
				fish, err := c.App.ToFishCompletion()
				if err != nil {
					return err
				}
				script = strings.ReplaceAll(fish, "`", "") // which mark values in help texts
			}
			fmt.Fprint(c.App.Writer, script)
			return nil
		},
	}
}

// completeValues makes each command complete the values of its flags: the word before the one to complete is a flag
// that takes a value.
func completeValues(commands []*cli.Command, parent string) {
	for _, command := range commands {
		completeValues(command.Subcommands, command.Name)
		if command.BashComplete != nil {
			continue
		}
		otherwise := cli.DefaultCompleteWithFlags(command)
		command.BashComplete = func(c *cli.Context) {
			if flag := flagBefore(command.Flags, os.Args); flag != "" {
				for _, value := range valuesOf(parent, command.Name, flag) {
					fmt.Fprintln(c.App.Writer, value)
				}
				return
			}
			otherwise(c)
		}
	}
}

// flagBefore returns the name of the flag whose value is completed, or "". A command line ends with that flag, the
// beginning of the value and the flag of the completion.
func flagBefore(flags []cli.Flag, args []string) string {
	if len(args) < 3 || !strings.HasPrefix(args[len(args)-3], "-") {
		return ""
	}
	f := flagNamed(flags, strings.TrimLeft(args[len(args)-3], "-"))
	if d, ok := f.(cli.DocGenerationFlag); !ok || !d.TakesValue() {
		return ""
	}
	return f.Names()[0]
}

// valuesOf returns the values that a flag of a command can have, as far as they are known. Parent is the command above it.
func valuesOf(parent, command, flag string) (values []string) {
	switch flag {
	case "device":
		all, err := device.List()
		if err != nil {
			return nil
		}
		for _, d := range all {
			values = append(values, d.Selector(), d.Type)
		}
		slices.Sort(values)
		return slices.Compact(values)
	case "allow":
		return allowed(command)
	case "strategy", "tune":
		return search.Names()
	case "to":
		return record.Formats()
	case "kernel":
		switch parent {
		case "diffusion":
			return diffusionTutorial.choices()
		case "matmul":
			return matmul.KernelNames()
		}
	}
	return nil
}
