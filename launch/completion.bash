# shellcheck shell=bash
# Completes command lines of ddpbench and its scripts in bash, and in zsh by bashcompinit. Reads the --help of the program or
# script, and offers commands, options, and the values of an option, also within a comma list. Otherwise offers file names.
_ddpbench() {
    local at=0 word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} before='' command help words
    COMPREPLY=()
    # the program may follow its launcher: mpirun -n 2 build/ddpbench
    while [[ $at -lt $COMP_CWORD && ${COMP_WORDS[at]##*/} != ddpbench ]]; do at=$((at + 1)); done
    [[ $at -lt $COMP_CWORD ]] || at=0
    [[ $at -lt $COMP_CWORD && ${COMP_WORDS[at]##*/} == ddpbench* ]] || return 0 # other programs are not run
    command=("${COMP_WORDS[at]/#\~/$HOME}")
    at=$((at + 1))
    if [[ $word == '=' ]]; then # readline splits --device=cpu into three words
        word=''
    elif [[ $option == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ ${command[0]##*/} == ddpbench ]]; then
        [[ $at -ge $COMP_CWORD || ${COMP_WORDS[at]} == -* ]] || command+=("${COMP_WORDS[at]}")
        help=$("${command[@]}" --help rows 2>/dev/null </dev/null | sed -E '/^Commands/,/^$/s/^  ([a-z]+) .*/command\t\1/')
    else
        help=$("${command[@]}" --help 2>/dev/null </dev/null | sed -nE 's/^  (-[a-z], )?--([a-z][a-z-]*).*/\t\2/p; s/^  ([a-z]+) .*/command\t\1/p')
    fi
    # fields of a row of --help rows: name, letter, name of the value, default, choices
    words=$(awk -F '\t' -v option="$option" '
        /^Implementations:/ { listing = 1; next }
        /^[^ ]/ { listing = 0 }
        listing && /^  [a-z]/ { sub(/^ */, ""); sub(/ .*/, ""); names = names " " $0 }
        /^\t/ && option == "--" $2 || ($3 ~ /[a-z]/ && option == "-" $3) { words = $4 == "IMPLEMENTATIONS" ? "all" : $6; all = $4 == "IMPLEMENTATIONS" }
        option == "--help" { words = "all" }
        END { gsub(/\|/, " ", words); print words (all ? names : "") }' <<<"$help")
    if [[ $word == -* || $COMP_CWORD -eq $at ]]; then
        words=$(sed -nE 's/^\t([^\t]*).*/--\1/p; s/^command\t//p' <<<"$help")
        words+=" --help$([[ ${command[0]##*/} != ddpbench ]] || echo ' --version')"
    elif [[ $word == *,* && -n $words ]]; then
        before=${word%,*},
    fi
    # shellcheck disable=SC2207 # words without blanks; zsh has no mapfile
    COMPREPLY=($(compgen -P "$before" -W "$words" -- "${word##*,}"))
}
complete -o default -F _ddpbench ddpbench ddpbench-{corpus,ncu,netlab,nightly,nsys,paper,run,slurm,sweep}
