/* options.c - the command line. */
#include "options.h"

#include "data.h"
#include "error.h"
#include "option_lists.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { COUNT, REAL, TEXT, FLAG, GRAD_DTYPE, PROGRESS, REGIME, SORT, DELAY, THRESHOLDS };

struct option {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *initial; /* default, as it would be given */
    double low, high;    /* COUNT and REAL: least and greatest value allowed */
    const char *help;    /* a heading if name is NULL */
};

#define FIELD(field) offsetof(struct options, field)
#define HUGE_COUNT   1e15

static const struct option table[] = {
    {NULL, FLAG, 0, NULL, 0, 0, "Workload"},
    {"batch-size", COUNT, FIELD(batch_size), "32", 1, 1e9, "sequences in a step, divided over the ranks"},
    {"batch-size-per-rank", COUNT, FIELD(batch_size_per_rank), "0", 0, 1e9,
     "sequences of each rank instead (weak scaling); 0: use --batch-size"},
    {"grad-accumulation", COUNT, FIELD(grad_accumulation), "1", 1, 1e6,
     "micro-batches a step; gradients are reduced in the last one only"},
    {"vocab-size", COUNT, FIELD(vocab_size), "0", 0, 65536,
     "tokens known to the model; 0: 256 for a file of bytes, 10000 for synthetic data, 65536 for a .bin shard"},
    {"context-length", COUNT, FIELD(context_length), "512", 1, 1e6, "tokens of a sequence"},
    {"d-model", COUNT, FIELD(d_model), "768", 2, 1e6, "width of the model"},
    {"num-layers", COUNT, FIELD(num_layers), "12", 1, 10000, "transformer blocks"},
    {"num-heads", COUNT, FIELD(num_heads), "12", 1, 1e6, "attention heads; must divide --d-model into even parts"},
    {"d-ff", COUNT, FIELD(d_ff), "3072", 1, 1e7, "width of the feed-forward"},
    {"rope-theta", REAL, FIELD(rope_theta), "10000", 1, HUGE_COUNT, "base of the rotary position angles"},
    {"data", TEXT, FIELD(data), "synthetic", 0, 0,
     "synthetic, or a file: *.bin holds 16-bit tokens, any other file is read as bytes"},
    {"seed", COUNT, FIELD(seed), "0", 0, HUGE_COUNT, "fixes initial weights and the order of the data"},
    {NULL, FLAG, 0, NULL, 0, 0, "Training"},
    {"num-epochs", COUNT, FIELD(num_epochs), "10", 1, 1e9, "epochs, the warm-up epochs included"},
    {"warmup-epochs", COUNT, FIELD(warmup_epochs), "3", 0, 1e9,
     "epochs in which the learning rate rises from 0 and gradients are clipped"},
    {"steps-per-epoch", COUNT, FIELD(steps_per_epoch), "1", 1, 1e9, "steps of an epoch"},
    {"lr", REAL, FIELD(lr), "0.001", 0, 1e6, "learning rate after the warm-up"},
    {"max-norm", REAL, FIELD(max_norm), "1.0", 1e-30, 1e30, "largest gradient norm in warm-up epochs"},
    {"weight-decay", REAL, FIELD(weight_decay), "0.01", 0, 1e6, "AdamW's weight decay"},
    {"log-grad-norm", FLAG, FIELD(log_grad_norm), NULL, 0, 0, "compute the gradient norm in every step"},
    {NULL, FLAG, 0, NULL, 0, 0, "Strategies"},
    {"implementations", TEXT, FIELD(implementations), "none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed",
     0, 0, "what to compare: names from the list below, each NAME or LABEL=NAME"},
    {"bucket-size-mb", TEXT, FIELD(bucket_size_mb), "100", 0, 0,
     "bucket size in MiB, fractions allowed; a comma list makes one ddp_bucketed of each"},
    {"grad-dtype", GRAD_DTYPE, FIELD(grad_dtype), "fp32", 0, 0, "type on the wire of ddp_individual_v2: fp32 or bf16"},
    {"mpi-progress", PROGRESS, FIELD(mpi_progress), "auto", 0, 0,
     "how MPI advances during backward: poll, sleep:US, or auto (poll where a core is spare)"},
    {"threads", COUNT, FIELD(threads), "0", 0, 4096,
     "threads of a rank; 0: OMP_NUM_THREADS, or the rank's share of the cores"},
    {NULL, FLAG, 0, NULL, 0, 0, "Benchmark"},
    {"regime", REGIME, FIELD(regime), "active", 0, 0,
     "which epochs are timed: active, or warmup (learning rate ramps, gradients are clipped)"},
    {"rounds", COUNT, FIELD(rounds), "10", 0, 1e6, "rounds; each runs one block of every implementation"},
    {"steps-per-block", COUNT, FIELD(steps_per_block), "0", 0, 1e6,
     "timed steps of a block, after 2 that are not; 0: those of the regime's epochs, 3 with --profile"},
    {"attainable", FLAG, FIELD(attainable), NULL, 0, 0,
     "also time every collective alone, and print step time / what perfect overlap would reach"},
    {"inject-delay", DELAY, FIELD(delay), NULL, 0, 0,
     "make one rank sleep whenever a phase begins: rank=R,ms=TIME,phase=NAME"},
    {"output", TEXT, FIELD(output), "", 0, 0, "result directory; default results/<time>[-<label>]"},
    {"label", TEXT, FIELD(label), "", 0, 0, "a name for this run, kept in its results"},
    {NULL, FLAG, 0, NULL, 0, 0, "Profile"},
    {"profile", FLAG, FIELD(profile), NULL, 0, 0,
     "trace the steps of one implementation, then measure its overlap against controls, --rounds times (0: trace "
     "only)"},
    {"profile-implementation", TEXT, FIELD(profile_implementation), "ddp", 0, 0, "which one; names as below"},
    {"profile-output-dir", TEXT, FIELD(profile_output_dir), "", 0, 0,
     "directory of the traces and the summary; default results/<time>[-<label>]"},
    {"profile-wait", COUNT, FIELD(profile_wait), "0", 0, 1e9, "steps of a cycle that are not traced, at its start"},
    {"profile-warmup", COUNT, FIELD(profile_warmup), "0", 0, 1e9, "steps then traced and thrown away"},
    {"profile-active", COUNT, FIELD(profile_active), "0", 0, 1e9, "steps then traced and kept; 0: all that remain"},
    {"profile-repeat", COUNT, FIELD(profile_repeat), "0", 0, 1e9, "cycles; 0: as many as the epochs' steps allow"},
    {"profile-activities", TEXT, FIELD(profile_activities), "cpu", 0, 0, "what to trace: cpu"},
    {"profile-ranks", TEXT, FIELD(profile_ranks), "all", 0, 0, "ranks that write a trace: all, or a list such as 0,3"},
    {"profile-buffer-mb", REAL, FIELD(profile_buffer_mb), "12", 0.01, 1e6,
     "memory for captured spans, MiB a rank; a full one ends the capture"},
    {"profile-sort", SORT, FIELD(profile_sort), "self", 0, 0,
     "order of the table of operations: self, total, mean, calls, name, gflops or gbs"},
    {"record-shapes", FLAG, FIELD(record_shapes), NULL, 0, 0, "add the shapes of inputs to operations in the trace"},
    {"with-flops", FLAG, FIELD(with_flops), NULL, 0, 0, "add floating-point operations to operations in the trace"},
    {"profile-memory", FLAG, FIELD(profile_memory), NULL, 0, 0, "add allocations and resident memory to the trace"},
    {"profile-counters", FLAG, FIELD(profile_counters), NULL, 0, 0,
     "add learning rate, loss and gradient norm to the trace"},
    {"trace-gzip", FLAG, FIELD(trace_gzip), NULL, 0, 0, "compress the traces"},
    {"thresholds", THRESHOLDS, FIELD(thresholds), "busy=70,data_loading=30,exposed=20,memory=90", 0, 0,
     "when a figure becomes a finding, in percent; a list of those to change"},
    {NULL, FLAG, 0, NULL, 0, 0, "Help"},
    {"help", FLAG, FIELD(help), NULL, 0, 0, "print this and stop"},
    {"version", FLAG, FIELD(version), NULL, 0, 0, "print the version and stop"},
};
enum { TABLE = sizeof table / sizeof *table };

