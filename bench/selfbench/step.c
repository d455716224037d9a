/* step.c - how much a training step costs beyond its matrix products, and what the harness around it costs.
 *
 * 1. A whole step of one rank against its weight-matrix products alone: the same linear operations of the same device
 * on the same weights and gradients, with nothing between them. The two alternate; the ratio is taken pair by pair.
 *    The step's rate of model FLOPs is set against that of the products, and against the published peak of the GPU
 *    (MFU, model FLOPs utilization).
 * 2. The harness: the same step on a device whose operations do nothing, so that what is left is the step's loop, the
 *    hand-over of data, spans and the bookkeeping of collectives; without and with the communication thread. */
#include "base/stats.h"
#include "kernels/device_null.h"
#include "kernels/error.h"
#include "kernels/gpu_peak.h"
#include "selfbench/one_rank.h"
#include "selfbench/program.h"
#include "spans/spans.h"
#include "training/options.h"

#include <math.h>
#include <stdlib.h>

struct step_options {
    struct workload model;
    size_t batch, pairs;
};

/* clang-format off */
static const struct option rows[] = {
    {.name = "batch-size", .common = 1, .kind = &option_count, .offset = offsetof(struct step_options, batch),
     .initial = "0", .high = 1e6, .help = "sequences in a step; 0: 32 on a GPU, 1 on the CPU"},
    {.name = "pairs", .kind = &option_count, .offset = offsetof(struct step_options, pairs), .initial = "0",
     .high = 10000, .help = "of a step and its products; 0: 7 on the CPU, 15 on a GPU, 3 with --quick"},
};
/* clang-format on */

static void compare_step(const struct program *program, const struct step_options *o);
static void measure_harness(const char *what, int threaded);

int main(int argc, char *argv[])
{
    struct step_options o = {.pairs = 0};
    struct program program = {.name = "bench_step"};
    struct option_section model = workload_model_options(&o.model);
    model.row++; /* without --preset */
    model.rows--;
    struct option_section own[] = {model, {.title = "Step", OPTION_ROWS(rows), .base = &o}};
    int status =
        program_open(&program, own, 2,
                     "What a training step costs beyond its matrix products, and the harness around it.\n", argc, argv);
    if (status >= 0)
        return status;
    if (workload_check(&o.model, "synthetic"))
        return program_error(&program, 2);
    if (!o.batch)
        o.batch = program.opened.on_gpu ? 32 : 1;
    if (!o.pairs)
        o.pairs = program.quick ? 3 : program.opened.on_gpu ? 15 : 7;
    compare_step(&program, &o);
    printf("2. Harness: 12 layers on a device that does nothing, ddp_individual (a collective per tensor); a pause\n"
           "   of 100 us between steps, in which the next batch is fetched, is not counted.\n");
    measure_harness("one rank", 0);
    measure_harness("with the communication thread", 1);
    return program_close(&program);
}

/* ---- 1. a step against its products ---- */

enum { PRODUCTS, STEP, RATIO, CEILING, MODEL, OF_PRODUCTS, MFU, FIRST_PHASE, FIGURES = FIRST_PHASE + PHASES };

struct step_and_products {
    struct one_rank rank;
    void *x, *y, *dx; /* activations of the products, large enough for each */
    size_t rows, pairs;
    double peak;    /* published, FLOP/s; 0: not known */
    double *sample; /* [FIGURES, pairs] */
};

static void step_and_products_create(struct step_and_products *pairs, const struct device *device,
                                     const struct step_options *o)
{
    const struct model_sizes sizes = workload_sizes(&o->model, o->batch), *s = &sizes;
    size_t wide = s->ff > s->width ? s->ff : s->width, widest = s->vocabulary > 3 * wide ? s->vocabulary : 3 * wide;
    one_rank_create(&pairs->rank, device, s, 0, 1);
    model_initialize(&pairs->rank.model, 1);
    device->copy(pairs->rank.trainer.start, pairs->rank.model.weight, pairs->rank.model.arena);
    pairs->rows = s->batch * s->context;
    pairs->x = random_numbers(device, device->compute_bytes, pairs->rows * wide, -sqrt(3), sqrt(3));
    pairs->y = random_numbers(device, device->compute_bytes, pairs->rows * widest, -sqrt(3), sqrt(3));
    pairs->dx = device->allocate(pairs->rows * wide * device->compute_bytes);
    pairs->pairs = o->pairs;
    pairs->sample = allocate(FIGURES * o->pairs, sizeof *pairs->sample);
}

