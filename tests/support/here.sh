# here.sh - test settings that depend on this machine and user; source it before common.sh, which selects the C locale.
# shellcheck shell=bash
# Scripts that source this file use the variables that look unused here:
# shellcheck disable=SC2034

# in_user_locale: the command prefix that runs a program in the user's locale.
user_locale=${user_locale-${LC_ALL:-}}
export user_locale
in_user_locale=(${user_locale:+/usr/bin/env "LC_ALL=$user_locale"})

# shared_mib: MiB free in /dev/shm, or this script's share of them if tests/run.sh runs several scripts at a time.
if [ -z "${shared_mib:-}" ]; then
    shared_mib=$(df --output=avail --block-size=1M /dev/shm 2>/dev/null | tail -n 1) || shared_mib=''
    [ "${shared_mib:-0}" -gt 0 ] 2>/dev/null || shared_mib=1000000 # if the size is unknown or has no limit
fi

# at_most N MIB: prints how many of N programs that each use MIB fit into shared_mib; at least 1.
at_most() {
    local fit=$((shared_mib / $2))
    echo $((fit >= $1 ? $1 : fit > 1 ? fit : 1))
}

# read_build_dir ARGUMENT...: parses a command line by option_rows (common.sh), and sets build to its only argument, a directory.
read_build_dir() {
    most_arguments=1
    read_options "$@"
    build=${arguments[0]:-}
    [ -n "$build" ] || usage_error "BUILD_DIR is missing; give the directory with the built programs and tests, such as build"
    [ -d "$build" ] || usage_error "there is no directory '$build'; build the tests first"
    build=$(realpath -e -- "$build")
}