/* ---- values ---- */

static int parse_count(const struct option *o, const char *text, size_t *value)
{
    double number;
    size_t digits = strspn(text, "0123456789");
    if (!digits || text[digits] || option_number(text, &number) || number < o->low || number > o->high)
        return report("--%s %s: expected a whole number from %.0f to %.0f", o->name, text, o->low, o->high);
    *value = (size_t)strtoull(text, NULL, 10);
    return 0;
}

static int parse_real(const struct option *o, const char *text, double *value)
{
    double number;
    if (option_number(text, &number) || number < o->low || number > o->high)
        return report("--%s %s: expected a number from %g to %g", o->name, text, o->low, o->high);
    *value = number;
    return 0;
}

static int parse_progress(const char *text, struct comm_progress *progress)
{
    size_t us = 0;
    const struct option sleep_us = {"mpi-progress sleep:US", COUNT, 0, NULL, 1, 100000, NULL};
    if (!strcmp(text, "auto"))
        *progress = (struct comm_progress){PROGRESS_AUTO, 0};
    else if (!strcmp(text, "poll"))
        *progress = (struct comm_progress){PROGRESS_POLL, 0};
    else if (!strncmp(text, "sleep:", 6)) {
        if (parse_count(&sleep_us, text + 6, &us))
            return -1;
        *progress = (struct comm_progress){PROGRESS_SLEEP, (unsigned)us};
    } else
        return report("--mpi-progress %s: expected auto, poll or sleep:US (microseconds)", text);
    return 0;
}

