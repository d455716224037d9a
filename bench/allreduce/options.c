/* options.c - the command line of `ddpbench allreduce`: the names and letters are nccl-tests' where it has them.
 */
#include "allreduce/options.h"

#include "allreduce/sizes.h"
#include "ddp/comm_mpi.h"
#include "kernels/error.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) offsetof(struct sweep_options, field)

const char *const sweep_average_name[AVERAGES] = {"rank 0", "mean of ranks", "fastest rank", "slowest rank"};

/* ---- values ---- */

static int kind_parse(const struct option *option, const char *text, void *field)
{
    int choice = option_choice(option, text, comm_kind_name, COMM_KINDS);
    if (choice >= 0)
        *(enum comm_kind *)field = (enum comm_kind)choice;
    return choice < 0 ? -1 : 0;
}

static void kind_print(const void *field, char *text, size_t size)
{
    snprintf(text, size, "%s", comm_kind_name[*(const enum comm_kind *)field]);
}

static const char *const call_name[] = {"blocking", "nonblocking"};

static int call_parse(const struct option *option, const char *text, void *field)
{
    int choice = option_choice(option, text, call_name, 2);
    if (choice >= 0)
        *(int *)field = choice;
    return choice < 0 ? -1 : 0;
}

static void call_print(const void *field, char *text, size_t size)
{
    snprintf(text, size, "%s", call_name[*(const int *)field]);
}

static const struct option_kind option_collective = {VALUE_TEXT, kind_parse, kind_print};
static const struct option_kind option_call = {VALUE_TEXT, call_parse, call_print};

/* ---- the table ---- */

static const struct option range_options[] = {
    {"min-bytes", &option_bytes, FIELD(min_bytes), "8", 1, SWEEP_MOST_BYTES, "smallest message", 'b'},
    {"max-bytes", &option_bytes, FIELD(max_bytes), "64M", 1, SWEEP_MOST_BYTES, "largest message; K, M, G are binary",
     'e'},
    {"step-factor", &option_real, FIELD(step_factor), "2", 1.001, 1e6, "each size is the last times this", 'f'},
    {"step-bytes", &option_bytes, FIELD(step_bytes), "0", 0, SWEEP_MOST_BYTES,
     "or the last plus this; 0: use the factor", 'i'},
};

static const struct option size_options[] = {
    {"sizes", &option_text, FIELD(size_list), "", 0, 0, "just these: a list such as 8,64K,25M", 0},
    {"sizes-from-model", &option_flag, FIELD(sizes_from_model), NULL, 0, 0,
     "those that the strategies below send for the model below, with their bucket plans", 0},
};

static const struct option collective_options[] = {
    {"collective", &option_collective, FIELD(kind), "all_reduce", 0, 0,
     "all_reduce, reduce_scatter, all_gather or broadcast", 0},
    {"datatype", &option_text, FIELD(dtypes), "float", 0, 0, "float, double, bf16, int32; a list, or all", 'd'},
    {"op", &option_text, FIELD(ops), "sum", 0, 0, "sum, max, avg; a list, or all", 'o'},
    {"root", &option_count, FIELD(root), "0", 0, 1e6, "of a broadcast", 'r'},
};

static const struct option call_options[] = {
    {"warmup-iters", &option_count, FIELD(warmup_iters), "5", 1, 1e6, "iterations before them", 'w'},
    {"run-cycles", &option_count, FIELD(run_cycles), "1", 1, 1e4,
     "go through all sizes that often, each cycle with a share of the iterations: drift hits all sizes alike", 'N'},
    {"check", &option_count, FIELD(check), "1", 0, 1e6,
     "untimed iterations whose results are compared bit for bit (NCCL's avg: within its rounding)", 'c'},
    {"average", &option_count, FIELD(average), "1", 0, AVERAGES - 1,
     "an iteration's time is that of: 0 rank 0, 1 the mean of the ranks, 2 the fastest, 3 the slowest", 'a'},
    {"flip-bit", &option_count, FIELD(flip_bit), "0", 0, 1e15,
     "flip this bit (counted from 1) of rank 0's result before it is checked, to see that it is found; 0: none", 0},
};

