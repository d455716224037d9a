/* options.c - the options of every command that trains, and their checks. */
#include "training/options.h"

#include "ddp/data.h"
#include "kernels/error.h"

#include <stddef.h>

#define FIELD(field)    offsetof(struct training_options, field)
#define WORKLOAD(field) offsetof(struct workload, field)

static const char *const wire_dtype_names[] = {"fp32", "bf16", NULL};
static const char *const data_digest_names[] = {"sampled", "all", NULL};
const char *const regime_name[] = {"active", "warmup", NULL};

/* clang-format off */
static const struct option model_rows[] = {
    {.name = "preset", .common = 1, .kind = &option_choice, .offset = WORKLOAD(preset), .initial = "auto",
     .choices = preset_name,
     .help = "preset for sizes of model and batch that are not given: a name from the list below, or auto ('default' "
     "on GPUs, otherwise 'laptop')"},
    {.name = "vocab-size", .also = "vocabulary vocabulary-size", .kind = &option_count, .offset = WORKLOAD(vocab_size), .initial = "0", .high = 1048576,
     .help = "tokens known to the model; 0: 256 for a file of bytes, 10000 for synthetic data, 65536 for a .bin shard"},
    {.name = "context-length", .also = "seq-len seq-length sequence-length max-seq-len block-size", .common = 1, .kind = &option_count, .offset = WORKLOAD(context_length),
     .initial = "512", .low = 1, .high = 1e6, .decides = "by --preset", .help = "tokens of a sequence"},
    {.name = "d-model", .also = "hidden-size n-embd", .common = 1, .kind = &option_count, .offset = WORKLOAD(d_model), .initial = "768", .low = 2,
     .high = 1e6, .decides = "by --preset", .help = "width of the model"},
    {.name = "num-layers", .also = "layers n-layer n-layers num-hidden-layers", .common = 1, .kind = &option_count, .offset = WORKLOAD(num_layers), .initial = "12",
     .low = 1, .high = 10000, .decides = "by --preset", .help = "transformer blocks"},
    {.name = "num-heads", .also = "n-head n-heads num-attention-heads", .kind = &option_count, .offset = WORKLOAD(num_heads), .initial = "12", .low = 1,
     .high = 1e6, .decides = "by --preset", .help = "attention heads; must divide --d-model into even parts"},
    {.name = "d-ff", .kind = &option_count, .offset = WORKLOAD(d_ff), .initial = "3072", .low = 2, .high = 1e7,
     .decides = "4 x d-model", .help = "width of the feed-forward"},
};
static const struct option strategy_rows[] = {
    {.name = "implementations", .common = 1, .kind = &option_strategies, .offset = WORKLOAD(strategies),
     .initial = "none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed",
     .value_name = "IMPLEMENTATIONS", .help = "what to compare: names from the list below, each NAME or LABEL=NAME; NAME may be NAME:SIZE, "
     "with a bucket size; all: every name but ddp_powersgd:R and ddp_local:H"},
    {.name = "bucket-size-mb", .also = "bucket-cap-mb", .common = 1, .kind = &option_buckets, .offset = WORKLOAD(bucket_sizes),
     .initial = "auto",
     .help = "buckets in MiB, such as 25 or 0.5: closed when gradients reach it, as PyTorch's bucket_cap_mb; a comma list makes a row of each. "
     "Also 1+25, 25+last0.25, first=1,last=0.25,4,25, block (a transformer block), auto (25, or a quarter of the gradient if less)"},
    {.name = "wire-dtype", .also = "grad-dtype", .kind = &option_names, .offset = WORKLOAD(wire_dtypes), .initial = "fp32",
     .choices = wire_dtype_names, .help = "type in which gradients are sent: fp32, or bf16 where a strategy can (sums in fp32, but for ddp_individual_v2); fp32,bf16: both"},
    {.name = "shard", .also = "zero-stage sharding-strategy", .kind = &option_names, .offset = WORKLOAD(shard), .initial = "optimizer",
     .choices = sharding_name, .help = "what ddp_sharded shards: optimizer (ZeRO-1), or gradients as well (ZeRO-2); a comma "
     "list makes a row of each"},
};
static const struct option batch_rows[] = {
    {.name = "batch-size", .common = 1, .kind = &option_count, .offset = FIELD(batch_size), .initial = "32", .low = 1,
     .high = 1e9, .decides = "by --preset", .help = "sequences in a step, divided over the ranks"},
    {.name = "batch-size-per-rank", .kind = &option_count, .offset = FIELD(batch_size_per_rank), .initial = "0",
     .high = 1e9, .help = "sequences in a step on each rank, in place of --batch-size (weak scaling); 0: use --batch-size"},
    {.name = "grad-accumulation", .kind = &option_count, .offset = FIELD(grad_accumulation), .initial = "1", .low = 1,
     .high = 1e6, .help = "micro-batches a step; gradients are reduced in the last one only (with --shard gradients in each)"},
    {.name = "data", .common = 1, .kind = &option_path, .offset = FIELD(data), .initial = "synthetic",
     .help = "synthetic, or a file: *.bin holds tokens of 16 bits (llm.c's for Llama 3: of 32), any other file is read as bytes"},
    {.name = "data-digest", .kind = &option_choice, .offset = FIELD(data_digest), .initial = "sampled", .choices = data_digest_names,
     .help = "what is compared, besides the size, to see that all ranks read the same --data: sampled (first and last MiB, 64 blocks between), or all bytes"},
    {.name = "seed", .kind = &option_count, .offset = FIELD(seed), .initial = "0", .high = 1e15,
     .help = "fixes initial weights and the order of the data"},
    {.name = "data-workers", .also = "num-workers workers", .kind = &option_count, .offset = FIELD(data_workers), .initial = "1", .high = 256,
     .help = "threads of a rank that prepare batches, each one micro-batch in advance; 0: the training thread, in data_loading"},
};
static const struct option schedule_rows[] = {
    {.name = "num-epochs", .also = "epochs", .common = 1, .kind = &option_count, .offset = FIELD(num_epochs), .initial = "10", .low = 1,
     .high = 1e9, .help = "epochs, the warm-up epochs included"},
    {.name = "warmup-epochs", .kind = &option_count, .offset = FIELD(warmup_epochs), .initial = "3", .high = 1e9,
     .help = "epochs in which the learning rate rises from 0 and gradients are clipped"},
    {.name = "steps-per-epoch", .kind = &option_count, .offset = FIELD(steps_per_epoch), .initial = "1", .low = 1,
     .high = 1e9, .help = "steps of an epoch"},
    {.name = "lr", .also = "learning-rate", .kind = &option_real, .offset = FIELD(lr), .initial = "0.001", .high = 1e6,
     .help = "learning rate after the warm-up"},
    {.name = "max-norm", .kind = &option_real, .offset = FIELD(max_norm), .initial = "1.0", .low = 1e-30,
     .high = 1e30, .help = "largest gradient norm in warm-up epochs"},
    {.name = "forward-only", .also = "inference no-grad", .kind = &option_flag, .offset = FIELD(forward_only), .without = "regime=warmup",
     .help = "no backward pass and no update, as in inference; for --implementations none"},
    {.name = "update-in-backward", .also = "optimizer-in-backward apply-optimizer-in-backward", .kind = &option_flag,
     .offset = FIELD(update_in_backward), .without = "forward-only,regime=warmup",
     .help = "also a row LABEL:update for ddp_bucketed: the optimizer updates a bucket once it is reduced and backward has used its weights"},
    {.name = "checkpoint-every", .kind = &option_count, .offset = FIELD(checkpoint_every), .initial = "0",
     .high = 1e9, .help = "save weights and optimizer state after every N-th step, in the phase checkpoint; 0: never"},
};
static const struct option block_rows[] = {
    {.name = "regime", .kind = &option_choice, .offset = FIELD(regime), .initial = "active", .choices = regime_name,
     .help = "which epochs are timed: active, or warmup (learning rate ramps, gradients are clipped)"},
    {.name = "rounds", .common = 1, .kind = &option_count, .offset = FIELD(rounds), .initial = "10", .high = 1e6,
     .help = "rounds; each runs one block of every implementation; with --resolve, at least this many"},
    {.name = "resolve", .common = 1, .kind = &option_percent, .offset = FIELD(resolve), .low = 0.01,
     .high = 50, .without = "profile", .help = "run rounds until each implementation is significantly slower than the fastest or within this many percent of it"},
    {.name = "max-minutes", .kind = &option_real, .offset = FIELD(max_minutes), .initial = "10",
     .low = 0.001, .high = 1e6, .needs = "resolve", .help = "the longest time for the rounds of --resolve"},
    {.name = "steps-per-block", .kind = &option_count, .offset = FIELD(steps_per_block), .initial = "0", .high = 1e6,
     .help = "timed steps of a block, after 2 untimed ones; 0: those of the regime's epochs, 3 with --profile or tune"},
    {.name = "attainable", .kind = &option_flag, .offset = FIELD(attainable), .without = "forward-only",
     .help = "also time every collective alone, and print the step time that perfect overlap would reach, and step time / that time"},
    {.name = "inject-delay", .repeats = 1, .kind = &option_delay, .offset = FIELD(delays),
     .help = "make a rank sleep at the start of a phase: rank=R,ms=TIME,phase=NAME; may be repeated"},
};
/* clang-format on */

