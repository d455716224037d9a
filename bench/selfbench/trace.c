/* trace.c - what recording a trace costs, and writing it.
 *
 * 1. A step of 12 layers on a device that does nothing, traced and untraced in turn: the difference over the number of
 *    spans is what one span costs.
 * 2. Writing a trace of 10 steps of the default model, all arguments included: its size.
 * 3. Writing traces of a quarter, a half and a whole million of events: time, and whether it grows in proportion. */
#include "trace/trace.h"
#include "base/files.h"
#include "base/stats.h"
#include "kernels/device_null.h"
#include "kernels/device_traced.h"
#include "kernels/error.h"
#include "selfbench/one_rank.h"
#include "selfbench/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void measure_recording(void);
static void measure_writing(const char *path);

int main(int argc, char *argv[])
{
    const char *directory = getenv("TMPDIR");
    char path[FILES_PATH];
    if (argc > 1) {
        fprintf(stderr, "bench_trace: unknown option '%s'; there are none (TMPDIR says where it writes)\n", argv[1]);
        return 2;
    }
    snprintf(path, sizeof path, "%.700s/bench_trace.json", directory ? directory : "/tmp");
    measure_recording();
    measure_writing(path);
    return 0;
}

/* ---- 1. recording ---- */

static void measure_recording(void)
{
    enum { BLOCKS = 15, STEPS = 200 };
    char words[128];
    double cost[BLOCKS];
    struct model_sizes sizes = {1, 1, 16, 4, 12, 2, 4, 10000};
    struct one_rank rank;
    one_rank_create(&rank, device_null(), &sizes, 0, STEPS);
    const struct device *traced = device_traced(device_null(), &rank.timeline, 1);
    size_t more = 0;
    for (int b = 0; b <= BLOCKS; b++) { /* the first is not counted: the last pair has its place */
        trainer_use(&rank.trainer, traced, &rank.reducer);
        double with = one_rank_block_us(&rank, STEPS, NULL);
        more = one_rank_spans(&rank) / STEPS;
        trainer_use(&rank.trainer, device_null(), &rank.reducer);
        double without = one_rank_block_us(&rank, STEPS, NULL);
        more -= one_rank_spans(&rank) / STEPS;
        cost[b % BLOCKS] = 1e3 * (with - without) / (double)more;
    }
    printf(
        "1. Recording: %zu spans a step more when traced; what a span costs, ns: %s pairs of blocks of %d steps (aim: "
        "at most 1000 ns).\n",
        more, spread_words(words, cost, BLOCKS, 1), STEPS);
    one_rank_destroy(&rank);
}

/* ---- 2. and 3. writing ---- */

struct written {
    struct new_file file;
    size_t events, bytes;
    double seconds;
};

static int write_to_file(void *written, const char *text, size_t n)
{
    ((struct written *)written)->bytes += n;
    return new_file_write(&((struct written *)written)->file, text, n);
}

/* Trains `steps` steps and writes their trace, with everything that a trace can hold, to a file that is then removed.
 */
static struct written write_steps(struct one_rank *rank, const char *path, int steps)
{
    struct captured_step *step = allocate((size_t)steps, sizeof *step);
    struct step_times *times = allocate((size_t)steps, sizeof *times);
    size_t *parameters = allocate((size_t)rank->reducer.plan.n, sizeof *parameters);
    struct alignment alignment = {0};
    struct collectives collectives;
    timeline_clear(&rank->timeline);
    trainer_use(&rank->trainer, device_traced(device_null(), &rank->timeline, 1), &rank->reducer);
    for (int i = 0; i < steps; i++) {
        step_run(&rank->trainer, i);
        step[i] =
            (struct captured_step){.number = i, .epoch = i, .loss = 5.125f, .grad_norm = NAN, .resident_bytes = 1};
    }
    steps_from_timeline(&rank->timeline, times, steps);
    collectives_create(&collectives, &rank->timeline, &alignment, 1);
    struct trace trace = {.name = "ddp_individual",
                          .implementation = "ddp_individual",
                          .device = "cpu",
                          .comm = "mpi",
                          .host = "host",
                          .ranks = 2,
                          .pid = 4000,
                          .thread = 4000,
                          .comm_thread = 4001,
                          .base_ns = times[0].start_ns,
                          .base_unix_ns = 1700000000000000000,
                          .timeline = &rank->timeline,
                          .alignment = &alignment,
                          .times = times,
                          .step = step,
                          .steps = steps,
                          .collectives = &collectives,
                          .parameters = parameters,
                          .shapes = 1,
                          .flops = 1,
                          .counters = 1};
    struct written written = {.events = one_rank_spans(rank)};
    struct trace_sink sink = {write_to_file, &written};
    int64_t start = clock_now_ns();
    if (new_file_open(&written.file, path, 0) || trace_write(&trace, &sink, TRACE_WHOLE) ||
        new_file_commit(&written.file))
        FATAL("cannot write %s: %s", path, error_text());
    written.seconds = 1e-9 * (double)(clock_now_ns() - start);
    remove(path);
    collectives_destroy(&collectives);
    free(step);
    free(times);
    free(parameters);
    return written;
}

static void measure_writing(const char *path)
{
    enum { RUNS = 7 };
    struct model_sizes sizes = {32, 512, 10000, 768, 12, 12, 3072, 10000};
    struct one_rank rank;
    double seconds[3][RUNS];
    char words[128];
    struct written w[3];
    one_rank_create(&rank, device_null(), &sizes, 0, 2000);
    w[0] = write_steps(&rank, path, 10);
    printf("2. Ten steps of the default model, %zu spans, with shapes, flops, memory and counters: %.2f MB (aim: at "
           "most 64 MB a rank).\n3. Writing, in turn, %d times:\n",
           w[0].events, 1e-6 * (double)w[0].bytes, RUNS);
    int steps_of_million = (int)(1000000 / (w[0].events / 10)) + 1;
    for (int run = 0; run < RUNS; run++)
        for (int part = 0; part < 3; part++) {
            w[part] = write_steps(&rank, path, steps_of_million >> (2 - part));
            seconds[part][run] = w[part].seconds;
        }
    for (int part = 0; part < 3; part++)
        printf("   %8zu spans, %6.1f MB, s: %s; %.2f us an event%s\n", w[part].events, 1e-6 * (double)w[part].bytes,
               spread_words(words, seconds[part], RUNS, 3),
               1e6 * stats_median(seconds[part], RUNS) / (double)w[part].events,
               part == 2 ? " (aim: at most 2 s, and the same for each)" : "");
    one_rank_destroy(&rank);
}
