#!/usr/bin/env bash
# tune.sh - on emulated links, as root: the setting that `ddpbench tune` finds within five minutes is at most 2 % slower
# than the best of a full sweep over tune's candidates. Prints a line for each search: the setting that it found, and how
# much slower than the best this setting is in the sweep. Prints at the end "ok - " or "not ok - " for each link; exits with
# status 1 if one is not ok. A sweep takes at least a quarter of an hour; the machine must be idle otherwise.
#   --only LINK  just one link (default: 1gbit with 2 ms of delay, and 100mbit)
#   --tries N    searches on each link (default 5)
#   --rounds N   rounds of the full sweep of each link (default 30)
#   --minutes M  --max-minutes of a search (default 5)
set -euo pipefail

only='' tries=5 rounds=30 minutes=5
options=("--only only check_choice 1gbit 100mbit" "--tries tries check_integer 1 9999" "--rounds rounds check_integer 1 9999"
    "--minutes minutes check_any")
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
! "$root/launch/netlab.sh" show >/dev/null 2>&1 || die "a lab is up already; take it down first: launch/netlab.sh down"
lab_is_ours=
trap '[ -z "$lab_is_ours" ] || "$root/launch/netlab.sh" down >&2; clean_up' EXIT
"$root/launch/corpus.sh" corpus.txt

# The model is the one of tests/long/overlap.sh. The batch is smaller, so that there are many rounds.
# measure NAME COMMAND...: runs ddpbench over the link, with results in directory NAME.
measure() {
    local name=$1
    shift
    "$root/launch/netlab.sh" run -n 2 -- "$program" "$@" --threads 1 --data corpus.txt --d-model 128 --num-layers 4 \
        --num-heads 4 --d-ff 512 --context-length 128 --batch-size 8 --steps-per-block 3 --output "$name" \
        >said 2>&1 </dev/null || die "$(cat said)"
}

# found NAME: prints the label of the setting that the search found.
found() { sed -nE 's/^\t\t"best":\t"(.*)",$/\1/p' "$1/summary.json"; }

# excess NAME LABEL: prints by how many percent a step of LABEL is longer than the shortest one, round by round of the sweep NAME.
excess() {
    awk -F, -v label="$2" '$2 == label && $3 == "step_to_shortest" { n++; over = 100 * ($6 - 1) }
        END { if (n != 1) exit 1; printf "%.1f", over }' "$1/summary.csv"
}

# try_link RATE NETLAB_OPTION...: compares searches and a sweep over a link.
try_link() {
    local link=$1 good=0 i name sizes over
    shift
    "$root/launch/netlab.sh" up --nodes 2 --rate "$link" "$@" >&2 # netlab.sh cleans up if it fails
    lab_is_ours=yes
    for ((i = 1; i <= tries; i++)); do
        measure "$link-$i" tune --seed "$i" --max-minutes "$minutes"
    done
    sizes=$(sed -nE 's/^\t+"name":\t"ddp_bucketed:(.*)",$/\1/p' "$link"-*/run.json | sort -u | paste -sd,)
    measure "$link" --bucket-size-mb "$sizes" --rounds "$rounds"
    for ((i = 1; i <= tries; i++)); do
        name=$link-$i
        over=$(excess "$link" "$(found "$name")") || die "$name: '$(found "$name")' is not in the sweep"
        echo "$name: $(found "$name"), $over % above the best of the sweep; $(texts "$name/summary.json" | grep -E '^(Use|Shortest so far) ')"
        ! awk -v over="$over" 'BEGIN { exit !(over <= 2) }' || good=$((good + 1))
    done
    "$root/launch/netlab.sh" down >&2
    lab_is_ours=
    result $((good != tries)) "$link: $good of $tries searches found a setting at most 2 % slower than the best"
}

[ "$only" = 100mbit ] || try_link 1gbit --delay 2ms
[ "$only" = 1gbit ] || try_link 100mbit
exit "$failed"
