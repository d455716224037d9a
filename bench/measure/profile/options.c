/* options.c - the options of a profile, the rows that it trains, and the steps that it selects. */
#include "profile/controls.h"

#include "kernels/error.h"

#include <stdlib.h>
#include <string.h>

#define FIELD(field) offsetof(struct profile_options, field)

/* ---- option kinds: thresholds and ranks ---- */

static int thresholds_parse(const struct option *option, const char *text, void *field)
{
    static const char *const known[] = {"busy", "data_loading", "exposed", "memory", NULL};
    struct thresholds t = *(struct thresholds *)field;
    double *const value_of[] = {&t.busy, &t.data_loading, &t.exposed, &t.memory}, percent;
    char name[32], value[32];
    int more;
    for (struct option_list list = {option->name, text, 0}; (more = option_next_pair(&list, name, value)) > 0;) {
        size_t i = 0;
        while (known[i] && strcmp(name, known[i]))
            i++;
        if (!known[i] || option_number(value, &percent) || percent <= 0 || percent > 100)
            return error_report(
                "--%s %s=%s: expected busy, data_loading, exposed or memory = a percentage above 0, at most 100",
                option->name, name, value);
        *value_of[i] = percent;
    }
    if (more < 0 || !*text)
        return error_report("--%s '%s': expected a list such as busy=70,exposed=20", option->name, text);
    *(struct thresholds *)field = t;
    return 0;
}

static void thresholds_print(const struct option *option, const void *field, char *text, size_t size)
{
    (void)option;
    const struct thresholds *t = field;
    snprintf(text, size, "busy=%g,data_loading=%g,exposed=%g,memory=%g", t->busy, t->data_loading, t->exposed,
             t->memory);
}

static int ranks_parse(const struct option *option, const char *text, void *field)
{
    struct rank_list list = {.all = !strcmp(text, "all")};
    char word[16], *end;
    int more;
    for (struct option_list l = {option->name, list.all ? "" : text, 0};
         (more = option_next_word(&l, word, sizeof word)) > 0;) {
        long rank = *word >= '0' && *word <= '9' ? strtol(word, &end, 10) : -1;
        if (rank < 0 || *end || rank > 1000000 || list.n == (int)(sizeof list.rank / sizeof *list.rank))
            break;
        if (rank_list_has(&list, (int)rank))
            return error_report("--%s: rank %ld is listed twice; name it once", option->name, rank);
        list.rank[list.n++] = (int)rank;
    }
    if (more || (!list.all && !list.n)) /* more is not 0: the list is malformed */
        return error_report("--%s %s: expected all, or a list such as 0,3", option->name, text);
    *(struct rank_list *)field = list;
    return 0;
}

int rank_list_check(const struct rank_list *list, int ranks)
{
    for (int i = 0; i < list->n; i++)
        if (list->rank[i] >= ranks)
            return error_report("--profile-ranks: there is no rank %d among %d; allowed: 0 to %d", list->rank[i], ranks,
                                ranks - 1);
    return 0;
}

int rank_list_has(const struct rank_list *list, int rank)
{
    for (int i = 0; i < list->n; i++)
        if (list->rank[i] == rank)
            return 1;
    return list->all;
}

static const struct option_kind option_thresholds = {VALUE_TEXT, "VALUE", thresholds_parse, thresholds_print};
static const struct option_kind option_ranks = {VALUE_TEXT, "VALUE", ranks_parse, NULL};

/* ---- the table ---- */

static const char *const activity_names[] = {"auto", "cpu", "cuda", "cpu,cuda", NULL};
static const char *const sort_names[] = {"calls", "total",     "time",   "share", "mean",
                                         "flops", "bandwidth", "memory", NULL};

