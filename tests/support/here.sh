# here.sh - what tests take from this machine and its user; to be read before common.sh, which chooses the locale of C.
# shellcheck shell=bash
# Used by the scripts:
# shellcheck disable=SC2034

# in_user_locale: begins the command of a program under test, which has the user's locale.
user_locale=${user_locale-${LC_ALL:-}}
export user_locale
in_user_locale=(${user_locale:+/usr/bin/env "LC_ALL=$user_locale"})

# shared_mib: the room in /dev/shm; of a script that tests/run.sh runs beside others, its share.
if [ -z "${shared_mib:-}" ]; then
    shared_mib=$(df --output=avail --block-size=1M /dev/shm 2>/dev/null | tail -n 1) || shared_mib=''
    [ "${shared_mib:-0}" -gt 0 ] 2>/dev/null || shared_mib=1000000 # unknown, or without a limit
fi

# at_most N MIB: prints N, or how many programs fit into shared_mib that take MIB each, if that is less; at least 1.
at_most() {
    local fit=$((shared_mib / $2))
    echo $((fit >= $1 ? $1 : fit > 1 ? fit : 1))
}

# read_build_dir ARGUMENT...: reads a command line by option_rows (common.sh), and sets build to its one argument, a directory.
read_build_dir() {
    most_arguments=1
    read_options "$@"
    build=${arguments[0]:-}
    [ -n "$build" ] || usage_error "which BUILD_DIR? It is where make has put programs and tests, such as build"
    [ -d "$build" ] || usage_error "there is no directory '$build'; build the tests first"
    build=$(realpath -e -- "$build")
}
