/* bench_step.c - how much a training step costs beyond its matrix products, and what the harness around it costs.
 *
 * 1. A whole step of one rank against its weight-matrix products alone: the same linear operations of the same device
 * on the same weights and gradients, with nothing between them. The two alternate; the ratio is taken pair by pair.
 * 2. The harness: the same step on a device whose operations do nothing, so that what is left is the step's loop, the
 *    hand-over of data, spans and the bookkeeping of collectives; without and with the communication thread.
 * 3. The same over 1,100 steps in one block: the 1,000th must record as fast as the 10th. */
#include "device_null.h"
#include "error.h"
#include "rig.h"
#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double seconds_since(int64_t start_ns)
{
    return 1e-9 * (double)(clock_now_ns() - start_ns);
}

/* ---- 1. a step against its products ---- */

/* The products of one step with every weight matrix: output, and the gradients of input and weight. x and y hold the
 * largest activation. */
static void products(const struct model *model, float *x, float *y)
{
    const struct device *d = model->device;
    size_t N = model->sizes.batch * model->sizes.context;
    for (int i = 1; i < model->tensors; i++)
        if (model->tensor[i].rows > 1)
            d->linear_forward(y, x, model->weight + model->tensor[i].offset, N, model->tensor[i].columns,
                              model->tensor[i].rows);
    for (int i = model->tensors - 1; i > 0; i--) {
        const struct tensor *t = &model->tensor[i];
        if (t->rows == 1)
            continue;
        d->linear_backward_weight(model->gradient + t->offset, y, x, N, t->columns, t->rows);
        d->linear_backward_input(x, y, model->weight + t->offset, N, t->columns, t->rows, 0);
    }
}

static void compare_step(int pairs)
{
    struct model_sizes sizes = {1, 512, 10000, 768, 12, 12, 3072, 10000};
    struct rig rig;
    rig_create(&rig, device_cpu(1), &sizes, 0, 1);
    model_initialize(&rig.model, 0);
    size_t N = sizes.batch * sizes.context, largest = N * sizes.vocabulary;
    float *x = rig.model.device->allocate(largest * sizeof *x), *y = rig.model.device->allocate(largest * sizeof *y);
    double *step = allocate((size_t)pairs, sizeof *step), *alone = allocate((size_t)pairs, sizeof *alone);
    double *phase = allocate((size_t)pairs * PHASES, sizeof *phase), *ratio = allocate((size_t)pairs, sizeof *ratio);
    double flops = 6.0 * (double)rig.model.matmul_parameters * (double)N;
    printf(
        "1. Step against its weight-matrix products: d_model 768, 12 layers, 12 heads, d_ff 3072, vocabulary 10000,\n"
        "   one sequence of 512 tokens, 1 thread, fp32; %d alternating pairs after one that is not counted.\n",
        pairs);
    for (int i = -1; i < pairs; i++) {
        for (size_t j = 0; j < N * sizes.ff; j++)
            x[j] = 1e-3f * (float)((int)(j % 13) - 6);
        int64_t start = clock_now_ns();
        products(&rig.model, x, y);
        double products_s = seconds_since(start);
        timeline_clear(&rig.timeline);
        start = clock_now_ns();
        step_run(&rig.trainer, 0);
        double step_s = seconds_since(start);
        if (i < 0)
            continue;
        alone[i] = products_s;
        step[i] = step_s;
        ratio[i] = step_s / products_s;
        const struct lane *lane = &rig.timeline.lane[LANE_HOST];
        for (size_t s = 0; s < lane->n; s++)
            for (int p = 0; p < PHASES; p++)
                if (lane->span[s].name == phase_name[p])
                    phase[p * pairs + i] = 1e-9 * (double)(lane->span[s].end_ns - lane->span[s].start_ns);
    }
    size_t n = (size_t)pairs;
    printf("   products %.0f ms (%.1f GFLOP/s), step %.0f ms; step / products: median %.3f, min %.3f, max %.3f, n %d "
           "(aim: at most 1.35)\n   phases, ms:",
           1e3 * stats_median(alone, n), 1e-9 * flops / stats_median(alone, n), 1e3 * stats_median(step, n),
           stats_median(ratio, n), stats_quantile(ratio, n, 0), stats_quantile(ratio, n, 1), pairs);
    for (int p = 0; p < PHASES; p++)
        if (p != PHASE_CLIPPING)
            printf(" %s %.1f", phase_name[p], 1e3 * stats_median(phase + p * pairs, n));
    printf("\n\n");
    rig.model.device->release(x);
    rig.model.device->release(y);
    free(step);
    free(alone);
    free(phase);
    free(ratio);
    rig_destroy(&rig);
}

