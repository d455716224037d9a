/* step.c - measures what a training step costs beyond its matrix products, and what the harness around it costs.
 *
 * 1. A whole step of one rank alternates with its weight-matrix products alone: the same linear operations on the same
 *    device, weights and gradients, with nothing between them. Each step is compared with the products just before it.
 * 2. The same step runs on a device whose operations do nothing. This leaves the step's loop, the hand-over of data,
 *    the recording of spans and the bookkeeping of collectives, measured without and with the communication thread. */
#include "ddp/step.h"
#include "base/stats.h"
#include "ddp/comm_self.h"
#include "ddp/comm_thread.h"
#include "ddp/transformer.h"
#include "kernels/device_null.h"
#include "kernels/error.h"
#include "kernels/gpu_peak.h"
#include "selfbench/program.h"
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
     .initial = "0", .high = 1e6, .help = "sequences in a step; 0: 32 on a GPU, 1 on the CPU or with --quick"},
    {.name = "pairs", .kind = &option_count, .offset = offsetof(struct step_options, pairs), .initial = "0",
     .high = 10000, .help = "timed pairs of a step and its products; 0: 7 on the CPU, 15 on a GPU, 3 with --quick"},
};
/* clang-format on */

static void compare_step(const struct program *program, const struct step_options *o);
static void measure_harness(const char *what, int threaded);

int main(int argc, char *argv[])
{
    struct step_options o = {.pairs = 0};
    struct program program = {.name = "bench_step"};
    struct option_section model = option_section_at(model_section, &o.model);
    model.row++; /* the first row is --preset, which this program lacks */
    model.rows--;
    struct option_section own[] = {model, {.title = "Step", OPTION_ROWS(rows), .base = &o}};
    int status = program_open(&program, own, 2,
                              "Usage: bench_step [OPTION VALUE]...\n\n"
                              "What a training step costs beyond its matrix products, and the harness around it.\n",
                              argc, argv);
    if (status >= 0)
        return status;
    o.model.preset = program.quick ? PRESET_LAPTOP : PRESET_DEFAULT;
    o.model.from.files = "";
    if (workload_use_preset(&o.model, &program.table, "synthetic", program.opened.on_gpu) ||
        workload_check(&o.model, "synthetic"))
        return program_error(&program, 2);
    if (!o.batch)
        o.batch = program.opened.on_gpu && !program.quick ? 32 : 1;
    if (!o.pairs)
        o.pairs = program.quick ? 3 : program.opened.on_gpu ? 15 : 7;
    compare_step(&program, &o);
    printf("2. Harness: 12 layers on a device that does nothing, ddp_individual (a collective per tensor); a pause\n"
           "   of 100 us between steps, in which the next batch is fetched, is not counted.\n");
    measure_harness("one rank", 0);
    measure_harness("with the communication thread", 1);
    return EXIT_SUCCESS;
}

/* Writes a summary such as "median 1.5, min 1.2, max 2.0, n 15", here with decimals = 1; returns text. */
static const char *spread_words(char text[128], const double *sample, size_t n, int decimals)
{
    snprintf(text, 128, "median %.*f, min %.*f, max %.*f, n %zu", decimals, stats_median(sample, n), decimals,
             stats_quantile(sample, n, 0), decimals, stats_quantile(sample, n, 1), n);
    return text;
}

/* ---- one rank ---- */

/* Everything that a rank needs to train. */
struct one_rank {
    struct model model;
    struct data *data;
    struct timeline timeline;
    struct comm *comm;
    struct reducer reducer;
    struct trainer trainer;
};

/* A transport whose collectives complete immediately without doing anything. */
static void null_post(void *state, size_t slot, const struct collective *collective)
{
    (void)state, (void)slot, (void)collective;
}
static int null_test(void *state, size_t slot)
{
    (void)state, (void)slot;
    return 1;
}
static void null_call(void *state, const struct collective *collective)
{
    (void)state, (void)collective;
}
static void null_destroy(void *state)
{
    (void)state;
}

/* Creates a rank that trains on synthetic data with ddp_individual, the strategy with the most collectives; all weights
 * are 0. The timeline has room for `steps` steps. threaded: a communication thread completes collectives at once. */