/* clang-format off */
static const struct option option_rows[] = {
    {.name = "profile", .also = "profile-memory with-stack profiler", .common = 1, .kind = &option_flag, .offset = FIELD(profile),
     .help = "trace the steps of an implementation, then measure its overlap against controls, --rounds times (0: "
     "trace only)"},
    {.name = "profile-implementation", .common = 1, .kind = &option_strategies, .offset = FIELD(implementations),
     .initial = "ddp", .value_name = "IMPLEMENTATIONS",
     .help = "an implementation from the list below, a list of them, or all; several are also compared"},
    {.name = "profile-inference", .kind = &option_flag, .offset = FIELD(inference),
     .without = "profile-implementation,bucket-size-mb,wire-dtype,shard,update-in-backward,forward-only,grad-accumulation,"
     "lr,max-norm,warmup-epochs,regime=warmup,checkpoint-every,inject-delay",
     .help = "profile inference: read a batch, forward pass, save the predictions of each token"},
    {.name = "profile-output-dir", .common = 1, .kind = &option_path, .offset = FIELD(output_dir), .initial = "",
     .help = "directory of the traces and the summary; default results/<time>[-<label>]"},
    {.name = "profile-wait", .kind = &option_count, .offset = FIELD(wait), .initial = "0", .high = 1e9,
     .help = "steps at the start of a cycle that are not traced"},
    {.name = "profile-warmup", .kind = &option_count, .offset = FIELD(warmup), .initial = "0", .high = 1e9,
     .help = "then steps that are traced and discarded"},
    {.name = "profile-active", .kind = &option_count, .offset = FIELD(active), .initial = "0", .high = 1e9,
     .help = "then steps that are traced and kept; 0: all that remain"},
    {.name = "profile-repeat", .kind = &option_count, .offset = FIELD(repeat), .initial = "0", .high = 1e9,
     .help = "cycles; 0: as many as the epochs' steps allow"},
    {.name = "profile-activities", .kind = &option_choice, .offset = FIELD(activities), .initial = "auto",
     .choices = activity_names,
     .help = "what to trace: cpu (operations as the host requests them), cuda (what GPUs do), cpu,cuda, or auto "
     "(both, where there is a GPU)"},
    {.name = "profile-ranks", .kind = &option_ranks, .offset = FIELD(ranks), .initial = "all",
     .help = "ranks that write a trace: all, or a list such as 0,3"},
    {.name = "profile-buffer-mb", .kind = &option_real, .offset = FIELD(buffer_mb), .initial = "12", .low = 0.01,
     .high = 1e6, .help = "memory for captured spans, MiB a rank; a full one ends the capture"},
    {.name = "trace-gzip", .kind = &option_flag, .offset = FIELD(trace_gzip), .help = "compress the traces"},
    {.name = "verbose", .kind = &option_flag, .offset = FIELD(verbose),
     .help = "print all rows of all tables; summary.json always has them"},
    {.name = "profile-sort", .also = "sort-by", .kind = &option_choice, .offset = FIELD(sort), .initial = "time", .choices = sort_names,
     .help = "column by which operations are sorted: calls, total, time or share (without those inside), mean (of a call), flops (a second), bandwidth or memory"},
    {.name = "thresholds", .kind = &option_thresholds, .offset = FIELD(thresholds),
     .initial = "busy=70,data_loading=30,exposed=20,memory=90",
     .help = "percentages beyond which figures become findings; name only those to change"},
};
/* clang-format on */

/* Options of others, or of earlier versions, that have no counterpart here. */
static const struct option_hint hints[] = {
    {"record-shapes with-flops profile-counters", "traces always have shapes, FLOP, learning rate and loss"},
    {"cuda-profiler-range", "captured steps on a GPU are always bracketed for nsys and ncu"},
    {"prefetch prefetch-factor", "each of --data-workers prepares one micro-batch in advance"},
    {NULL, NULL},
};

void profile_options_add(struct option_table *table, struct profile_options *options)
{
    table->hints = hints;
    option_table_add(table, (struct option_section){
                                .title = "Profile", OPTION_ROWS(option_rows), .base = options, .needs = "profile"});
}

/* ---- rows of the training: profiles and controls ---- */

/* Adds a copy of a row that is not captured, labelled `label`; with several profiles, `label`:<label of the row>. */
static struct implementation *add_control(struct training_options *t, const struct implementation *of,
                                          const char *label, int several)
{
    struct implementation *row = &t->implementation[t->n++];
    *row = *of;
    row->captured = 0;
    snprintf(row->label, sizeof row->label, several ? "%s:%.*s" : "%s", label,
             IMPLEMENTATION_LABEL - 1 - (int)sizeof "after_backward", of->label);
    return row;
}

int profile_rows_make(struct training_options *t)
{
    struct implementation *wanted = allocate(MAX_IMPLEMENTATIONS, sizeof *wanted);
    int n = implementations_make(wanted, &t->workload, t->update_in_backward), has_none = 0;
    enum { MOST = (MAX_IMPLEMENTATIONS - 1) / 3 };
    if (n > MOST)
        n = error_report("--profile-implementation: %d profiles; at most %d in one run", n, MOST);
    for (const struct implementation *w = wanted; w < wanted + n; w++)
        if (!strcmp(w->label, "untraced") || !strcmp(w->label, "after_backward") || !strcmp(w->label, "comparison") ||
            (!strcmp(w->label, strategy_none.name) && implementation_traits(w)->reduces))
            n = error_report("--profile-implementation: the label '%s' is reserved; choose another", w->label);
    t->n = 0;
    for (const struct implementation *w = wanted; w < wanted + n; w++) {
        t->implementation[t->n] = *w;
        t->implementation[t->n].traced = t->implementation[t->n].captured = 1;
        const struct implementation *row = &t->implementation[t->n++];
        add_control(t, row, "untraced", n > 1)->traced = 0;
        if (implementation_traits(row)->overlaps)
            add_control(t, row, "after_backward", n > 1)->after_backward = 1;
        has_none |= !implementation_traits(row)->reduces;
    }
    if (n > 0 && !has_none) {
        t->implementation[t->n] = (struct implementation){.strategy = &strategy_none, .traced = 1};
        snprintf(t->implementation[t->n++].label, IMPLEMENTATION_LABEL, "%s", strategy_none.name);
    }
    free(wanted);
    return n < 0 ? -1 : 0;
}

