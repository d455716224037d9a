/* options.c - the command line of `ddpbench allreduce`, with the names and letters of nccl-tests where nccl-tests
 * has the option; and the message sizes: a range, a list, or the sizes that a model's strategies send. */
#include "allreduce/allreduce.h"

#include "ddp/comm_mpi.h"
#include "ddp/plan.h"
#include "kernels/error.h"

#include <math.h>
#include <string.h>

#define MESSAGE_MOST_BYTES 1099511627776.0 /* 1 TiB */
#define FIELD(field)       offsetof(struct allreduce_options, field)

/* ---- the rows ---- */

static const char *const kinds[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast",
                                    NULL}; /* enum comm_kind */
static const char *const blocking_choices[] = {"auto", "0", "1", "yield", NULL};
static const char *const rank_time_numbers[] = {"0", "1", "2", "3", NULL};

/* clang-format off */
static const struct option range_rows[] = {
    {.name = "min-bytes", .letter = 'b', .common = 1, .kind = &option_bytes, .offset = FIELD(min_bytes),
     .initial = "8", .low = 1, .high = MESSAGE_MOST_BYTES, .help = "smallest message"},
    {.name = "max-bytes", .letter = 'e', .common = 1, .kind = &option_bytes, .offset = FIELD(max_bytes),
     .initial = "64M", .low = 1, .high = MESSAGE_MOST_BYTES, .help = "largest message; K, M, G are binary"},
    {.name = "step-factor", .letter = 'f', .common = 1, .kind = &option_real, .offset = FIELD(step_factor),
     .initial = "2", .low = 1.001, .high = 1e6, .without = "step-bytes", .help = "each size is the previous one times this factor"},
    {.name = "step-bytes", .letter = 'i', .kind = &option_bytes, .offset = FIELD(step_bytes), .initial = "0",
     .high = MESSAGE_MOST_BYTES, .help = "or the previous one plus this many bytes; 0: use --step-factor"},
};

static const struct option size_rows[] = {
    {.name = "sizes", .common = 1, .kind = &option_text, .offset = FIELD(sizes), .initial = "",
     .without = "sizes-from-model", .help = "only these sizes: a list such as 8,64K,25M"},
    {.name = "sizes-from-model", .common = 1, .kind = &option_flag, .offset = FIELD(sizes_from_model),
     .help = "sizes of the messages that the strategies send for a model, with their bucket plans"},
};

static const struct option collective_rows[] = {
    {.name = "collective", .common = 1, .kind = &option_choice, .offset = FIELD(choice.kind), .initial = "all_reduce",
     .choices = kinds, .help = "all_reduce, reduce_scatter, all_gather or broadcast"},
    {.name = "datatype", .letter = 'd', .common = 1, .kind = &option_names, .offset = FIELD(choice.dtypes),
     .initial = "float", .choices = comm_dtype_name, .help = "float, bf16, double, int32; a list, or all"},
    {.name = "op", .letter = 'o', .common = 1, .kind = &option_names, .offset = FIELD(choice.ops), .initial = "sum",
     .choices = comm_op_name, .without = "collective=all_gather,collective=broadcast", .help = "sum, max, avg; a list, or all"},
    {.name = "root", .letter = 'r', .kind = &option_count, .offset = FIELD(choice.root), .initial = "0", .high = 1e6,
     .needs = "collective=broadcast", .help = "source rank of a broadcast"},
};

static const struct option measure_rows[] = {
    {.name = "iters", .letter = 'n', .common = 1, .kind = &option_count, .offset = FIELD(timing.iters),
     .initial = "0", .high = 1e6,
     .help = "timed iterations of a size; 0: as many as fit into 0.2 s at the pace of the fastest warm-up call, from "
     "5 to 2000 (with --overlap 1 s, 10 to 200)"},
    {.name = "blocking", .letter = 'z', .kind = &option_choice, .offset = FIELD(timing.blocking), .initial = "auto",
     .choices = blocking_choices, .without = "overlap",
     .help = "how calls follow one another: 0 queued, 1 each waited for, yield started and tested as strategies do, auto 0 with NCCL, 1 with MPI"},
    {.name = "overlap", .common = 1, .kind = &option_flag, .offset = FIELD(overlap),
     .help = "measures instead, for each size, computation alone, communication alone and both at once"},
};