static const struct option measure_options[] = {
    {"iters", &option_count, FIELD(iters), "0", 0, 1e6,
     "timed iterations of a size; 0: as many as fit into 0.2 s at the pace of the fastest warm-up call, from 5 to 2000 "
     "(with --overlap 1 s, 10 to 200)",
     'n'},
    {"overlap", &option_flag, FIELD(overlap), NULL, 0, 0,
     "instead: computation alone, communication alone and both at once, for each size", 0},
    {"timeout", &option_real, FIELD(timeout_s), "300", 0, 1e6,
     "seconds without progress after which a collective ends the job; 0: never", 'T'},
    {"call", &option_call, FIELD(nonblocking), "blocking", 0, 0,
     "blocking: the library's own call, with MPI and for avg a division; nonblocking: as the strategies send, started, "
     "tested, "
     "yielding; with --overlap always",
     0},
};

static const struct option output_options[] = {
    {"report-cputime", &option_count, FIELD(report_cputime), "0", 0, 1,
     "1: the table shows CPU time of a rank instead of elapsed time", 'C'},
    {"iteration-times", &option_count, FIELD(show_iterations), "0", 0, 1,
     "1: the table also shows min, median, p95, p99 and max over the iterations", 'I'},
    {"output", &option_text, FIELD(output), "", 0, 0, "result directory; default results/<time>[-<label>]", 0},
    {"output-file", &option_text, FIELD(output_file), "", 0, 0, "also write the summary, JSON, to this file", 'J'},
    {"label", &option_label, FIELD(label), "", 0, 0, "a name for this run, kept in its results", 0},
    {"monitor-cpu", &option_flag, FIELD(monitor_cpu), NULL, 0, 0,
     "write what the CPUs do, for whom and how fast, every second", 0},
    {"monitor-gpu", &option_flag, FIELD(monitor_gpu), NULL, 0, 0,
     "write what NVIDIA GPUs do and what holds them back, every second", 0},
};

static const struct option help_options[] = {
    {"help", &option_flag, FIELD(help), NULL, 0, 0, "print this and stop", 'h'},
    {"version", &option_flag, FIELD(version), NULL, 0, 0, "print the version and stop", 0},
};

enum { SWEEP_SECTIONS = 10 };
#define ROWS(rows) (rows), sizeof(rows) / sizeof *(rows)

static void make_sections(struct sweep_options *options, struct option_section section[SWEEP_SECTIONS])
{
    const struct option_section all[SWEEP_SECTIONS] = {
        {"Range of sizes", ROWS(range_options), options},
        {"Or sizes", ROWS(size_options), options},
        {"What is sent", ROWS(collective_options), options},
        {"How it is measured", ROWS(measure_options), options},
        {"How calls are measured", ROWS(call_options), options},
        {"Output", ROWS(output_options), options},
        options_model(&options->model),
        options_strategies(&options->model),
        open_device_options(&options->model.device),
        {"Help", ROWS(help_options), options},
    };
    memcpy(section, all, sizeof all);
}

/* ---- lists ---- */

/* Sets use[i] for each name of a comma list, or for all of them. */
static int parse_names(const char *option, const char *text, const char *const *name, int n, int *use)
{
    const struct option named = {.name = option};
    char word[32];
    int all = !strcmp(text, "all");
    for (int i = 0; i < n; i++)
        use[i] = all;
    for (const char *at = text; !all; at++) {
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at); /* one that is cut is no name either */
        int choice = option_choice(&named, word, name, n);
        if (choice < 0)
            return -1;
        use[choice] = 1;
        at += length;
        if (!*at)
            break;
    }
    return 0;
}

/* ---- the command line ---- */

/* The last option of each sort that was given. */
struct given {
    const void *model; /* the structure that the model's options fill */
    const char *range, *factor, *bytes, *of_model, *not_of_overlap;
    int list;
};

/* Of the strategies' options, whether this one is for every sweep. */
static int of_any_sweep(const char *name)
{
    static const char *const names[] = {"comm", "nccl-max-ctas", "mpi-progress", "threads"};
    int found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found |= !strcmp(name, names[i]);
    return found;
}

static void note(void *context, const struct option_section *section, const struct option *option, const char *value)
{
    struct given *given = context;
    (void)value;
    if (section->base == given->model) {
        if (!of_any_sweep(option->name))
            given->of_model = option->name;
    } else if (section->row == range_options) {
        given->range = option->name;
        if (option->offset == FIELD(step_factor))
            given->factor = option->name;
        if (option->offset == FIELD(step_bytes))
            given->bytes = option->name;
    } else if (section->row == call_options || option->offset == FIELD(report_cputime) ||
               option->offset == FIELD(show_iterations))
        given->not_of_overlap = option->name;
    given->list |= section->row == size_options && option->offset == FIELD(size_list);
}

