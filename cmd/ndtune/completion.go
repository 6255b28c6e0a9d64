package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// completionScripts ask the program itself what can follow, through the flag that
// urfave/cli answers; where nothing does, the shell completes file names. They ask for the
// flags behind «-» where the word is «--», which to the program would end the flags. The word
// goes along even when it is empty: behind a flag it is that flag's value, not another flag.
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
			if shell == "fish" && c.Args().Len() == 1 {
				script, err := c.App.ToFishCompletion()
				if err != nil {
					return err
				}
				fmt.Fprint(c.App.Writer, strings.ReplaceAll(script, "`", "")) // which mark values in help texts
				return nil
			}
			script, ok := completionScripts[shell]
			if !ok || c.Args().Len() != 1 {
				return wrong("name one shell: bash, zsh, fish or powershell")
			}
			fmt.Fprint(c.App.Writer, script)
			return nil
		},
	}
}