static const struct option timing_rows[] = {
    {.name = "warmup-iters", .letter = 'w', .kind = &option_count, .offset = FIELD(timing.warmup_iters),
     .initial = "5", .low = 1, .high = 1e6, .help = "iterations before the timed ones"},
    {.name = "run-cycles", .letter = 'N', .kind = &option_count, .offset = FIELD(timing.cycles), .initial = "1",
     .low = 1, .high = 1e4,
     .help = "go through all sizes this many times, each cycle with a share of the iterations: drift affects all sizes alike"},
    {.name = "check", .letter = 'c', .kind = &option_count, .offset = FIELD(timing.check), .initial = "1",
     .high = 1e6,
     .help = "untimed iterations whose results are compared bit for bit (NCCL's avg: within its rounding)"},
    {.name = "average", .letter = 'a', .kind = &option_choice, .offset = FIELD(timing.time), .initial = "1",
     .choices = rank_time_numbers,
     .help = "an iteration's time is that of: 0 rank 0, 1 the mean of the ranks, 2 the fastest, 3 the slowest"},
    {.name = "nominal", .common = 1, .kind = &option_nominal, .offset = FIELD(nominal),
     .help = "rate of the link each way, such as 100gbit, nvlink4, pcie4x16 or bytes/s (12.5G/s): prints what share of "
     "it busbw reaches, and whether that is normal"},
    {.name = "report-cputime", .letter = 'C', .kind = &option_count, .offset = FIELD(show_cpu_time), .initial = "0",
     .high = 1, .help = "1: the table shows CPU time of a rank instead of elapsed time"},
    {.name = "iteration-times", .letter = 'I', .kind = &option_count, .offset = FIELD(show_iterations),
     .initial = "0", .high = 1,
     .help = "1: after the columns of nccl-tests, the table also shows calls, 95 % intervals, and min, median, p95, p99 and max over the iterations"},
};
/* clang-format on */

/* ---- the sizes of messages ---- */

/* Inserts a size in increasing order, unless the list has it already. Returns 1 if it was inserted, else 0. */
static int add_size(struct message_sizes *sizes, size_t bytes)
{
    size_t at = sizes->n;
    while (at && sizes->bytes[at - 1] > bytes)
        at--;
    if (at && sizes->bytes[at - 1] == bytes)
        return 0;
    sizes->bytes = allocate_more(sizes->bytes, sizes->n, sizeof *sizes->bytes);
    memmove(sizes->bytes + at + 1, sizes->bytes + at, (sizes->n++ - at) * sizeof *sizes->bytes);
    sizes->bytes[at] = bytes;
    return 1;
}

static int of_range(struct message_sizes *sizes, const struct allreduce_options *o)
{
    enum { MOST_SIZES = 100000 };
    if (o->max_bytes < o->min_bytes)
        return error_report("--max-bytes %zu is less than --min-bytes %zu", o->max_bytes, o->min_bytes);
    size_t range = o->max_bytes - o->min_bytes;
    if (o->step_bytes && range / o->step_bytes >= MOST_SIZES) /* --step-factor cannot make this many sizes */
        return error_report(
            "--step-bytes %zu: %zu to %zu bytes are %zu sizes, more than %d sizes; use a step of %zu or more",
            o->step_bytes, o->min_bytes, o->max_bytes, range / o->step_bytes + 1, MOST_SIZES, range / MOST_SIZES + 1);
    for (double bytes = (double)o->min_bytes; bytes <= (double)o->max_bytes;
         bytes = o->step_bytes ? bytes + (double)o->step_bytes : fmax(bytes + 1, floor(bytes * o->step_factor)))
        add_size(sizes, (size_t)bytes);
    return 0;
}

static int of_list(struct message_sizes *sizes, const char *text)
{
    static const struct option option = {.name = "sizes", .low = 1, .high = MESSAGE_MOST_BYTES};
    char word[32];
    size_t bytes;
    int more;
    for (struct option_list list = {option.name, text, 0}; (more = option_next_word(&list, word, sizeof word)) > 0;) {
        if (option_bytes.parse(&option, word, &bytes))
            return -1;
        if (!add_size(sizes, bytes))
            return error_report("--sizes: %zu bytes are listed twice; name them once", bytes);
    }
    return more < 0 || !sizes->n ? error_report("--sizes '%.200s': expected a list such as 8,64K,25M", text) : 0;
}