static int check_given(const struct sweep_options *o, const struct given *given)
{
    if (given->list && !*o->size_list)
        return error_report("--sizes: expected a list such as 8,64K,25M");
    if (*o->size_list && o->sizes_from_model)
        return error_report("--sizes and --sizes-from-model are two ways to say the same; use one");
    if ((*o->size_list || o->sizes_from_model) && given->range)
        return error_report("--%s does not go with %s, which says the sizes itself", given->range,
                            *o->size_list ? "--sizes" : "--sizes-from-model");
    if (given->of_model && !o->sizes_from_model)
        return error_report("--%s needs --sizes-from-model", given->of_model);
    if (given->factor && given->bytes && o->step_bytes)
        return error_report("--step-factor and --step-bytes are two ways to step; use one");
    if (o->overlap && given->not_of_overlap)
        return error_report("--%s does not go with --overlap, which measures in a way of its own",
                            given->not_of_overlap);
    if (o->flip_bit && !o->check)
        return error_report("--flip-bit needs results that are checked, and --check is 0");
    return 0;
}

int sweep_options_parse(struct sweep_options *options, int argc, char *const argv[])
{
    *options = (struct sweep_options){0};
    struct option_section sections[SWEEP_SECTIONS];
    make_sections(options, sections);
    struct given given = {.model = &options->model};
    struct option_table table = {sections, SWEEP_SECTIONS, note, NULL, &given};
    options->model.data = "synthetic";
    if (option_table_parse(&table, argc, argv) || check_given(options, &given))
        return -1;
    if (options->help || options->version)
        return 0;
    if (parse_names("datatype", options->dtypes, comm_dtype_name, COMM_DTYPES, options->use_dtype) ||
        parse_names("op", options->ops, comm_op_name, COMM_OPS, options->use_op))
        return -1;
    return sweep_sizes_make(options);
}

void sweep_options_destroy(struct sweep_options *options)
{
    free(options->size);
    options->size = NULL;
}

int sweep_options_fit(const struct sweep_options *o, int ranks)
{
    if (o->root >= (size_t)ranks)
        return error_report("--root %zu: there are ranks 0 to %d", o->root, ranks - 1);
    if (o->overlap && ranks == 1)
        return error_report("--overlap needs two ranks: one sends nothing");
    double most = (double)o->size[o->sizes - 1];
    int scattered = o->kind == COMM_REDUCE_SCATTER || o->kind == COMM_ALL_GATHER;
    for (int d = 0; d < COMM_DTYPES; d++)
        if (o->use_dtype[d] && scattered &&
            most / (double)comm_dtype_bytes((enum comm_dtype)d) / ranks > (double)COMM_MPI_PIECE)
            return error_report(
                "--collective %s: %.0f bytes of %s over %d ranks are more than %zu elements a rank, which is "
                "the most",
                comm_kind_name[o->kind], most, comm_dtype_name[d], ranks, COMM_MPI_PIECE);
    return 0;
}

void sweep_options_help(FILE *out)
{
    struct sweep_options shown = {0}, *options = &shown;
    struct option_section sections[SWEEP_SECTIONS];
    make_sections(options, sections);
    struct option_table table = {.section = sections, .sections = SWEEP_SECTIONS};
    fprintf(
        out,
        "Usage: mpirun -n RANKS ddpbench allreduce [OPTION VALUE]...\n\n"
        "Times a collective over a range of sizes, out of place and in place, checks its results, and\n"
        "fits latency and bandwidth to what it found. Options and columns are those of nccl-tests where it has\n"
        "them. The options under Model and Strategies are for --sizes-from-model, but for --comm, --nccl-max-ctas,\n"
        "--mpi-progress and --threads. Exit status: 0 fine; 1 the run failed, or a result was wrong; 2 the options "
        "make no sense.\n");
    option_table_help(out, &table);
    options_help_implementations(out);
}

void sweep_options_each(const struct sweep_options *given,
                        void (*each)(void *context, const char *name, const char *value, int is_text), void *context)
{
    struct sweep_options copy = *given, *options = &copy;
    struct option_section sections[SWEEP_SECTIONS];
    make_sections(options, sections);
    struct option_table table = {.section = sections, .sections = SWEEP_SECTIONS};
    option_table_each(&table, each, context);
}
