/* healthy.c - a profile without problems. */
#include "tests/support/healthy.h"

#include <string.h>

void healthy_create(struct healthy *h)
{
    static const struct implementation row = {.label = "ddp_bucketed", .strategy = &strategy_ddp_bucketed};
    *h = (struct healthy){
        .profile.facts = {.row = &row,
                          .label = row.label,
                          .traits = strategy_ddp_bucketed.traits[VARIANT_PLAIN],
                          .buckets = 5,
                          .ranks = 2,
                          .hosts = 1,
                          .machine_ranks = 2,
                          .threads = 2,
                          .cores_per_rank = 2,
                          .memory_bytes = 1000000},
        .options.thresholds = {.busy = 70, .data_loading = 30, .exposed = 20, .memory = 90},
        .profile.capture.collectives = {.ranks = 2, .considered = 60, .attributed = 50},
        .profile.figures = {.steps = 3, .ranks = 2},
        .profile.controls = {.rounds = 12,
                             .overlap_efficiency = {.median = 0.5, .ci_low = 0.4, .ci_high = 0.6, .n = 12},
                             .step.median = 0.1,
                             .step_after_backward.median = 0.103,
                             .saved = {.median = 0.003, .ci_low = 0.0024, .ci_high = 0.0036, .n = 12},
                             .comm_alone.median = 0.006,
                             .backward_none.median = 0.05},
    };
    h->profile.options = &h->options;
    h->profile.capture.collectives.straggler = h->straggler;
    h->profile.capture.collectives.stall = h->stall;
    h->profile.figures.rank = h->rank;
    h->profile.figures.phase[PHASES] = (struct phase_figure){.mean = 0.1, .median = 0.1, .share = 1};
    h->profile.figures.phase[PHASE_BACKWARD] = (struct phase_figure){.mean = 0.05, .share = 0.5};
    h->profile.figures.phase[PHASE_DATA_LOADING] = (struct phase_figure){.mean = 0.005, .share = 0.05};
    for (int r = 0; r < HEALTHY_RANKS; r++) {
        h->rank[r].rank = r;
        h->rank[r].mean = (struct overlap){.step = 0.1, .utilisation = 0.8, .exposed = 0.002, .exposed_tail = 1e-3};
        h->rank[r].step = 0.1;
        h->rank[r].backward = 0.05;
    }
}

void healthy_find(struct healthy *h)
{
    memset(h->profile.finding, 0x55, sizeof h->profile.finding);
    findings_create(&h->profile);
}
