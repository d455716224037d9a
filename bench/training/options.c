/* options.c - the command line. */
#include "training/options.h"

#include "ddp/data.h"
#include "kernels/error.h"
#include "training/implementations.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) offsetof(struct options, field)
#define HUGE_COUNT   1e15

static const struct option model_options[] = {
    {"vocab-size", &option_count, FIELD(vocab_size), "0", 0, 65536,
     "tokens known to the model; 0: 256 for a file of bytes, 10000 for synthetic data, 65536 for a .bin shard", 0},
    {"context-length", &option_count, FIELD(context_length), "512", 1, 1e6, "tokens of a sequence", 0},
    {"d-model", &option_count, FIELD(d_model), "768", 2, 1e6, "width of the model", 0},
    {"num-layers", &option_count, FIELD(num_layers), "12", 1, 10000, "transformer blocks", 0},
    {"num-heads", &option_count, FIELD(num_heads), "12", 1, 1e6,
     "attention heads; must divide --d-model into even parts", 0},
    {"d-ff", &option_count, FIELD(d_ff), "3072", 1, 1e7, "width of the feed-forward", 0},
    {"rope-theta", &option_real, FIELD(rope_theta), "10000", 1, HUGE_COUNT, "base of the rotary position angles", 0},
};

static const struct option batch_options[] = {
    {"batch-size", &option_count, FIELD(batch_size), "32", 1, 1e9, "sequences in a step, divided over the ranks", 0},
    {"batch-size-per-rank", &option_count, FIELD(batch_size_per_rank), "0", 0, 1e9,
     "sequences of each rank instead (weak scaling); 0: use --batch-size", 0},
    {"grad-accumulation", &option_count, FIELD(grad_accumulation), "1", 1, 1e6,
     "micro-batches a step; gradients are reduced in the last one only", 0},
    {"data", &option_text, FIELD(data), "synthetic", 0, 0,
     "synthetic, or a file: *.bin holds 16-bit tokens, any other file is read as bytes", 0},
    {"seed", &option_count, FIELD(seed), "0", 0, HUGE_COUNT, "fixes initial weights and the order of the data", 0},
};

static const struct option training[] = {
    {"num-epochs", &option_count, FIELD(num_epochs), "10", 1, 1e9, "epochs, the warm-up epochs included", 0},
    {"warmup-epochs", &option_count, FIELD(warmup_epochs), "3", 0, 1e9,
     "epochs in which the learning rate rises from 0 and gradients are clipped", 0},
    {"steps-per-epoch", &option_count, FIELD(steps_per_epoch), "1", 1, 1e9, "steps of an epoch", 0},
    {"lr", &option_real, FIELD(lr), "0.001", 0, 1e6, "learning rate after the warm-up", 0},
    {"max-norm", &option_real, FIELD(max_norm), "1.0", 1e-30, 1e30, "largest gradient norm in warm-up epochs", 0},
    {"weight-decay", &option_real, FIELD(weight_decay), "0.01", 0, 1e6, "AdamW's weight decay", 0},
    {"log-grad-norm", &option_flag, FIELD(log_grad_norm), NULL, 0, 0, "compute the gradient norm in every step", 0},
};

static const struct option strategy_options[] = {
    {"implementations", &option_text, FIELD(implementations),
     "none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed", 0, 0,
     "what to compare: names from the list below, each NAME or LABEL=NAME", 0},
    {"bucket-size-mb", &option_text, FIELD(bucket_size_mb), "100", 0, 0,
     "bucket size in MiB, fractions allowed; a comma list makes one ddp_bucketed of each", 0},
    {"grad-dtype", &option_grad_dtype, FIELD(grad_dtype), "fp32", 0, 0,
     "type on the wire of ddp_individual_v2: fp32 or bf16", 0},
    {"comm", &option_library, FIELD(comm), "auto", 0, 0,
     "what sends: mpi, nccl (between GPUs), or auto (nccl where each rank has a GPU of its own)", 0},
    {"nccl-max-ctas", &option_count, FIELD(nccl_max_ctas), "0", 0, 1024,
     "thread blocks of a GPU that a collective of NCCL may take up; 0: as NCCL chooses", 0},
    {"mpi-progress", &option_progress, FIELD(mpi_progress), "auto", 0, 0,
     "how MPI advances during backward: poll, sleep:US, or auto (poll where a core is spare)", 0},
    {"threads", &option_count, FIELD(threads), "0", 0, 4096,
     "threads of a rank; 0: OMP_NUM_THREADS, or the rank's share of the cores", 0},
};

