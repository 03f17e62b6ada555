"""The script of each shell: it asks `tui-eval complete`, and hands on what it says as text.

What comes is a line for each candidate: its kind, the word, what is told of it, with tabs between.
No name has control characters, so none can be taken apart otherwise. Nothing of it is ever
evaluated. zsh and fish quote what they insert; bash does not, so it gets words quoted already.
"""

from typing import Final

_BASH: Final = r"""# tui-eval completion for bash 4.4 and newer
_tui_eval_completion() {
    local kind word told
    COMPREPLY=()
    while IFS=$'\t' read -r kind word told; do
        case $kind in
            file) compopt -o default ;;
            dir) compopt -o dirnames ;;
            plain)
                COMPREPLY+=("$word")
                if [[ $word == */ ]]; then compopt -o nospace; fi
                ;;
        esac
    done < <("$1" complete bash -- "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
}
complete -o nosort -F _tui_eval_completion tui-eval
"""

_ZSH: Final = r"""#compdef tui-eval
# tui-eval completion for zsh
_tui_eval_completion() {
    local line
    local -a parts before lines folders folders_told plain plain_told
    before=("${(@Q)words[2,CURRENT-1]}")
    lines=("${(@f)$("${(Q)words[1]}" complete zsh -- "${before[@]}" "${(Q)PREFIX}" 2>/dev/null)}")
    for line in "${lines[@]}"; do
        parts=("${(@ps:\t:)line}")
        case ${parts[1]} in
            file) _files ;;
            dir) _files -/ ;;
            plain)
                if [[ ${parts[2]} == */ ]]; then
                    folders+=("${parts[2]}")
                    folders_told+=("${parts[2]}")
                else
                    plain+=("${parts[2]}")
                    plain_told+=("${parts[2]}${parts[3]:+  -- ${parts[3]}}")
                fi
                ;;
        esac
    done
    (( $#folders )) && compadd -V folders -S '' -d folders_told -a folders
    (( $#plain )) && compadd -V plain -l -d plain_told -a plain
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _tui_eval_completion "$@"
else
    compdef _tui_eval_completion tui-eval
fi
"""

_FISH: Final = r"""# tui-eval completion for fish
function __tui_eval_completion
    set -l before (commandline -opc)
    set -l current (commandline -ot)
    if test (count $current) -eq 0
        set current ""
    end
    for line in ($before[1] complete fish -- $before[2..-1] $current[-1] 2>/dev/null)
        set -l parts (string split -m 2 \t -- $line)
        switch $parts[1]
            case file
                __fish_complete_path $current[-1]
            case dir
                __fish_complete_directories $current[-1]
            case plain
                printf '%s\t%s\n' $parts[2] $parts[3]
        end
    end
end
complete -c tui-eval -f -k -a '(__tui_eval_completion)'
"""

SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""By the shell's name."""