const struct option_section model_section = {.title = "Model", OPTION_ROWS(model_rows)};
const struct option_section strategy_section = {.title = "Strategies", OPTION_ROWS(strategy_rows)};

void run_options_add(struct option_table *table, struct run_options *run)
{
    struct training_options *options = &run->training;
    option_table_add(table, option_section_at(model_section, &options->workload));
    option_table_add(table, option_section_at(model_from_section, &options->workload));
    option_table_add(table,
                     (struct option_section){.title = "Batch and data", OPTION_ROWS(batch_rows), .base = options});
    option_table_add(table, (struct option_section){.title = "Training", OPTION_ROWS(schedule_rows), .base = options});
    option_table_add(table, option_section_at(strategy_section, &options->workload));
    option_table_add(table, (struct option_section){.title = "Timed blocks", OPTION_ROWS(block_rows), .base = options});
    harness_options_add(table, &run->harness);
}

/* ---- checks ---- */

/* Whether a row has a bucket for each block, although the tensors of a replayed model lack names. */
static int workload_lacks_blocks(const struct workload *w)
{
    size_t blocks = 0;
    for (int i = 0; i < w->bucket_sizes.n; i++)
        blocks |= w->bucket_sizes.item[i].caps.blocks;
    for (int i = 0; i < w->strategies.n; i++)
        blocks |= w->strategies.item[i].size.caps.blocks;
    return blocks && workload_is_replayed(w) && !w->from.read.has_layers;
}