static const struct option benchmark[] = {
    {"regime", &option_regime, FIELD(regime), "active", 0, 0,
     "which epochs are timed: active, or warmup (learning rate ramps, gradients are clipped)", 0},
    {"rounds", &option_count, FIELD(rounds), "10", 0, 1e6, "rounds; each runs one block of every implementation", 0},
    {"steps-per-block", &option_count, FIELD(steps_per_block), "0", 0, 1e6,
     "timed steps of a block, after 2 that are not; 0: those of the regime's epochs, 3 with --profile", 0},
    {"attainable", &option_flag, FIELD(attainable), NULL, 0, 0,
     "also time every collective alone, and print step time / what perfect overlap would reach", 0},
    {"inject-delay", &option_delay, FIELD(delay), NULL, 0, 0,
     "make one rank sleep whenever a phase begins: rank=R,ms=TIME,phase=NAME", 0},
    {"timeout", &option_real, FIELD(timeout_s), "300", 0, 1e6,
     "seconds without progress after which a collective ends the job; 0: never", 0},
    {"output", &option_text, FIELD(output), "", 0, 0, "result directory; default results/<time>[-<label>]", 0},
    {"label", &option_label, FIELD(label), "", 0, 0, "a name for this run, kept in its results", 0},
    {"monitor-cpu", &option_flag, FIELD(monitor_cpu), NULL, 0, 0,
     "write what the CPUs do, for whom and how fast, every second", 0},
    {"monitor-gpu", &option_flag, FIELD(monitor_gpu), NULL, 0, 0,
     "write what NVIDIA GPUs do and what holds them back, every second", 0},
};

static const struct option profile[] = {
    {"profile", &option_flag, FIELD(profile), NULL, 0, 0,
     "trace the steps of one implementation, then measure its overlap against controls, --rounds times (0: trace "
     "only)",
     0},
    {"profile-implementation", &option_text, FIELD(profile_implementation), "ddp", 0, 0, "which one; names as below",
     0},
    {"profile-output-dir", &option_text, FIELD(profile_output_dir), "", 0, 0,
     "directory of the traces and the summary; default results/<time>[-<label>]", 0},
    {"profile-wait", &option_count, FIELD(profile_wait), "0", 0, 1e9,
     "steps of a cycle that are not traced, at its start", 0},
    {"profile-warmup", &option_count, FIELD(profile_warmup), "0", 0, 1e9, "steps then traced and thrown away", 0},
    {"profile-active", &option_count, FIELD(profile_active), "0", 0, 1e9,
     "steps then traced and kept; 0: all that remain", 0},
    {"profile-repeat", &option_count, FIELD(profile_repeat), "0", 0, 1e9,
     "cycles; 0: as many as the epochs' steps allow", 0},
    {"profile-activities", &option_text, FIELD(profile_activities), "auto", 0, 0,
     "what to trace: cpu (operations as the host asks for them), cuda (what GPUs do), cpu,cuda, or auto (both, where "
     "there is a GPU)",
     0},
    {"cuda-profiler-range", &option_flag, FIELD(cuda_profiler_range), NULL, 0, 0,
     "bracket the captured steps with cudaProfilerStart and Stop, for nsys and ncu (launch/nsys.sh, launch/ncu.sh)", 0},
    {"profile-ranks", &option_text, FIELD(profile_ranks), "all", 0, 0,
     "ranks that write a trace: all, or a list such as 0,3", 0},
    {"profile-buffer-mb", &option_real, FIELD(profile_buffer_mb), "12", 0.01, 1e6,
     "memory for captured spans, MiB a rank; a full one ends the capture", 0},
    {"profile-sort", &option_sort, FIELD(profile_sort), "self", 0, 0,
     "order of the table of operations: self, total, mean, calls, name, gflops or gbs", 0},
    {"record-shapes", &option_flag, FIELD(record_shapes), NULL, 0, 0,
     "add the shapes of inputs to operations in the trace", 0},
    {"with-flops", &option_flag, FIELD(with_flops), NULL, 0, 0,
     "add floating-point operations to operations in the trace", 0},
    {"profile-memory", &option_flag, FIELD(profile_memory), NULL, 0, 0,
     "add allocations and resident memory to the trace", 0},
    {"profile-counters", &option_flag, FIELD(profile_counters), NULL, 0, 0,
     "add learning rate, loss and gradient norm to the trace", 0},
    {"trace-gzip", &option_flag, FIELD(trace_gzip), NULL, 0, 0, "compress the traces", 0},
    {"thresholds", &option_thresholds, FIELD(thresholds), "busy=70,data_loading=30,exposed=20,memory=90", 0, 0,
     "when a figure becomes a finding, in percent; a list of those to change", 0},
};