static void step_and_products_destroy(struct step_and_products *pairs)
{
    const struct device *device = pairs->rank.model.device;
    device->release(pairs->x);
    device->release(pairs->y);
    device->release(pairs->dx);
    free(pairs->sample);
    one_rank_destroy(&pairs->rank);
}

/* The products of one step with every weight matrix: output, and the gradients of weight and input. */
static void run_products(const struct step_and_products *pairs)
{
    const struct model *model = &pairs->rank.model;
    const struct device *d = model->device;
    const char *weight = model->narrow_weight ? model->narrow_weight : (void *)model->weight;
    for (int i = 1; i < model->tensors; i++) {
        const struct tensor *t = &model->tensor[i];
        if (t->joined && t->rows > 1)
            d->linear_forward(pairs->y, pairs->x, weight + t->offset * model->compute_bytes, pairs->rows, t->columns,
                              (size_t)t->joined * t->rows);
    }
    for (int i = model->tensors - 1; i > 0; i--) {
        const struct tensor *t = &model->tensor[i];
        size_t height = (size_t)t->joined * t->rows;
        if (!t->joined || t->rows == 1)
            continue;
        d->linear_backward_weight(model->gradient + t->offset, pairs->y, pairs->x, pairs->rows, t->columns, height, 0);
        d->linear_backward_input(pairs->dx, pairs->y, weight + t->offset * model->compute_bytes, pairs->rows,
                                 t->columns, height, 0);
    }
}

/* Products, then a step. The gradient is zeroed first, so that a device that runs behind the host is busy while the
 * first product is issued. pair < 0: warm-up, not recorded. */
static void run_pair(struct step_and_products *pairs, int pair)
{
    struct one_rank *rank = &pairs->rank;
    const struct device *device = rank->model.device;
    timeline_clear(&rank->timeline);
    device->stamps_begin();
    device->zero(rank->model.gradient, rank->model.arena);
    int64_t begin = device->stamp();
    run_products(pairs);
    int64_t middle = device->stamp();
    step_run(&rank->trainer, 0);
    int64_t end = device->stamp();
    device->stamps_end();
    timeline_settle(&rank->timeline, device->stamp_ns);
    if (pair < 0)
        return;
    struct step_times times;
    steps_from_timeline(&rank->timeline, &times, 1);
    double tokens = (double)pairs->rows, flops = 6 * (double)rank->model.matmul_parameters * tokens;
    double products_s = 1e-9 * (double)(device->stamp_ns(middle) - device->stamp_ns(begin));
    double step_s = 1e-9 * (double)(device->stamp_ns(end) - device->stamp_ns(middle));
    double ceiling = 1e-12 * flops / products_s, rate = 1e-12 * model_flops(&rank->model, pairs->rows) / step_s;
    const double value[FIRST_PHASE] = {
        1e3 * products_s, 1e3 * step_s, step_s / products_s, ceiling, rate, rate / ceiling, 1e12 * rate / pairs->peak};
    for (int f = 0; f < FIGURES; f++)
        pairs->sample[(size_t)f * pairs->pairs + (size_t)pair] =
            f < FIRST_PHASE ? value[f] : 1e-6 * (double)times.phase_ns[f - FIRST_PHASE];
}

