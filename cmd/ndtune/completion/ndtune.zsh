#compdef ndtune
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
