/* blocks.c - reads the steps of a run, timed in blocks or captured one by one, from the metrics of its ranks. */
#include "report/runs.h"

#include "base/json.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t run_each_line(const struct report_run *run, size_t most,
                     int (*take)(void *context, size_t rank, const cJSON *line), void *context)
{
    char path[FILES_PATH + 64], why[FILES_WHY], *text = NULL;
    size_t room = 0, rank = 0;
    FILE *file;
    for (; rank < run->ranks && rank < most; rank++, fclose(file)) {
        snprintf(path, sizeof path, "%s/rank_%zu_metrics.jsonl", run->saved.directory, rank);
        if (!(file = files_open(path, FILES_MOST_BYTES, why)))
            break;
        for (int more = 1; more && files_read_line(&text, &room, file) > 0;) {
            cJSON *line = json_object(text);
            more = take(context, rank, line);
            cJSON_Delete(line);
        }
    }
    free(text);
    return rank;
}

struct reading {
    struct report_run *run;
    size_t rank, at; /* at: index of the block of the last step of the rank */
};

/* Returns the block of a step, from that of the rank's last step on; rank 0 adds blocks. NULL: there is none. */
static struct run_block *find_block(struct reading *r, const struct run_implementation *of, int captured, double number,
                                    const cJSON *line)
{
    struct report_run *run = r->run;
    while (r->at < run->blocks && (run->block[r->at].captured != captured || run->block[r->at].number < number ||
                                   run->block[r->at].number > number))
        r->at++;
    if (r->at == run->blocks && !r->rank) {
        run->block = allocate_more(run->block, run->blocks, sizeof *run->block);
        run->block[run->blocks++] = (struct run_block){.of = of,
                                                       .captured = captured,
                                                       .number = number,
                                                       .round = json_number(line, "round"),
                                                       .global_step = json_number(line, "global_step"),
                                                       .cores = json_number(line, "other_processes_cores")};
        run->block[r->at].is_placed =
            isfinite(json_number(line, "trace_start_ms")) && strcmp(json_string(line, "epoch_kind"), "warmup") != 0;
    }
    return r->at < run->blocks ? &run->block[r->at] : NULL;
}

/* Adds a timed or captured step of a rank to its block. */
static int take_step(void *context, size_t rank, const cJSON *line)
{
    static const char *const sum_name[RUN_SUMS] = {"compute_ms", "communication_ms", "overlap_ms", "step_ms"};
    struct reading *r = context;
    const int captured = json_is_true(line, "captured");
    const struct run_implementation *of = r->run->implementation, *end = of + r->run->implementations;
    const double number = json_number(line, captured ? "profiler_step" : "block");
    r->at = rank == r->rank ? r->at : 0;
    r->rank = rank;
    while (of < end && strcmp(of->subject, json_string(line, "implementation")) != 0)
        of++;
    if (of == end || !isfinite(number) || !(captured || json_is_true(line, "timed")))
        return 1;
    struct run_block *block = find_block(r, of, captured, number, line);
    if (!block)
        return 1;
    block->steps += !rank;
    block->lines++;
    block->ms = fmax(block->ms, json_number(line, captured ? "step_ms" : "block_ms"));
    block->wait_ms[rank] += (float)fmax(0, json_number(line, "gradient_sync_ms")); /* fmax: 0 if it is missing */
    block->wait_ms[rank] += (float)fmax(0, json_number(line, "parameter_gather_ms"));
    for (int i = 0; i < RUN_SUMS; i++)
        block->sum_ms[i] += json_number(line, sum_name[i]);
    return 1;
}

void run_read_blocks(struct report_run *run)
{
    struct reading reading = {.run = run};
    run->ranks_read = run_each_line(run, RUN_RANKS, take_step, &reading);
    for (size_t i = run->blocks; i-- > 0;) {
        run->block[i].ms /= (double)run->block[i].steps;
        if (!isfinite(run->block[i].cores) && i + 1 < run->blocks) /* measured over a window that ended later */
            run->block[i].cores = run->block[i + 1].cores;
    }
}

size_t run_blocks(const struct run_block **found, const struct report_run *run, const char *subject)
{
    size_t n = 0;
    for (const struct run_block *b = run->block; b < run->block + run->blocks; b++)
        if (b->captured != run_compares(run) && !strcmp(b->of->subject, subject))
            found[n++] = b;
    return n;
}