static int parse_choice(const struct option *o, const char *text, const char *first, const char *second, int *value)
{
    if (strcmp(text, first) && strcmp(text, second))
        return report("--%s %s: expected %s or %s", o->name, text, first, second);
    *value = !strcmp(text, second);
    return 0;
}

static int set(struct options *options, const struct option *o, const char *text)
{
    void *field = (char *)options + o->offset;
    int choice = 0;
    switch (o->kind) {
    case COUNT:
        return parse_count(o, text, field);
    case REAL:
        return parse_real(o, text, field);
    case TEXT:
        *(const char **)field = text;
        return 0;
    case FLAG:
        *(int *)field = 1;
        return 0;
    case PROGRESS:
        return parse_progress(text, field);
    case GRAD_DTYPE:
        if (parse_choice(o, text, "fp32", "bf16", &choice))
            return -1;
        *(enum comm_dtype *)field = choice ? COMM_BF16 : COMM_FLOAT32;
        return 0;
    case REGIME:
        if (parse_choice(o, text, "active", "warmup", &choice))
            return -1;
        *(enum regime *)field = choice ? REGIME_WARMUP : REGIME_ACTIVE;
        return 0;
    case SORT:
        return option_sort(text, field);
    case DELAY:
        return option_delay(text, field);
    case THRESHOLDS:
        return option_thresholds(text, field);
    }
    return -1;
}

/* ---- checks ---- */

/* Options of profile mode are for profile mode. */
static int check_mode(const struct options *o, const char *needs_profile)
{
    if (!o->profile && needs_profile)
        return report("--%s needs --profile", needs_profile);
    if (!o->profile && !o->rounds)
        return report("--rounds 0: expected a whole number from 1 to 1000000 (0 is for --profile)");
    if (o->profile && *o->output)
        return report("--output is for the benchmark; with --profile use --profile-output-dir");
    if (o->profile && o->attainable)
        return report("--attainable is for the benchmark; a profile always measures it");
    if (o->profile && o->grad_dtype == COMM_BF16 && strcmp(o->profile_implementation, "ddp_individual_v2"))
        return report("--grad-dtype bf16 is for ddp_individual_v2; --profile-implementation is %s",
                      o->profile_implementation);
    if (o->profile && !o->profile_active && o->profile_repeat > 1)
        return report("--profile-repeat %zu needs --profile-active: how many steps of a cycle to keep",
                      o->profile_repeat);
    return 0;
}