int workload_check(struct workload *w, const char *data)
{
    enum data_kind kind = data_kind_of(data);
    if (!w->vocab_size)
        w->vocab_size = kind == DATA_BYTES ? 256 : kind == DATA_TOKENS ? 65536 : 10000;
    if (!workload_is_replayed(w) && (w->d_model % w->num_heads || w->d_model / w->num_heads % 2))
        return error_report("--num-heads %zu does not divide --d-model %zu into heads of even width, as RoPE needs",
                            w->num_heads, w->d_model);
    if (workload_lacks_blocks(w))
        return error_report("--bucket-size-mb block: the block of each tensor is not known; give the names as a second "
                            "file, --model-from FILE,LIST");
    struct bucket_size *size = &w->bucket_sizes.item[0];
    if (size->caps.cap[0])
        return 0;
    struct model model;
    workload_plan(&model, w, 1, 1, sizeof(float), 0);
    size_t quarter = model.parameters * sizeof(float) / 4;
    size->caps.cap[0] = quarter < BUCKET_DEFAULT_BYTES ? quarter : BUCKET_DEFAULT_BYTES;
    snprintf(size->words, sizeof size->words, "%.6g", (double)size->caps.cap[0] / 1048576);
    model_destroy(&model);
    return 0;
}

struct model_sizes workload_sizes(const struct workload *w, size_t batch)
{
    return (struct model_sizes){batch,         w->context_length, w->vocab_size, w->d_model,
                                w->num_layers, w->num_heads,      w->d_ff,       1};
}

