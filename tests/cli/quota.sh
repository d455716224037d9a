#!/usr/bin/env bash
# quota.sh - a CPU quota of a control group: ranks count it as their cores, and results have the quota and how it stopped
# ranks. Runs BUILD_DIR/ddpbench on two ranks in a control group of this script, which needs root and the controller cpu.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# give QUOTA: limits the control group $group to QUOTA us of CPU time in every 100 ms.
give() {
    if [ -e "$group/cpu.max" ]; then echo "$1 100000" >"$group/cpu.max"; else echo "$1" >"$group/cpu.cfs_quota_us"; fi
} 2>/dev/null

# shellcheck disable=SC2317 # called by the trap
remove_group() {
    clean_up
    [ ! -d "$group" ] || wait_until rmdir "$group" || true
}
trap remove_group EXIT
for group in /sys/fs/cgroup/{cpu/,}ddpbench-test-$$; do # version 1, version 2
    mkdir "$group" 2>/dev/null || continue
    { [ -e "$group/cpu.max" ] || [ -e "$group/cpu.cfs_quota_us" ]; } && give 30000 && (echo "$BASHPID" >"$group/cgroup.procs") 2>/dev/null && break
    rmdir "$group"
done
if [ ! -d "$group" ]; then
    echo "skip - a CPU quota: needs root and control groups with the controller cpu"
    exit 0
fi

# shellcheck disable=SC2016 # expanded by sh
try sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" "${mpirun[@]}" -n 2 "$program" --device cpu \
    --d-model 64 --num-layers 2 --num-heads 2 --d-ff 128 --context-length 64 --batch-size 4 --vocab-size 256 --rounds 6 --implementations none,ddp --output run
is "two ranks run within a quota of 0.3 CPUs" "$status" 0
is "run.json has the share of the quota as cores of rank 0" "$(sed -nE 's/^.*"(cores_per_rank|cpu_quota_per_rank)":[[:space:]]*([0-9.]+),?$/\2/p' \
    run/run.json | paste -sd ' ')" '0.15 0.15'
succeeds "a warning has the quota" grep -q 'Warning: a CPU quota .* limits rank 0 to 0[.]15 of its [0-9.]* logical CPU' <(unwrapped printed)
succeeds "a warning has the stops" grep -qE 'Warning: the CPU quota stopped .* in [1-9][0-9]* periods, for [0-9]+ ms' <(unwrapped printed)
stops=$(grep -ohE '"quota_throttled_periods": [0-9]+' run/rank_*_metrics.jsonl | sort -u | grep -vc ' 0$' || true)
succeeds "blocks have the number of periods in which the quota stopped them" test "$stops" -ge 1
# shellcheck disable=SC2016 # expanded by sh
try sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" env -u OMP_NUM_THREADS "$root/launch/run.sh" -n 1 -- sh -c 'echo "$OMP_NUM_THREADS"'
is "launch/run.sh gives a rank one thread within a quota of 0.3 CPUs" "$status $(cat printed)" "0 1"
exit "$failed"