/* The steps of the epochs must hold the cycles that were asked for. */
static int check_cycles(const struct options *o)
{
    size_t steps = o->num_epochs * o->steps_per_epoch, active = o->profile_active ? o->profile_active : 1;
    size_t cycle = o->profile_wait + o->profile_warmup + active, cycles = o->profile_repeat ? o->profile_repeat : 1;
    if (o->profile && cycle * cycles > steps)
        return report("the %zu x %zu steps of --profile-wait, --profile-warmup and --profile-active are more than the "
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
    return o->attainable && !none ? report("--attainable needs none among the --implementations") : 0;
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
        return report("--d-model %zu is odd; RoPE needs heads of even width", o->d_model);
    return report("--num-heads %zu does not divide --d-model %zu into heads of even width; these do: %s", o->num_heads,
                  o->d_model, fit);
}

/* The label becomes part of a directory's name. */
static int check_label(const struct options *o)
{
    enum { LONGEST = 100 };
    for (const char *c = o->label; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-+.", *c))
            return report("--label '%.100s': may hold letters, digits, _, -, + and . only", o->label);
    if (strlen(o->label) > LONGEST)
        return report("--label: %zu characters; at most %d", strlen(o->label), LONGEST);
    return 0;
}

static int check_epochs(struct options *o)
{
    if (o->warmup_epochs > o->num_epochs)
        return report("--warmup-epochs %zu is more than --num-epochs %zu", o->warmup_epochs, o->num_epochs);
    o->warmup_steps = o->warmup_epochs * o->steps_per_epoch;
    size_t active = (o->num_epochs - o->warmup_epochs) * o->steps_per_epoch;
    enum { PROFILE_STEPS = 3 }; /* of the blocks that a profile is compared with, unless the warm-up has fewer */
    size_t of_regime = o->regime == REGIME_WARMUP ? o->warmup_steps : active;
    if (o->profile && (o->regime == REGIME_ACTIVE || of_regime > PROFILE_STEPS))
        of_regime = PROFILE_STEPS;
    o->block_steps = o->steps_per_block ? o->steps_per_block : of_regime;
    if (!o->block_steps)
        return report("--regime %s has no epochs to time: --num-epochs %zu, --warmup-epochs %zu",
                      o->regime == REGIME_WARMUP ? "warmup" : "active", o->num_epochs, o->warmup_epochs);
    if (o->regime == REGIME_WARMUP && o->block_steps > o->warmup_steps)
        return report("--steps-per-block %zu is more than the %zu steps of the warm-up epochs", o->block_steps,
                      o->warmup_steps);
    if (o->block_steps > 1000000)
        return report("%zu timed steps a block; at most 1000000", o->block_steps);
    return 0;
}

int options_fit(struct options *o, int ranks)
{
    if (option_ranks(o->profile_ranks, -1, ranks) < 0)
        return -1;
    if (o->delay.ms > 0 && o->delay.rank >= ranks)
        return report("--inject-delay rank=%d: there are ranks 0 to %d", o->delay.rank, ranks - 1);
    size_t parts = (size_t)ranks * o->grad_accumulation;
    if (o->batch_size_per_rank % o->grad_accumulation)
        return report("--batch-size-per-rank %zu does not divide into %zu micro-batches: use a multiple of %zu",
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
        return report("a batch of %zu does not divide over %d ranks x %zu micro-batches: use a multiple of %zu, "
                      "such as %s",
                      o->batch_size, ranks, o->grad_accumulation, parts, fits);
    }
    if (!o->vocab_size) {
        enum data_kind kind = data_kind_of(o->data);
        o->vocab_size = kind == DATA_BYTES ? 256 : kind == DATA_TOKENS ? 65536 : 10000;
    }
    return 0;
}

/* ---- the command line ---- */

static const struct option *find(const char *name, size_t length)
{
    for (int i = 0; i < TABLE; i++)
        if (table[i].name && strlen(table[i].name) == length && !strncmp(table[i].name, name, length))
            return &table[i];
    return NULL;
}

static int unknown(const char *word)
{
    char known[900];
    size_t at = 0;
    for (int i = 0; i < TABLE; i++)
        if (table[i].name && at < sizeof known)
            at += (size_t)snprintf(known + at, sizeof known - at, " --%s", table[i].name);
    return report("unknown option '%s'; known:%s", word, known);
}

/* Whether an option stands under the heading of profile mode. */
static int is_of_profile(const struct option *o)
{
    const struct option *heading = o;
    while (heading->name)
        heading--;
    return !strcmp(heading->help, "Profile") && o->offset != FIELD(profile);
}

int options_parse(struct options *options, int argc, char *const argv[])
{
    const char *needs_profile = NULL, *implementations = NULL;
    *options = (struct options){0};
    for (int i = 0; i < TABLE; i++)
        if (table[i].name && table[i].initial && set(options, &table[i], table[i].initial))
            return -1;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strncmp(word, "--", 2))
            return report("'%s': options begin with --; see --help", word);
        const char *equal = strchr(word, '=');
        const struct option *o = find(word + 2, equal ? (size_t)(equal - word - 2) : strlen(word) - 2);
        if (!o)
            return unknown(word);
        if (o->kind == FLAG && equal)
            return report("--%s takes no value", o->name);
        const char *value = o->kind == FLAG ? NULL : equal ? equal + 1 : ++i < argc ? argv[i] : NULL;
        if (o->kind != FLAG && !value)
            return report("--%s needs a value: %s", o->name, o->help);
        if (set(options, o, value))
            return -1;
        needs_profile = is_of_profile(o) ? o->name : needs_profile;
        implementations = o->offset == FIELD(implementations) ? value : implementations;
    }
    if (check_mode(options, needs_profile))
        return -1;
    if (options->profile && implementations)
        return report("--implementations is for the benchmark; --profile traces one --profile-implementation");
    if (options->profile && option_activities(options->profile_activities))
        return -1;
    return option_implementations(options) || check_attainable(options) || check_heads(options) ||
                   check_epochs(options) || check_cycles(options) || check_label(options)
               ? -1
               : 0;
}