/* Refuses a delay in a phase that no step has. clips 1: some steps are in warm-up epochs, which clip gradients. */
static int check_delays(const struct training_options *o, int clips)
{
    const char *const needs[PHASES] = {[PHASE_CLIPPING] =
                                           clips ? NULL : "--warmup-epochs, and --regime warmup or --profile",
                                       [PHASE_CHECKPOINT] = o->checkpoint_every ? NULL : "--checkpoint-every",
                                       [PHASE_SAVE_RESULTS] = "--profile-inference, which has no delays"};
    for (const struct delay *d = o->delays.item; d < o->delays.item + o->delays.n; d++)
        if (o->forward_only && d->phase != PHASE_FORWARD && d->phase > PHASE_DATA_LOADING &&
            d->phase < PHASE_LR_SCHEDULING)
            return error_report("--inject-delay phase=%s: no step with --forward-only has that phase",
                                phase_name[d->phase]);
        else if (needs[d->phase])
            return error_report("--inject-delay phase=%s: no step of this run has that phase; it needs %s",
                                phase_name[d->phase], needs[d->phase]);
    return 0;
}

int training_options_check(struct training_options *o, const struct option_table *table, size_t most_block_steps,
                           int captures)
{
    if (o->batch_size_per_rank && option_was_given(table, "batch-size"))
        return error_report("--batch-size %zu and --batch-size-per-rank %zu: give one of the two", o->batch_size,
                            o->batch_size_per_rank);
    if (workload_check(&o->workload, o->data))
        return -1;
    if (o->warmup_epochs > o->num_epochs)
        return error_report("--warmup-epochs %zu is more than --num-epochs %zu", o->warmup_epochs, o->num_epochs);
    o->warmup_steps = o->warmup_epochs * o->steps_per_epoch;
    /* `active` blocks start after the warm-up; `warmup` blocks 2 untimed steps before the first step of the ramp. */
    o->block_start = o->regime == REGIME_WARMUP ? -DISCARDED_STEPS : (long)o->warmup_steps;
    size_t active = (o->num_epochs - o->warmup_epochs) * o->steps_per_epoch;
    size_t of_regime = o->regime == REGIME_WARMUP ? o->warmup_steps : active;
    if (most_block_steps && (o->regime == REGIME_ACTIVE || of_regime > most_block_steps))
        of_regime = most_block_steps;
    o->block_steps = o->steps_per_block ? o->steps_per_block : of_regime;
    if (!o->block_steps)
        return error_report("--regime %s has no epochs to time: --num-epochs %zu, --warmup-epochs %zu",
                            regime_name[o->regime], o->num_epochs, o->warmup_epochs);
    if (o->regime == REGIME_WARMUP && o->block_steps > o->warmup_steps)
        return error_report("--steps-per-block %zu is more than the %zu steps of the warm-up epochs", o->block_steps,
                            o->warmup_steps);
    if (o->block_steps > 1000000)
        return error_report("a block would have %zu timed steps; at most 1000000 are possible", o->block_steps);
    if (check_delays(o, o->warmup_steps && (captures || o->regime == REGIME_WARMUP)))
        return -1;
    size_t first = captures ? 0 : (size_t)(o->block_start + DISCARDED_STEPS), every = o->checkpoint_every;
    size_t steps = captures ? o->num_epochs * o->steps_per_epoch : o->block_steps;
    if (every && (first + steps) / every == first / every)
        return error_report(
            "--checkpoint-every %zu: no checkpoint is due in the steps that are measured, %zu to %zu; use at "
            "most %zu",
            every, first + 1, first + steps, steps);
    return 0;
}

int training_needs_gradient(const struct training_options *o)
{
    int needs = o->checkpoint_every > 0;
    for (int i = 0; i < o->n && !o->infers; i++)
        needs |= !implementation_traits(&o->implementation[i])->releases;
    return needs;
}

int training_options_fit(struct training_options *o, int ranks)
{
    for (int i = 0; i < o->delays.n; i++)
        if (o->delays.item[i].rank >= ranks)
            return error_report("--inject-delay rank=%d: there are ranks 0 to %d", o->delays.item[i].rank, ranks - 1);
    size_t parts = (size_t)ranks * o->grad_accumulation;
    if (o->batch_size_per_rank % o->grad_accumulation)
        return error_report("--batch-size-per-rank %zu does not divide into %zu micro-batches: use a multiple of %zu",
                            o->batch_size_per_rank, o->grad_accumulation, o->grad_accumulation);
    if (o->batch_size_per_rank)
        o->batch_size = o->batch_size_per_rank * (size_t)ranks;
    if (o->batch_size % parts == 0)
        return 0;
    return error_report(
        "a batch of %zu cannot be divided evenly among %d ranks x %zu micro-batches: use a multiple of %zu",
        o->batch_size, ranks, o->grad_accumulation, parts);
}
