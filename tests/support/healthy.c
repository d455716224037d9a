/* healthy.c - a profile in which all is well. */
#include "tests/support/healthy.h"

#include <string.h>

void healthy_create(struct healthy *h)
{
    *h = (struct healthy){
        .job = {.size = 2, .hosts = 1, .local_size = 2, .machine_size = 2},
        .options.thresholds = {.busy = 70, .data_loading = 30, .exposed = 20, .memory = 90},
        .reducer = {.strategy = &strategy_ddp_bucketed, .plan.n = 5},
        .run = {.threads = 2, .cores_per_rank = 2, .host.memory_bytes = 1000000},
        .capture = {.n = HEALTHY_STEPS,
                    .first = HEALTHY_FIRST,
                    .collectives = {.ranks = 2, .considered = 60, .attributed = 50}},
        .figures = {.first = HEALTHY_FIRST, .steps = HEALTHY_STEPS - HEALTHY_FIRST, .ranks = 2},
        .controls = {.rounds = 12,
                     .efficiency = {.median = 0.5, .ci_low = 0.4, .ci_high = 0.6, .n = 12},
                     .step_on.median = 0.1,
                     .step_off.median = 0.103,
                     .comm_alone.median = 0.006,
                     .backward_none.median = 0.05},
    };
    h->run.job = &h->job;
    h->run.options = &h->options;
    h->run.reducer = &h->reducer;
    h->run.comm = &h->comm;
    h->capture.overlap = h->captured;
    h->capture.collectives.straggler = h->straggler;
    h->figures.rank = h->rank;
    h->figures.phase[PHASES] = (struct phase_figure){.mean = 0.1, .share = 1};
    h->figures.phase[PHASE_BACKWARD] = (struct phase_figure){.mean = 0.05, .share = 0.5};
    h->figures.phase[PHASE_DATA_LOADING] = (struct phase_figure){.mean = 0.005, .share = 0.05};
    for (int i = 0; i < HEALTHY_STEPS; i++) /* the one before those that count would tell of no progress */
        h->captured[i].exposed_tail_ns = i < HEALTHY_FIRST ? 1000000000 : 1000000;
    for (int r = 0; r < HEALTHY_RANKS; r++)
        h->rank[r].sum =
            (struct overlap){.step_ns = 100000, .compute_ns = 80000, .communication_ns = 20000, .overlap_ns = 18000};
}

void healthy_find(const struct healthy *h, size_t peak_bytes, struct findings *findings)
{
    memset(findings, 0x55, sizeof *findings);
    findings_create(findings, &h->run, &h->capture, &h->figures, &h->controls, peak_bytes);
}
