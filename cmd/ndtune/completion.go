package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
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
