#!/usr/bin/env bash
# predict_check.sh - tests/long/predict_check.sh with a fake netlab.sh and a fake ddpbench: which errors make it fail, and that the same
# command continues.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

mkdir -p tree/launch tree/tests/long tree/build
cp "$root"/tests/long/predict_check.sh tree/tests/long
cp "$root"/launch/{series,common}.sh tree/launch
cat >tree/launch/corpus.sh <<'END'
#!/bin/bash
touch "$1"
END
cat >tree/launch/netlab.sh <<'END'
#!/bin/bash
cd "$(dirname "$0")/.."
echo "$*" >>done
[ "$1" != run ] || { shift 4 && "$@"; }
END
# The fake ddpbench measures nothing; all runs have the steps in tree/summary.csv. Its predictions of steps are wrong by the percentage
# in the file `error`. The tenth prediction is wrong by three times this percentage, and outside its interval unless the file `covers`
# exists. ddp_flat is predicted to be the shortest. If the file `worse` exists, attainable steps are right after calibration.
cat >tree/build/ddpbench <<'END'
#!/bin/bash
[ "$1" = predict ] || {
    [ ! -e breaks ] || { rm breaks; echo "ddpbench: no progress" >&2; exit 1; }
    while [ "$1" != --output ]; do shift; done
    mkdir -p "$2"
    echo '{}' >"$2/summary.json"
    ln -s "$PWD/summary.csv" "$2"
    exit
}
attainable=0.8
[[ ! -e worse || " $* " != *" --calibrate "* ]] || attainable=1
echo "implementation,ranks,buckets,step,interval_low,interval_high,attainable,sum"
awk -F, -v error="$(cat error)" -v attainable=$attainable -v covers="$(ls covers 2>/dev/null)" '$3 == "step" {
    step = $6 * (1 + (NR == 2 ? -1 : NR == 10 ? 3 : 1) * error / 100)
    printf "%s,2,1,%g,%g,1,%g,%g\n", $2, step, NR == 10 && covers == "" ? step : 0, $6 * attainable, $6 * 1.4
}' summary.csv
END
chmod +x tree/launch/*.sh tree/build/ddpbench

# proof STATUS WORDS PATTERN ERROR REGRET [OPTION...]: runs the script with this error of predictions in percent, and a step of
# ddp_flat that is REGRET percent longer than the others. Checks its status and a line of its table.
proof() {
    echo "$4" >tree/error
    awk -v regret="$5" 'BEGIN {
        for (i = 1; i <= 10; i++)
            printf ",%s,step,,s,%g\n", i == 1 ? "ddp" : i == 2 ? "ddp_flat" : "ddp_bucketed:0." i - 1, i == 2 ? 0.1 * (1 + regret / 100) : 0.1
    }' >tree/summary.csv
    try tree/tests/long/predict_check.sh --links 100mbit,50mbit/1ms --ranks 2,3 --output out "${@:6}"
    cat printed >>said
    check "$1" "$2" "$3"
}
proof 0 "small errors pass the check" '^same link +36 +2[.]44 +20[.]00 +40[.]00 +88[.]9 +4 +88[.]9 +1[.]00$' 2 1
is "each step is predicted with and without --calibrate" "$(grep -c calibrated, out/predictions.csv) $(grep -vc calibrated, out/predictions.csv)" "96 97"
is "steps on the other link are predicted in both directions, and more ranks from the fewest ranks" \
    "$(cut -d, -f1-3 out/predictions.csv | sed 1d | sort | uniq -c | tr -s ' ' | grep -vE 'same|calibrated' | paste -sd ';')" \
    " 10 more ranks,100mbit/2,100mbit/3; 10 more ranks,50mbit-1ms/2,50mbit-1ms/3; 10 other link,100mbit/2,50mbit-1ms/2; 10 other link,100mbit/3,50mbit-1ms/3; 10 other link,50mbit-1ms/2,100mbit/2; 10 other link,50mbit-1ms/3,100mbit/3"
is "each link is up once for each number of ranks" "$(grep -c '^up --nodes [23] --rate ' tree/done) $(grep -c 'rate 50mbit --delay 1ms' tree/done) $(tail -n 1 tree/done)" "4 2 down"
: >tree/done
proof 0 "the same command continues" '^other link +40 ' 2 1
is "a complete series measures nothing" "$(grep -c run tree/done || true)" 0
proof 1 "the check fails if an error is too large" '^same link +36 +4[.]89 ' 4 1
proof 1 "the check fails if the predicted choice is wrong" '^more ranks +20 .* 3[.]00$' 2 3
is "the row of --learn is predicted on other links only" "$(grep -c '^same link.*,ddp_bucketed:0.5,' out/predictions.csv || true) $(grep -c '^other link,.*,ddp_bucketed:0.5,' out/predictions.csv || true)" "0 4"
: >tree/covers
proof 1 "the check fails if the intervals contain all steps" '^all +192 +100[.]0$' 2 1
rm tree/covers
: >tree/worse
proof 1 "it fails unless calibrated predictions are better than attainable steps" '^other link calibrated +40 +2[.]40 +0[.]00 ' 2 1
rm tree/worse
proof 2 "a series with other settings is refused" '--rounds: earlier starts in .* had "12"' 2 1 --rounds 7
proof 2 "an invalid link is refused" "^predict_check.sh: --links 'fast': expected links such as 100mbit or 100mbit/1ms" 2 1 --links fast
proof 2 "an invalid bucket size is refused" "^predict_check.sh: --sizes 'x': expected sizes in MiB" 2 1 --sizes 1,x
rm -rf out
proof 0 "bucket sizes can be chosen" '^same link +36 ' 2 1 --sizes 0.5,1
rm -rf out
: >tree/breaks
proof 0 "a run that fails is repeated" 'failed, try 1 of 2: ddpbench: no progress' 2 1
exit "$failed"
