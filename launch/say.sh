# say.sh - how scripts speak, how they end, and what the program says of options. Read by them; `script` is the name they
# go by.
# shellcheck shell=bash

script=$(realpath "$0")
script=${script##*/}

say() { echo "$script: $*" >&2; }

# die WORDS: for what is missing, or does not work.
die() {
    say "$@"
    exit 1
}

# refuse WORDS: for a command line, or a configuration, that makes no sense.
refuse() {
    say "$@"
    exit 2
}

# refusal_of RANKS DEVICE COMMAND OPTION...: prints why $program refuses these options, if it does. COMMAND: one of its
# commands, or ''. It is asked before anything runs, also where ranks will have a device that this machine has not.
refusal_of() {
    local words status=0
    # shellcheck disable=SC2154 # which the scripts set
    words=$("$program" ${3:+"$3"} --device "$2" "${@:4}" --dry-run "$1" 2>&1 </dev/null) || status=$?
    [ $status = 0 ] || sed -n 's/^ddpbench: //p' <<<"$words" | grep . ||
        echo "$program --dry-run ends with status $status: $words"
}
