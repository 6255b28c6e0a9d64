_ndtune() {
    local word="${COMP_WORDS[COMP_CWORD]}" words=("${COMP_WORDS[@]:0:$COMP_CWORD}")
    case "$word" in
        --) words+=(-) ;;
        *) words+=("$word") ;;
    esac
    COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$word"))
}
complete -o default -F _ndtune ndtune