struct profile_rows profile_rows_find(const struct implementation *row, int n, int captured)
{
    const struct traits *traits =
        implementation_traits(&row[captured]); /* controls follow the captured row (profile_rows_make) */
    struct profile_rows rows = {captured, captured + 1, traits->overlaps ? captured + 2 : -1, -1};
    for (int i = 0; i < n && traits->reduces; i++)
        if (row[i].traced && !implementation_traits(&row[i])->reduces)
            rows.none = i;
    return rows;
}

/* ---- checks ---- */

int profile_options_check(const struct profile_options *o, const struct option_table *table, struct training_options *t)
{
    if (option_was_given(table, "implementations"))
        return error_report("--implementations is for the benchmark; --profile traces --profile-implementation");
    if (option_was_given(table, "output"))
        return error_report("--output is for the benchmark; with --profile use --profile-output-dir");
    if (o->inference && workload_is_replayed(&t->workload))
        return error_report("--profile-inference: the model of --model-from is replayed, and predicts nothing");
    t->infers = o->inference;
    t->forward_only |= o->inference;
    t->warmup_epochs = o->inference ? 0 : t->warmup_epochs;
    enum { BLOCK_STEPS = 3 }; /* default number of timed steps; fewer if the warm-up has fewer steps */
    if (training_options_check(t, table, BLOCK_STEPS, 1))
        return -1;
    size_t cycle = o->wait + o->warmup + (o->active ? o->active : 1), cycles = o->repeat ? o->repeat : 1;
    size_t steps = t->num_epochs * t->steps_per_epoch;
    if (!o->active && o->repeat > 1)
        return error_report("--profile-repeat %zu needs --profile-active: how many steps of a cycle to keep",
                            o->repeat);
    if (cycle * cycles > steps)
        return error_report(
            "the %zu x %zu steps of --profile-wait, --profile-warmup and --profile-active are more than the "
            "%zu steps of the run: raise --num-epochs or --steps-per-epoch",
            cycles, cycle, steps);
    t->workload.strategies = o->implementations; /* without --profile: of --implementations */
    if (o->inference)
        t->workload.strategies = (struct strategy_list){1, {{.label = "inference", .strategy = &strategy_none}}};
    if (profile_rows_make(t))
        return -1;
    for (const struct implementation *row = t->implementation; row < t->implementation + t->n; row++)
        if (implementation_traits(row)->averages)
            return error_report("--profile-implementation: %s cannot be profiled, since its steps differ: most do not "
                                "communicate; the benchmark has its times",
                                row->label);
        else if (t->forward_only && implementation_traits(row)->reduces)
            return error_report("--forward-only has no gradients to reduce: use --profile-implementation none");
    return 0;
}

/* ---- schedule ---- */

size_t capture_steps(const struct profile_options *o, size_t steps)
{
    size_t cycle = o->wait + o->warmup + o->active;
    return o->active && o->repeat && o->repeat <= steps / cycle ? o->repeat * cycle : steps;
}

/* Returns how many steps of a capture are kept. */
static size_t capture_kept(const struct profile_options *o, size_t steps)
{
    size_t n = capture_steps(o, steps), idle = o->wait + o->warmup;
    size_t cycle = o->active ? idle + o->active : n + idle + 1, rest = n % cycle;
    return n / cycle * o->active + (rest > idle ? rest - idle : 0);
}

enum capture_state capture_state(const struct profile_options *o, size_t step)
{
    size_t within = o->active ? step % (o->wait + o->warmup + o->active) : step;
    return within < o->wait ? CAPTURE_WAIT : within < o->wait + o->warmup ? CAPTURE_WARMUP : CAPTURE_ACTIVE;
}

/* ---- a dry run ---- */

struct recording profile_recording(const struct profile_options *o)
{
    int cuda = o->activities == TRACE_CUDA || o->activities == TRACE_CPU_CUDA;
    return (struct recording){.operations = 1,
                              .gpu = o->activities != TRACE_CPU,
                              .buffer_mb = o->buffer_mb,
                              .gpu_option = cuda ? "profile-activities cuda" : NULL};
}

int profile_dry_run(const struct profile_options *o, const struct run_options *run, int ranks, int on_gpus,
                    cJSON *summary)
{
    const struct training_options *t = &run->training;
    const struct recording recording = profile_recording(o);
    size_t profiles = 0;
    for (int i = 0; i < t->n; i++)
        profiles += t->implementation[i].captured != 0;
    return training_dry_run(run, &recording, ranks, on_gpus,
                            profiles * capture_kept(o, t->num_epochs * t->steps_per_epoch), 0, summary);
}