static const struct option help[] = {
    {"help", &option_flag, FIELD(help), NULL, 0, 0, "print this and stop", 'h'},
    {"version", &option_flag, FIELD(version), NULL, 0, 0, "print the version and stop", 0},
};

/* ---- checks ---- */

/* Options of profile mode are for profile mode. */
static int check_mode(const struct options *o, const char *needs_profile)
{
    if (!o->profile && needs_profile)
        return error_report("--%s needs --profile", needs_profile);
    if (!o->profile && !o->rounds)
        return error_report("--rounds 0: expected a whole number from 1 to 1000000 (0 is for --profile)");
    if (o->profile && *o->output)
        return error_report("--output is for the benchmark; with --profile use --profile-output-dir");
    if (o->profile && o->attainable)
        return error_report("--attainable is for the benchmark; a profile always measures it");
    if (o->profile && o->grad_dtype == COMM_BF16 && strcmp(o->profile_implementation, "ddp_individual_v2"))
        return error_report("--grad-dtype bf16 is for ddp_individual_v2; --profile-implementation is %s",
                            o->profile_implementation);
    if (o->profile && !o->profile_active && o->profile_repeat > 1)
        return error_report("--profile-repeat %zu needs --profile-active: how many steps of a cycle to keep",
                            o->profile_repeat);
    return 0;
}

/* The steps of the epochs must hold the cycles that were asked for. */
static int check_cycles(const struct options *o)
{
    size_t steps = o->num_epochs * o->steps_per_epoch, active = o->profile_active ? o->profile_active : 1;
    size_t cycle = o->profile_wait + o->profile_warmup + active, cycles = o->profile_repeat ? o->profile_repeat : 1;
    if (o->profile && cycle * cycles > steps)
        return error_report(
            "the %zu x %zu steps of --profile-wait, --profile-warmup and --profile-active are more than the "
            "%zu steps of the run: raise --num-epochs or --steps-per-epoch",
            cycles, cycle, steps);
    return 0;
}

/* The bound is made from when gradients are final without communication. */
static int check_attainable(const struct options *o)
{
    int none = 0;
    for (int i = 0; i < o->n; i++)
        none += o->implementation[i].strategy == &strategy_none;
    return o->attainable && !none ? error_report("--attainable needs none among the --implementations") : 0;
}