/* ---- 2. and 3. the harness ---- */

static void measure_harness(const char *what, int threaded, int blocks, int steps)
{
    struct model_sizes sizes = {1, 1, 16, 4, 12, 2, 4, 10000};
    struct rig rig;
    rig_create(&rig, device_null(), &sizes, threaded, steps);
    double *us = allocate((size_t)blocks, sizeof *us), spans = 0;
    for (int b = -1; b < blocks; b++) {
        timeline_clear(&rig.timeline);
        double seconds = 0;
        for (int i = 0; i < steps; i++)
            seconds += rig_step(&rig, i);
        if (b >= 0)
            us[b] = 1e6 * seconds / steps;
        spans = (double)rig_spans(&rig) / steps;
    }
    size_t n = (size_t)blocks;
    printf(
        "   %-34s %5.0f spans a step: median %6.1f us, min %6.1f, max %6.1f, n %d blocks of %d (aim: at most %.1f)\n",
        what, spans, stats_median(us, n), stats_quantile(us, n, 0), stats_quantile(us, n, 1), blocks, steps,
        20 + 0.05 * spans);
    free(us);
    rig_destroy(&rig);
}

static void compare_late_steps(int blocks, int steps)
{
    enum { AROUND = 40 };
    struct model_sizes sizes = {1, 1, 16, 4, 12, 2, 4, 10000};
    struct rig rig;
    rig_create(&rig, device_null(), &sizes, 0, steps);
    double *us = allocate((size_t)steps, sizeof *us), *ratio = allocate((size_t)blocks, sizeof *ratio);
    for (int b = 0; b < blocks; b++) {
        timeline_clear(&rig.timeline);
        for (int i = 0; i < steps; i++)
            us[i] = 1e6 * rig_step(&rig, i);
        ratio[b] = stats_median(us + 1000, AROUND) / stats_median(us + 10, AROUND);
    }
    size_t n = (size_t)blocks;
    printf("3. Steps 1000 to %d of a block of %d against its steps 10 to %d, medians: ratio %.2f, min %.2f, max %.2f, "
           "n %d "
           "blocks (aim: 1).\n",
           1000 + AROUND, steps, 10 + AROUND, stats_median(ratio, n), stats_quantile(ratio, n, 0),
           stats_quantile(ratio, n, 1), blocks);
    free(us);
    free(ratio);
    rig_destroy(&rig);
}

int main(int argc, char *argv[])
{
    int pairs = 7;
    if (argc == 2 && !strcmp(argv[1], "--quick"))
        pairs = 3;
    else if (argc > 1) {
        fprintf(stderr, "bench_step: unknown option '%s'; known: --quick (3 pairs instead of 7)\n", argv[1]);
        return 2;
    }
    compare_step(pairs);
    printf("2. Harness: 12 layers on a device that does nothing, ddp_individual (a collective per tensor); a pause\n"
           "   of 100 us between steps, in which the next batch is fetched, is not counted.\n");
    measure_harness("one rank", 0, 15, 200);
    measure_harness("with the communication thread", 1, 15, 200);
    printf("\n");
    compare_late_steps(9, 1100);
    return 0;
}