static void one_rank_create(struct one_rank *rank, const struct device *device, const struct model_sizes *sizes,
                            int threaded, int steps)
{
    struct data_options data = {"synthetic", sizes->vocabulary, sizes->context, sizes->batch, 1, 0, 0, 1, 1, NULL};
    struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    size_t spans[TIMELINE_LANES];
    *rank = (struct one_rank){0};
    transformer_plan(&rank->model, sizes, device->compute_bytes);
    model_allocate(&rank->model, device, NULL, NULL);
    if (data_create(&rank->data, &data))
        FATAL("%s", error_text());
    step_spans(&rank->model, 1, (size_t)rank->model.tensors, 1, 0, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        spans[i] *= (size_t)steps;
    timeline_create(&rank->timeline, spans);
    struct transport transport = {.post = null_post, .test = null_test, .call = null_call, .destroy = null_destroy};
    struct comm_progress progress = {.kind = PROGRESS_SLEEP, .sleep_us = 500};
    rank->comm =
        threaded ? comm_thread_create("null", transport, device, &rank->timeline, (size_t)rank->model.tensors, progress)
                 : comm_self_create(device, &rank->timeline);
    reducer_create(&rank->reducer, &strategy_ddp_individual, VARIANT_PLAIN, &rank->model, rank->comm, NULL, 0);
    rank->trainer = (struct trainer){.device = device,
                                     .model = &rank->model,
                                     .data = rank->data,
                                     .reducer = &rank->reducer,
                                     .schedule = {0.001f, 0},
                                     .timeline = &rank->timeline,
                                     .ranks = 1,
                                     .micro_batches = 1,
                                     .max_norm = 1};
    trainer_create(&rank->trainer, &adamw, (size_t)steps, rank->model.arena);
}

static void one_rank_destroy(struct one_rank *rank)
{
    reducer_destroy(&rank->reducer);
    trainer_destroy(&rank->trainer);
    rank->comm->destroy(rank->comm);
    timeline_destroy(&rank->timeline);
    data_destroy(rank->data);
    model_destroy(&rank->model);
}

/* Returns the mean microseconds of a step in a block that begins with an empty timeline. A step this short would wait
 * for the thread that fetches data, unlike a real step. So that thread gets 100 us before each step, not timed. */
static double one_rank_block_us(struct one_rank *rank, int steps)
{
    double sum = 0;
    timeline_clear(&rank->timeline);
    for (int i = 0; i < steps; i++) {
        int64_t start = clock_now_ns();
        while (clock_now_ns() - start < 100000)
            ;
        start = clock_now_ns();
        step_run(&rank->trainer, i);
        sum += 1e-3 * (double)(clock_now_ns() - start);
    }
    return sum / steps;
}

/* ---- 1. a step against its products ---- */

enum { PRODUCTS, STEP, RATIO, CEILING, MODEL, OF_PRODUCTS, MFU, MFU_WHOLE_ATTENTION, FIGURES };

struct step_and_products {
    struct one_rank rank;
    void *x, *y, *dx; /* activations; each is large enough for every product */
    size_t rows, pairs;
    double peak;    /* published peak of the device, FLOP/s; 0: unknown */
    double *sample; /* [FIGURES, pairs] */
};

static void step_and_products_create(struct step_and_products *pairs, const struct device *device,
                                     const struct step_options *o)
{
    const struct model_sizes sizes = workload_sizes(&o->model, o->batch), *s = &sizes;
    size_t wide = s->ff > s->width ? s->ff : s->width, logits = transformer_padded_vocabulary(s);
    size_t widest = logits > 3 * wide ? logits : 3 * wide;
    one_rank_create(&pairs->rank, device, s, 0, 1);
    pairs->rank.model.source->initialize(&pairs->rank.model, 1);
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

/* Runs the products of one step with every weight matrix: for the output and for the gradients of weight and input. */
static void run_products(const struct step_and_products *pairs)
{
    const struct model *model = &pairs->rank.model;
    const struct device *d = model->device;
    const char *weight = model_read_weight(model);
    for (int i = 1; i < model->tensors; i++) {
        const struct tensor *t = &model->tensor[i];
        if (t->joined && t->rows > 1)
            d->linear_forward(pairs->y, pairs->x, weight + t->offset * model->compute_bytes, pairs->rows, t->columns,
                              tensor_matrix_rows(t));
    }
    for (int i = model->tensors - 1; i > 0; i--) {
        const struct tensor *t = &model->tensor[i];
        size_t height = tensor_matrix_rows(t);
        if (!t->joined || t->rows == 1)
            continue;
        d->linear_backward_weight(model->gradient + t->offset, pairs->y, pairs->x, pairs->rows, t->columns, height, 0);
        d->linear_backward_input(pairs->dx, pairs->y, weight + t->offset * model->compute_bytes, pairs->rows,
                                 t->columns, height, 0);
    }
}

/* Times the products, then a step. The gradient is zeroed first, so that an asynchronous device is still busy while the
 * first product is issued. pair < 0: a warm-up pair, not recorded. */
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
    if (pair < 0)
        return;
    double tokens = (double)pairs->rows, flops = 6 * (double)rank->model.matmul_parameters * tokens;
    double products_s = 1e-9 * (double)(device->stamp_ns(middle) - device->stamp_ns(begin));
    double step_s = 1e-9 * (double)(device->stamp_ns(end) - device->stamp_ns(middle));
    double ceiling = 1e-12 * flops / products_s,
           rate = 1e-12 * rank->model.source->flops(&rank->model, pairs->rows, 0) / step_s;
    double whole = rank->model.source->flops(&rank->model, pairs->rows, 1) / step_s;
    const double value[FIGURES] = {
        1e3 * products_s,          1e3 * step_s,       step_s / products_s, ceiling, rate, rate / ceiling,
        1e12 * rate / pairs->peak, whole / pairs->peak};
    for (int f = 0; f < FIGURES; f++)
        pairs->sample[(size_t)f * pairs->pairs + (size_t)pair] = value[f];
}

/* Returns the pairs->pairs values of a figure; median_of returns the median of these values. */
static const double *sample_of(const struct step_and_products *pairs, int figure)
{
    return pairs->sample + (size_t)figure * pairs->pairs;
}
static double median_of(const struct step_and_products *pairs, int figure)
{
    return stats_median(sample_of(pairs, figure), pairs->pairs);
}

/* Chooses the algorithms of the products, and prints the choice. */
static void choose_algorithms(const struct model *model)
{
    struct products_choice choice;
    struct blas_products products = model_products(model, 0);
    products_choose_algorithms(NULL, model->device, &products, &choice);
    printf("%s%s%s", *choice.words ? "   " : "", choice.words, *choice.words ? "\n" : "");
    free(products.weight);
}

static void compare_step(const struct program *program, const struct step_options *o)
{
    const struct workload *m = &o->model;
    struct step_and_products pairs;
    char words[128];
    int discarded = program->opened.on_gpu ? 3 : 1; /* at first clocks still rise and libraries choose kernels */
    step_and_products_create(&pairs, program->opened.device, o);
    pairs.peak = program->opened.on_gpu ? gpu_peak(program->opened.gpu.name, program->opened.device->precision) : 0;
    printf("1. Step against its weight-matrix products: d_model %zu, %zu layers, %zu heads, d_ff %zu, vocabulary %zu,\n"
           "   %zu x %zu tokens, on %s; %zu alternating pairs after %d that %s not counted.\n",
           m->d_model, m->num_layers, m->num_heads, m->d_ff, m->vocab_size, o->batch, m->context_length, program->on,
           o->pairs, discarded, discarded == 1 ? "is" : "are");
    choose_algorithms(&pairs.rank.model);
    for (int i = -discarded; i < (int)o->pairs; i++)
        run_pair(&pairs, i);
    printf("   products %.2f ms, step %.2f ms; step / products: %s%s\n", median_of(&pairs, PRODUCTS),
           median_of(&pairs, STEP), spread_words(words, sample_of(&pairs, RATIO), o->pairs, 3),
           program->opened.on_gpu ? "" : " (aim: at most 1.2)");
    printf("   model %.3f TFLOP/s, the products %.3f TFLOP/s; of products: %s\n", median_of(&pairs, MODEL),
           median_of(&pairs, CEILING), spread_words(words, sample_of(&pairs, OF_PRODUCTS), o->pairs, 3));
    if (pairs.peak > 0) {
        printf("   MFU, of the published %.1f TFLOP/s, attention's causal half counted: %s (aim: at least 0.4)\n",
               1e-12 * pairs.peak, spread_words(words, sample_of(&pairs, MFU), o->pairs, 3));
        printf("   MFU as PaLM and nanoGPT define it, all of attention counted: %s\n",
               spread_words(words, sample_of(&pairs, MFU_WHOLE_ATTENTION), o->pairs, 3));
    } else {
        printf("   MFU: N/A, no published peak of %s is known\n", program->on);
    }
    printf("\n");
    step_and_products_destroy(&pairs);
}

/* ---- 2. the harness ---- */

static void measure_harness(const char *what, int threaded)
{
    enum { BLOCKS = 15, STEPS = 200 };
    static const struct model_sizes small = {1, 1, 16, 4, 12, 2, 4, 1};
    struct one_rank rank;
    char words[128];
    double us[BLOCKS], spans = 0;
    one_rank_create(&rank, device_null(), &small, threaded, STEPS);
    for (int b = 0; b <= BLOCKS; b++) /* the first block is not counted: the last one overwrites it */
        us[b % BLOCKS] = one_rank_block_us(&rank, STEPS);
    for (int i = 0; i < TIMELINE_LANES; i++)
        spans += (double)rank.timeline.lane[i].n / STEPS;
    printf("   %-34s %5.0f spans a step, us: %s blocks of %d (aim: at most %.1f)\n", what, spans,
           spread_words(words, us, BLOCKS, 1), STEPS, 20 + 0.05 * spans);
    one_rank_destroy(&rank);
}