static int check_heads(const struct options *o)
{
    char fit[256] = "";
    size_t at = 0;
    if (o->d_model % o->num_heads == 0 && o->d_model / o->num_heads % 2 == 0)
        return 0;
    for (size_t h = 1; h <= o->d_model / 2 && at < sizeof fit - 24; h++)
        if (o->d_model % h == 0 && o->d_model / h % 2 == 0)
            at += (size_t)snprintf(fit + at, sizeof fit - at, "%s%zu", at ? ", " : "", h);
    if (!at)
        return error_report("--d-model %zu is odd; RoPE needs heads of even width", o->d_model);
    return error_report("--num-heads %zu does not divide --d-model %zu into heads of even width; these do: %s",
                        o->num_heads, o->d_model, fit);
}

static int check_epochs(struct options *o)
{
    if (o->warmup_epochs > o->num_epochs)
        return error_report("--warmup-epochs %zu is more than --num-epochs %zu", o->warmup_epochs, o->num_epochs);
    o->warmup_steps = o->warmup_epochs * o->steps_per_epoch;
    size_t active = (o->num_epochs - o->warmup_epochs) * o->steps_per_epoch;
    enum { PROFILE_STEPS = 3 }; /* of the blocks that a profile is compared with, unless the warm-up has fewer */
    size_t of_regime = o->regime == REGIME_WARMUP ? o->warmup_steps : active;
    if (o->profile && (o->regime == REGIME_ACTIVE || of_regime > PROFILE_STEPS))
        of_regime = PROFILE_STEPS;
    o->block_steps = o->steps_per_block ? o->steps_per_block : of_regime;
    if (!o->block_steps)
        return error_report("--regime %s has no epochs to time: --num-epochs %zu, --warmup-epochs %zu",
                            o->regime == REGIME_WARMUP ? "warmup" : "active", o->num_epochs, o->warmup_epochs);
    if (o->regime == REGIME_WARMUP && o->block_steps > o->warmup_steps)
        return error_report("--steps-per-block %zu is more than the %zu steps of the warm-up epochs", o->block_steps,
                            o->warmup_steps);
    if (o->block_steps > 1000000)
        return error_report("%zu timed steps a block; at most 1000000", o->block_steps);
    return 0;
}

/* Of the data if none is given. */
static size_t vocabulary_of(const char *data)
{
    enum data_kind kind = data_kind_of(data);
    return kind == DATA_BYTES ? 256 : kind == DATA_TOKENS ? 65536 : 10000;
}

int options_fit(struct options *o, int ranks)
{
    if (option_ranks(o->profile_ranks, -1, ranks) < 0)
        return -1;
    if (o->delay.ms > 0 && o->delay.rank >= ranks)
        return error_report("--inject-delay rank=%d: there are ranks 0 to %d", o->delay.rank, ranks - 1);
    size_t parts = (size_t)ranks * o->grad_accumulation;
    if (o->batch_size_per_rank % o->grad_accumulation)
        return error_report("--batch-size-per-rank %zu does not divide into %zu micro-batches: use a multiple of %zu",
                            o->batch_size_per_rank, o->grad_accumulation, o->grad_accumulation);
    if (o->batch_size_per_rank)
        o->batch_size = o->batch_size_per_rank * (size_t)ranks;
    if (o->batch_size % parts) {
        size_t below = o->batch_size / parts * parts;
        char fits[64];
        if (below)
            snprintf(fits, sizeof fits, "%zu or %zu", below, below + parts);
        else
            snprintf(fits, sizeof fits, "%zu", parts);
        return error_report("a batch of %zu does not divide over %d ranks x %zu micro-batches: use a multiple of %zu, "
                            "such as %s",
                            o->batch_size, ranks, o->grad_accumulation, parts, fits);
    }
    if (!o->vocab_size)
        o->vocab_size = vocabulary_of(o->data);
    return 0;
}

/* ---- the command line ---- */

