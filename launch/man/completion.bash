# shellcheck shell=bash
# What may stand where the cursor is: a command or an option, or what is known of an option's value; of a list with commas
# its last part. Where nothing is known bash offers files.
_ddpbench() {
    local at=0 command word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} words before=''
    COMPREPLY=()
    # the program may stand behind its launcher: mpirun -n 2 build/ddpbench
    while [[ $at -lt $COMP_CWORD && ${COMP_WORDS[at]##*/} != ddpbench ]]; do at=$((at + 1)); done
    if [[ $at -lt $COMP_CWORD ]]; then
        at=$((at + 1)) command=''
        [[ $at -eq $COMP_CWORD || ${COMP_WORDS[at]} == -* ]] || command=${COMP_WORDS[at]}
    else
        at=1 command=${COMP_WORDS[0]##*/}
    fi
    if [[ $word == '=' ]]; then # readline takes --device=cpu for three words
        word=''
    elif [[ $option == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    words=$(_ddpbench_values "$command:$option")
    if [[ $word == -* || $COMP_CWORD -eq $at ]]; then
        words=$(_ddpbench_options "$command")
    elif [[ $word == *,* && -n $words ]]; then
        before=${word%,*},
    fi
    # shellcheck disable=SC2207 # words without blanks; zsh has no mapfile
    COMPREPLY=($(compgen -P "$before" -W "$words" -- "${word##*,}"))
}