void options_help(FILE *out)
{
    fprintf(out,
            "Usage: mpirun -n RANKS ddpbench [OPTION VALUE]...\n\n"
            "Trains a transformer on every rank, synchronises its gradients with each strategy in turn, and compares\n"
            "what the strategies cost; or, with --profile, shows where the time of one of them goes. The defaults are\n"
            "a GPU's; `make bench` has sizes for a laptop.\n");
    for (int i = 0; i < TABLE; i++) {
        const struct option *o = &table[i];
        if (!o->name)
            fprintf(out, "\n%s:\n", o->help);
        else if (o->initial && *o->initial)
            fprintf(out, "  --%-20s %s [%s]\n", o->name, o->help, o->initial);
        else
            fprintf(out, "  --%-20s %s\n", o->name, o->help);
    }
    fprintf(out, "\nImplementations:\n");
    for (int i = 0; strategies[i]; i++)
        fprintf(out, "  %-20s   %s\n", strategies[i]->name, strategies[i]->summary);
}

static void print_value(const struct options *options, const struct option *o, char *text, size_t size)
{
    const void *field = (const char *)options + o->offset;
    const struct comm_progress *progress = field;
    switch (o->kind) {
    case COUNT:
        snprintf(text, size, "%zu", *(const size_t *)field);
        break;
    case REAL:
        snprintf(text, size, "%.9g", *(const double *)field);
        break;
    case TEXT:
        snprintf(text, size, "%s", *(const char *const *)field);
        break;
    case FLAG:
        snprintf(text, size, "%s", *(const int *)field ? "true" : "false");
        break;
    case GRAD_DTYPE:
        snprintf(text, size, "%s", *(const enum comm_dtype *)field == COMM_BF16 ? "bf16" : "fp32");
        break;
    case PROGRESS:
        if (progress->kind == PROGRESS_SLEEP)
            snprintf(text, size, "sleep:%u", progress->sleep_us);
        else
            snprintf(text, size, "%s", progress->kind == PROGRESS_POLL ? "poll" : "auto");
        break;
    case REGIME:
        snprintf(text, size, "%s", *(const enum regime *)field == REGIME_WARMUP ? "warmup" : "active");
        break;
    case SORT:
        snprintf(text, size, "%s", sort_name[*(const enum sort *)field]);
        break;
    case DELAY:
        option_print_delay(field, text, size);
        break;
    case THRESHOLDS:
        option_print_thresholds(field, text, size);
        break;
    }
}

void options_each(const struct options *options,
                  void (*each)(void *context, const char *name, const char *value, int is_text), void *context)
{
    char text[4096];
    for (int i = 0; i < TABLE; i++)
        if (table[i].name && table[i].offset != FIELD(help) && table[i].offset != FIELD(version)) {
            enum kind kind = table[i].kind;
            print_value(options, &table[i], text, sizeof text);
            each(context, table[i].name, text, kind != COUNT && kind != REAL && kind != FLAG);
        }
}
