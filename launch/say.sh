# say.sh - how scripts speak, and how they end. Read by them; `script` is the name they go by.
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
