/* results.c - fuzzes `compare` and `report`: any result directories are accepted, or refused with a message. An input
 * is a series of files, each after a line such as "== a/run.json". The candidate is directory b, or, without b, a. */
#include "results/results.h"
#include "compare/compare.h"
#include "compare/outcome.h"
#include "kernels/error.h"
#include "report/report.h"
#include "tests/fuzz/support/support.h"

#include <string.h>
#include <sys/stat.h>

static const char *const names[] = {
    "a/run.json",        "a/summary.json",    "a/rank_0_metrics.jsonl",         "a/rank_1_metrics.jsonl",
    "a/cpu_monitor.csv", "a/gpu_monitor.csv", "ddp_bucketed_rank_0_trace.json", "ddp_bucketed_rank_1_trace.json",
    "b/run.json",        "b/summary.json",
};
enum { NAMES = sizeof names / sizeof *names, OF_B = NAMES - 2 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_begin();
    if (mkdir("a", 0700) || mkdir("b", 0700))
        FATAL("cannot make directories in FUZZ_SCRATCH");
    return 0;
}

/* Returns the index in `names` of the file whose line "== NAME" begins at `at`; -1 if no such line begins there. */
static int name_at(const uint8_t *at, const uint8_t *end)
{
    for (int i = 0; i < NAMES; i++) {
        size_t n = strlen(names[i]);
        if ((size_t)(end - at) > n + 3 && !memcmp(at, "== ", 3) && !memcmp(at + 3, names[i], n) && at[3 + n] == '\n')
            return i;
    }
    return -1;
}

/* Replaces the earlier input's files by those of this input, which begin at the first line "== NAME". Returns whether
 * directory b has a file. */
static int put_files(const uint8_t *data, size_t size)
{
    static int there[NAMES];
    int put[NAMES] = {0}, name = -1;
    const uint8_t *begin = data, *end = data + size;
    for (const uint8_t *line = data; line < end;) {
        const uint8_t *feed = memchr(line, '\n', (size_t)(end - line)), *next = feed ? feed + 1 : end;
        int other = name_at(line, end);
        if (name >= 0 && (other >= 0 || next == end)) {
            fuzz_put_file(names[name], begin, (size_t)((other >= 0 ? line : end) - begin));
            put[name] = 1;
        }
        if (other >= 0) {
            name = other;
            begin = next;
        }
        line = next;
    }
    for (int i = 0; i < NAMES; i++) {
        if (there[i] && !put[i])
            fuzz_put_file(names[i], NULL, 0);
        there[i] = put[i];
    }
    return put[OF_B] || put[OF_B + 1];
}

static void run(int (*command)(int argc, char *argv[]), int argc, char *argv[])
{
    error_clear();
    (void)fuzz_was_explained();
    int status = command(argc, argv);
    if ((status == COMPARE_FAILED || status == COMPARE_USAGE) && !fuzz_was_explained())
        FATAL("%s was refused without an error message", argv[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int b = put_files(data, size);
    char *compare[] = {"compare", "a",       "--candidate", b ? "b" : "a", "--allow",
                       "all",     "--label", "x,y",         "--junit",     "-"};
    char *report[] = {"report", "x=a", "y=b", "--html", "-"};
    char *one[] = {"report", "a"};
    run(run_compare, b ? 6 : 10, compare);
    if (b)
        run(run_report, 5, report);
    else
        run(run_report, 2, one);
    error_clear();
    results_write_metrics_csv("a");
    error_clear();
    return 0;
}