static int of_workload(struct allreduce_options *o)
{
    struct message_sizes *sizes = &o->messages;
    struct workload *workload = &o->workload;
    enum comm_kind kind = o->choice.kind;
    struct implementation implementation[MAX_IMPLEMENTATIONS];
    if (workload_check(workload, "synthetic"))
        return -1;
    int n = implementations_make(implementation, workload, 0);
    if (n < 0)
        return -1;
    struct model model;
    workload_plan(&model, workload, 1, 1, sizeof(float), 0);
    o->parameters = model.parameters;
    for (int i = 0; i < n; i++) {
        const struct strategy *strategy = implementation[i].strategy;
        const struct traits *traits = implementation_traits(&implementation[i]);
        struct plan plan;
        int whole = 0;
        for (int m = 0; m < traits->messages; m++)
            whole |=
                traits->message[m].kind == kind && traits->message[m].group == COMM_ALL && !traits->message[m].partial;
        if (!whole) /* its buckets are not sent whole by collectives of this kind */
            continue;
        strategy->plan(&plan, model.tensor, model.tensors, &implementation[i].size.caps);
        for (int bucket = 0; bucket < plan.n; bucket++)
            add_size(sizes, plan.bucket[bucket].count * comm_dtype_bytes(traits->wire));
        plan_destroy(&plan);
    }
    model_destroy(&model);
    return sizes->n ? 0
                    : error_report("--sizes-from-model: none of the --implementations sends its buckets by "
                                   "--collective %s; ddp_bucketed does by all_reduce, ddp_sharded by reduce_scatter "
                                   "and all_gather, with --wire-dtype fp32",
                                   comm_kind_name[kind]);
}

/* ---- the command line ---- */

/* Options of nccl-tests that have no counterpart here. */
static const struct option_hint hints[] = {
    {"g ngpus t nthreads",
     "a rank has one GPU and one thread that communicates; start a rank for each GPU: mpirun -n GPUS"},
    {NULL, NULL},
};

void allreduce_options_add(struct option_table *table, struct allreduce_options *o)
{
    table->hints = hints;
    struct option_section model = option_section_at(model_section, &o->workload);
    struct option_section from = option_section_at(model_from_section, &o->workload);
    struct option_section implementations = option_section_at(strategy_section, &o->workload);
    from.rows = 1; /* the others are about time */
    model.title = "Model of --sizes-from-model";
    implementations.title = "Strategies of --sizes-from-model";
    model.needs = from.needs = implementations.needs = "sizes-from-model";
    option_table_add(
        table, (struct option_section){"Range of sizes", OPTION_ROWS(range_rows), o, NULL, "sizes,sizes-from-model"});
    option_table_add(table, (struct option_section){"Or sizes", OPTION_ROWS(size_rows), o, NULL, NULL});
    option_table_add(table, (struct option_section){"Collective", OPTION_ROWS(collective_rows), o, NULL, NULL});
    option_table_add(table, (struct option_section){"Measurement", OPTION_ROWS(measure_rows), o, NULL, NULL});
    option_table_add(
        table, (struct option_section){"Timing, without --overlap", OPTION_ROWS(timing_rows), o, NULL, "overlap"});
    harness_options_add(table, &o->harness);
    option_table_add(table, model);
    option_table_add(table, from);
    option_table_add(table, implementations);
}

/* Fills o->messages with the sizes to time. Returns 0; or -1, reported. */
static int make_sizes(struct allreduce_options *o, const struct option_table *table, int on_gpus)
{
    if (option_was_given(table, "sizes"))
        return of_list(&o->messages, o->sizes);
    if (!o->sizes_from_model)
        return of_range(&o->messages, o);
    return workload_use_preset(&o->workload, table, "synthetic", on_gpus) || of_workload(o) ? -1 : 0;
}

int allreduce_options_check(void *line, const struct option_table *table, int ranks, int on_gpus)
{
    struct allreduce_options *o = line;
    if (make_sizes(o, table, on_gpus))
        return -1;
    enum comm_kind kind = o->choice.kind;
    size_t most_bytes = o->messages.bytes[o->messages.n - 1];
    if (o->choice.root >= (size_t)ranks)
        return error_report("--root %zu: there are ranks 0 to %d", o->choice.root, ranks - 1);
    if (o->overlap && ranks == 1)
        return error_report("--overlap needs two ranks: a single rank sends nothing");
    size_t parts = comm_parts(kind, ranks);
    for (int d = 0; d < COMM_DTYPES; d++) {
        size_t whole = comm_dtype_bytes((enum comm_dtype)d) * parts;
        if (!(o->choice.dtypes >> d & 1))
            continue;
        if (parts > 1 && most_bytes / whole > COMM_MPI_PIECE)
            return error_report("--collective %s: %zu bytes of %s over %d ranks are more than the limit of %zu "
                                "elements a rank",
                                comm_kind_name[kind], most_bytes, comm_dtype_name[d], ranks, COMM_MPI_PIECE);
        for (size_t i = 0; *o->sizes && i < o->messages.n; i++) /* timing_create rounds all other sizes */
            if (o->messages.bytes[i] % whole)
                return error_report("--sizes: %zu bytes of %s do not divide into elements%s; use multiples of %zu",
                                    o->messages.bytes[i], comm_dtype_name[d], parts > 1 ? " of each rank" : "", whole);
    }
    return 0;
}
