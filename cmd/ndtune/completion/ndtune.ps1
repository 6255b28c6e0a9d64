Register-ArgumentCompleter -Native -CommandName ndtune -ScriptBlock {
    param($word, $ast, $cursor)
    $asked = @($ast.CommandElements | ForEach-Object { $_.ToString() })
    if ($word -and -not $word.StartsWith('-')) { $asked = $asked[0..($asked.Count - 2)] }
    if ($word -eq '--') { $asked[-1] = '-' }
    $rest = @($asked | Select-Object -Skip 1) + '--generate-bash-completion'
    & $asked[0] @rest 2>$null | Where-Object { $_ -like "$word*" } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
