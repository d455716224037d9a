# nights.sh - makes runs of made-up nights. Sourced by tests.
# shellcheck shell=bash

# make_runs: makes a result directory for each line "PATH TIME VERSION CONFIGURATION SUBJECT VALUE [SUBJECT VALUE]...", with
# SUBJECT's time in seconds. CONFIGURATION: NAME=NUMBER,... or -.
make_runs() {
    cat >made.lines
    awk '{ print $1 }' made.lines | xargs mkdir -p
    awk '
        {
            file = $1 "/run.json"
            printf "{\"schema_version\":4,\"program\":\"ddpbench\",\"version\":\"0.9.0 (%s)\",\"mode\":\"allreduce\"," \
                "\"time\":\"%s\",\"label\":\"\",\"argv\":[],\"configuration\":{\"x\":1", $3, $2 >file
            n = $4 == "-" ? 0 : split($4, setting, /[,=]/)
            for (i = 1; i < n; i += 2) printf ",\"%s\":%s", setting[i], setting[i + 1] >file
            printf "},\"derived\":{\"world_size\":2},\"environment\":{},\"hosts\":{},\"ranks\":[]}\n" >file
            close(file)
            file = $1 "/summary.json"
            printf "{\"schema_version\":4,\"mode\":\"allreduce\",\"label\":\"\",\"done\":1,\"planned\":1,\"of\":\"sizes\",\"figures\":[" >file
            for (i = 5; i < NF; i += 2)
                printf "%s{\"subject\":\"%s\",\"name\":\"time\",\"bytes\":1048576,\"unit\":\"s\",\"value\":%s,\"low\":null,\"high\":null," \
                    "\"n\":20,\"better\":\"lower\",\"judged\":true}", (i > 5 ? "," : ""), $i, $(i + 1) >file
            printf "]}\n" >file
            close(file)
        }' made.lines
    rm made.lines
}

# noisy_nights NIGHTS RUNS FIRST CHANGE SEED [NIGHT_SD [SIDES]]: prints lines for make_runs: nights of January 2026 and later,
# RUNS runs each of SIDES (default "candidate"), with 1 % between runs and NIGHT_SD (default 0) between nights; from night FIRST
# on, the candidates' time of `ring` is 1 + CHANGE times as long. There is a second figure, `tree`, that does not change.
noisy_nights() {
    awk -v nights="$1" -v runs="$2" -v first="$3" -v change="$4" -v seed="$5" -v sd="${6:-0}" -v sides="${7:-candidate}" '
        function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
        BEGIN {
            srand(seed)
            n = split(sides, side, " ")
            split("31 28 31 30 31 30 31 31 30 31 30 31", days, " ")
            month = day = 1
            for (t = 1; t <= nights; t++) {
                level = exp(sd * normal())
                date = sprintf("2026-%02d-%02d", month, day)
                for (i = 1; i <= runs; i++)
                    for (s = 1; s <= n; s++) {
                        slow = side[s] != "control" && t >= first ? 1 + change : 1
                        printf "%s/%s-%d/allreduce %sT%02d:%02d:%02d+0000 %s - ring %.6g tree %.6g\n", date, side[s], i, date, 1 + i / 60, \
                            i % 60, s, side[s] == "control" ? "old" : "new" t, 0.09 * level * slow * exp(0.01 * normal()), \
                            0.05 * level * exp(0.01 * normal())
                    }
                if (++day > days[month]) { day = 1; month++ }
            }
        }'
}