static void write_figures(FILE *tsv, const struct spread *figure, size_t n, int peak_known)
{
    static const char *const name[FIRST_PHASE] =
        {"products", "step", "step_to_products", "matmul_ceiling", "model_rate", "of_products", "mfu"},
                             *const unit[FIRST_PHASE] = {"ms", "ms", "1", "TFLOP/s", "TFLOP/s", "1", "1"};
    fprintf(tsv, "figure\tunit\tmedian\tleast\tmost\tn\n");
    for (int f = 0; f < FIGURES; f++)
        if (f == MFU && !peak_known)
            fprintf(tsv, "mfu\t1\tn/a\tn/a\tn/a\t0\n");
        else
            fprintf(tsv, "%s\t%s\t%.6g\t%.6g\t%.6g\t%zu\n", f < FIRST_PHASE ? name[f] : phase_name[f - FIRST_PHASE],
                    f < FIRST_PHASE ? unit[f] : "ms", figure[f].median, figure[f].least, figure[f].most, n);
}

static void compare_step(const struct program *program, const struct step_options *o)
{
    const struct workload *m = &o->model;
    struct step_and_products pairs;
    struct spread figure[FIGURES];
    char words[128];
    int discarded = program->opened.on_gpu ? 3 : 1; /* clocks rise, libraries choose kernels */
    step_and_products_create(&pairs, program->opened.device, o);
    pairs.peak = program->opened.on_gpu ? gpu_peak(program->opened.gpu.name, program->opened.device->precision) : 0;
    printf("1. Step against its weight-matrix products: d_model %zu, %zu layers, %zu heads, d_ff %zu, vocabulary %zu,\n"
           "   %zu x %zu tokens, on %s; %zu alternating pairs after %d that %s not counted.\n",
           m->d_model, m->num_layers, m->num_heads, m->d_ff, m->vocab_size, o->batch, m->context_length, program->on,
           o->pairs, discarded, discarded == 1 ? "is" : "are");
    for (int i = -discarded; i < (int)o->pairs; i++)
        run_pair(&pairs, i);
    for (int f = 0; f < FIGURES; f++)
        figure[f] = sample_spread(pairs.sample + (size_t)f * o->pairs, o->pairs);
    printf("   products %.2f ms, step %.2f ms; step / products: %s%s\n", figure[PRODUCTS].median, figure[STEP].median,
           spread_words(words, pairs.sample + RATIO * o->pairs, o->pairs, 3),
           program->opened.on_gpu ? "" : " (aim: at most 1.2)");
    printf("   model %.3f TFLOP/s, the products %.3f TFLOP/s; of products: %s\n", figure[MODEL].median,
           figure[CEILING].median, spread_words(words, pairs.sample + OF_PRODUCTS * o->pairs, o->pairs, 3));
    if (pairs.peak > 0)
        printf("   MFU, of the published %.1f TFLOP/s: %s (aim: at least 0.4)\n", 1e-12 * pairs.peak,
               spread_words(words, pairs.sample + MFU * o->pairs, o->pairs, 3));
    else
        printf("   MFU: n/a, no published peak is known of %s\n", program->on);
    printf("   phases, ms:");
    for (int p = 0; p < PHASES; p++)
        if (p != PHASE_CLIPPING)
            printf(" %s %.2f", phase_name[p], figure[FIRST_PHASE + p].median);
    printf("\n\n");
    if (program->tsv)
        write_figures(program->tsv, figure, o->pairs, pairs.peak > 0);
    step_and_products_destroy(&pairs);
}

/* ---- 2. the harness ---- */

static void measure_harness(const char *what, int threaded)
{
    enum { BLOCKS = 15, STEPS = 200 };
    static const struct model_sizes small = {1, 1, 16, 4, 12, 2, 4, 10000};
    struct one_rank rank;
    char words[128];
    double us[BLOCKS];
    one_rank_create(&rank, device_null(), &small, threaded, STEPS);
    for (int b = 0; b <= BLOCKS; b++) /* the first is not counted: the last has its place */
        us[b % BLOCKS] = one_rank_block_us(&rank, STEPS);
    double spans = (double)one_rank_spans(&rank) / STEPS;
    printf("   %-34s %5.0f spans a step, us: %s blocks of %d (aim: at most %.1f)\n", what, spans,
           spread_words(words, us, BLOCKS, 1), STEPS, 20 + 0.05 * spans);
    one_rank_destroy(&rank);
}