enum { OPTION_SECTIONS = 8 };
#define ROWS(rows) (rows), sizeof(rows) / sizeof *(rows)

static void make_sections(struct options *options, struct option_section section[OPTION_SECTIONS])
{
    const struct option_section all[OPTION_SECTIONS] = {
        {"Model", ROWS(model_options), options}, {"Batch and data", ROWS(batch_options), options},
        {"Training", ROWS(training), options},   {"Strategies", ROWS(strategy_options), options},
        open_device_options(&options->device),   {"Benchmark", ROWS(benchmark), options},
        {"Profile", ROWS(profile), options},     {"Help", ROWS(help), options},
    };
    memcpy(section, all, sizeof all);
}

struct option_section options_model(struct options *options)
{
    return (struct option_section){"Model", ROWS(model_options), options};
}

struct option_section options_strategies(struct options *options)
{
    return (struct option_section){"Strategies", ROWS(strategy_options), options};
}

int options_check_model(struct options *o)
{
    if (!o->vocab_size)
        o->vocab_size = vocabulary_of(o->data);
    return option_implementations(o) || check_heads(o) ? -1 : 0;
}

/* What was given that is for one mode alone. */
struct given {
    const char *of_profile; /* the name of an option of profile mode */
    int implementations;
};

static void note(void *context, const struct option_section *section, const struct option *option, const char *value)
{
    struct given *given = context;
    (void)value;
    if (section->row == profile && option->offset != FIELD(profile))
        given->of_profile = option->name;
    given->implementations |= option->offset == FIELD(implementations);
}

int options_parse(struct options *options, int argc, char *const argv[])
{
    *options = (struct options){0};
    struct option_section sections[OPTION_SECTIONS];
    make_sections(options, sections);
    struct given given = {NULL, 0};
    struct option_table table = {sections, OPTION_SECTIONS, note, NULL, &given};
    if (option_table_parse(&table, argc, argv) || check_mode(options, given.of_profile))
        return -1;
    if (options->profile && given.implementations)
        return error_report("--implementations is for the benchmark; --profile traces one --profile-implementation");
    if (options->profile && option_activities(options->profile_activities) < 0)
        return -1;
    return option_implementations(options) || check_attainable(options) || check_heads(options) ||
                   check_epochs(options) || check_cycles(options)
               ? -1
               : 0;
}

void options_help_implementations(FILE *out)
{
    fprintf(out, "\nImplementations:\n");
    for (int i = 0; strategies[i]; i++)
        fprintf(out, "  %-20s   %s\n", strategies[i]->name, strategies[i]->summary);
}

void options_help(FILE *out)
{
    struct options shown = {0}, *options = &shown;
    struct option_section sections[OPTION_SECTIONS];
    make_sections(options, sections);
    struct option_table table = {.section = sections, .sections = OPTION_SECTIONS};
    fprintf(out,
            "Usage: mpirun -n RANKS ddpbench [OPTION VALUE]...\n"
            "       mpirun -n RANKS ddpbench allreduce [OPTION VALUE]...   the interconnect alone; has a --help\n"
            "       ddpbench compare BASELINE... --candidate DIR...        whether runs got slower; has a --help\n\n"
            "Trains a transformer on every rank, synchronises its gradients with each strategy in turn, and compares\n"
            "what the strategies cost; or, with --profile, shows where the time of one of them goes. The defaults are\n"
            "a GPU's; `make bench` has sizes for a laptop.\n");
    option_table_help(out, &table);
    options_help_implementations(out);
}

void options_each(const struct options *given,
                  void (*each)(void *context, const char *name, const char *value, int is_text), void *context)
{
    struct options copy = *given, *options = &copy;
    struct option_section sections[OPTION_SECTIONS];
    make_sections(options, sections);
    struct option_table table = {.section = sections, .sections = OPTION_SECTIONS};
    option_table_each(&table, each, context);
}
