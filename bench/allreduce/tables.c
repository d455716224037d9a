/* tables.c - the tables of timings, of overlaps and of the link. */
#include "allreduce/tables.h"

#include "allreduce/link_model.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void create(struct growing_table *table, const char *key, const char *title, const char *note)
{
    struct table empty = {.key = key, .title = title, .column = table->column, .columns = table->columns, .note = note};
    table->json = table_json(&empty);
}

/* ---- timings ---- */

/* A line of the table: a size in both placements. */
struct timing_row {
    size_t bytes, count;
    const char *dtype, *op;
    int root;                           /* -1: there is none */
    struct collective_timing placed[2]; /* out of place, in place */
};

#define ROW(field)    offsetof(struct timing_row, field)
#define TIMING(field) offsetof(struct collective_timing, field)
/* clang-format off */
#define PLACED(key) {key "_out_of_place", key "_in_place"}

static const struct column size_columns[] = {
    {"bytes", "#           \n#       size\n#        (B)", COLUMN_COUNT, ROW(bytes), "B", 1, 12, 0},
    {"count", "\ncount\n(elements)", COLUMN_COUNT, ROW(count), NULL, 1, 12, 0},
    {"dtype", "\ntype", COLUMN_NAME, ROW(dtype), NULL, 1, 6, 0},
    {"op", "\nredop", COLUMN_NAME, ROW(op), NULL, 1, 5, 0},
    {"root", "\nroot", COLUMN_INT, ROW(root), NULL, 1, 4, 0},
};

/* Of each placement: its columns are those of a timing, under keys and headings of its own. */
static const struct {
    const char *key[2], *heading[2];
    enum { SHOW_ALWAYS, SHOW_TIME, SHOW_CPU_TIME, SHOW_ITERATIONS, SHOW_NEVER } show;
    struct column column;
} placed_columns[] = {
#define US(field, w) {.kind = COLUMN_REAL, .offset = TIMING(field), \
     .unit = "s", .scale = 1e6, .width = w, .decimals = -4}
#define GBS(field) {.kind = COLUMN_REAL, .offset = TIMING(field), \
     .unit = "B/s", .scale = 1e-9, .width = 7, .decimals = -3}
#define SAME(heading) {heading, heading}
    {PLACED("time"), {"out-of-place\ntime\n(us)", "in-place\ntime\n(us)"}, SHOW_TIME, US(time, 12)},
    {PLACED("cpu_time"), {"out-of-place\ncputime\n(us)", "in-place\ncputime\n(us)"}, SHOW_CPU_TIME, US(cpu_time, 12)},
    {PLACED("algbw"), SAME("\nalgbw\n(GB/s)"), SHOW_ALWAYS, GBS(algbw)},
    {PLACED("busbw"), SAME("\nbusbw\n(GB/s)"), SHOW_ALWAYS, GBS(busbw)},
    {PLACED("wrong"), SAME("\n#wrong"), SHOW_ALWAYS, {.kind = COLUMN_REAL, .offset = TIMING(wrong), .width = 6}},
    {PLACED("time_min"), SAME("\ni_min\n(us)"), SHOW_ITERATIONS, US(iterations.min, 9)},
    {PLACED("time_median"), SAME("\ni_med\n(us)"), SHOW_ITERATIONS, US(iterations.median, 9)},
    {PLACED("time_p95"), SAME("\ni_p95\n(us)"), SHOW_ITERATIONS, US(iterations.p95, 9)},
    {PLACED("time_p99"), SAME("\ni_p99\n(us)"), SHOW_ITERATIONS, US(iterations.p99, 9)},
    {PLACED("time_max"), SAME("\ni_max\n(us)"), SHOW_ITERATIONS, US(iterations.max, 9)},
    {PLACED("iterations"), SAME(NULL), SHOW_NEVER, {.kind = COLUMN_COUNT, .offset = TIMING(n)}},
    {PLACED("least_rank_median"), SAME(NULL), SHOW_NEVER, US(ranks.min, 9)},
    {PLACED("largest_rank_median"), SAME(NULL), SHOW_NEVER, US(ranks.max, 9)},
    {PLACED("slowest_rank"), SAME(NULL), SHOW_NEVER, {.kind = COLUMN_INT, .offset = TIMING(slowest_rank)}},
};
/* clang-format on */

void timing_table_create(struct growing_table *table, const struct timing_view *view, int in_place_only,
                         double bus_factor)
{
    const int shown[] = {[SHOW_ALWAYS] = 1,
                         [SHOW_TIME] = !view->cpu_time,
                         [SHOW_CPU_TIME] = view->cpu_time != 0,
                         [SHOW_ITERATIONS] = view->iterations != 0,
                         [SHOW_NEVER] = 0};
    char note[320];
    memcpy(table->column, size_columns, sizeof size_columns);
    table->columns = LENGTH(size_columns);
    for (int placement = in_place_only; placement < 2; placement++)
        for (size_t i = 0; i < LENGTH(placed_columns); i++) {
            struct column *column = &table->column[table->columns++];
            *column = placed_columns[i].column;
            column->key = placed_columns[i].key[placement];
            column->heading = shown[placed_columns[i].show] ? placed_columns[i].heading[placement] : NULL;
            column->offset += ROW(placed) + (size_t)placement * sizeof(struct collective_timing);
        }
    snprintf(note, sizeof note,
             "# time: median, over up to ten stretches of iterations, of their mean%s.\n"
             "# algbw = size / time, busbw = algbw x %.4g.\n",
             view->cpu_time ? "; cputime: mean CPU time of a rank in one iteration" : "", bus_factor);
    create(table, "timings", "", note);
}

const cJSON *timing_table_add(struct growing_table *table, const struct collective_timing *in_place)
{
    const struct collective *c = &in_place->collective;
    struct timing_row row = {.bytes = in_place->bytes,
                             .count = c->count,
                             .dtype = comm_dtype_name[c->dtype],
                             .op = timing_op(c),
                             .root = timing_root(c)};
    row.placed[1] = *in_place;
    if (c->kind != COMM_BROADCAST)
        row.placed[0] = in_place[-1];
    return table_add_row(table->json, table->column, table->columns, &row);
}

/* ---- overlaps ---- */

struct overlap_row {
    const char *dtype, *op;
    struct overlap_timing overlap;
};

#define OVERLAP(field) offsetof(struct overlap_row, overlap.field)
/* An estimate's interval lies behind its median, as two numbers. */
#define ESTIMATE(key, heading, heading_of_interval, field, unit, scale, width, decimals)                               \
    {key, heading, COLUMN_REAL, OVERLAP(field.median), unit, scale, width, decimals},                                  \
    {                                                                                                                  \
        key, heading_of_interval, COLUMN_INTERVAL, OVERLAP(field.ci_low), unit, scale, -18, decimals                   \
    }

/* clang-format off */
static const struct column overlap_columns[] = {
    {"bytes", "#       size\n#        (B)", COLUMN_COUNT, OVERLAP(bytes), "B", 1, 12, 0},
    {"count", "count\n(elements)", COLUMN_COUNT, OVERLAP(collective.count), NULL, 1, 12, 0},
    {"dtype", "type", COLUMN_NAME, offsetof(struct overlap_row, dtype), NULL, 1, 6, 0},
    {"op", "redop", COLUMN_NAME, offsetof(struct overlap_row, op), NULL, 1, 5, 0},
    ESTIMATE("compute", "compute\n(us)", NULL, compute, "s", 1e6, 10, 1),
    ESTIMATE("comm", "comm\n(us)", NULL, comm, "s", 1e6, 10, 1),
    ESTIMATE("both", "both\n(us)", NULL, both, "s", 1e6, 10, 1),
    ESTIMATE("overlap", "overlap\n(%)", "[95 % interval]", overlap, "1", 100, 8, 1),
    ESTIMATE("compute_slowdown", "compute\nslowdown", NULL, compute_slowdown, "1", 1, 9, 2),
    ESTIMATE("comm_slowdown", "comm\nslowdown", NULL, comm_slowdown, "1", 1, 9, 2),
    {"rounds", "rounds", COLUMN_COUNT, OVERLAP(overlap.n), NULL, 1, 6, 0},
    {"matrix_products", NULL, COLUMN_COUNT, OVERLAP(products), NULL, 1, 6, 0},
};
/* clang-format on */

void overlap_table_create(struct growing_table *table, const struct device *device, const struct comm *comm)
{
    char title[240];
    size_t edge = overlap_timing_edge(device);
    memcpy(table->column, overlap_columns, sizeof overlap_columns);
    table->columns = LENGTH(overlap_columns);
    snprintf(title, sizeof title,
             "# Collectives in place, started before %zu x %zu matrix products and joined after them; %s%s", edge, edge,
             comm->on_device ? "" : "progress ", comm->progress);
    create(table, "overlaps", title,
           "# Medians over rounds of means over ranks. overlap = 1 - (both - compute) / comm, as osu_iallreduce, not\n"
           "# clamped: below 0 both at once take longer than one after the other. slowdown: time beside the other / "
           "alone.\n");
}

const cJSON *overlap_table_add(struct growing_table *table, const struct overlap_timing *overlap)
{
    const struct collective *c = &overlap->collective;
    struct overlap_row row = {comm_dtype_name[c->dtype], timing_op(c), *overlap};
    return table_add_row(table->json, table->column, table->columns, &row);
}

/* ---- the link ---- */

struct link_row {
    const char *dtype, *op, *placement;
    double from_bytes, to_bytes; /* of messages */
    struct link_regime regime;
};

#define LINK(field) offsetof(struct link_row, field)

/* clang-format off */
static const struct column link_columns[] = {
    {"dtype", "#  type\n#      ", COLUMN_NAME, LINK(dtype), NULL, 1, 7, 0},
    {"op", "redop", COLUMN_NAME, LINK(op), NULL, 1, 5, 0},
    {"placement", "placement", COLUMN_NAME, LINK(placement), NULL, 1, 12, 0},
    {"from_bytes", "from\n(B)", COLUMN_REAL, LINK(from_bytes), "B", 1, 12, 0},
    {"to_bytes", "to\n(B)", COLUMN_REAL, LINK(to_bytes), "B", 1, 12, 0},
    {"sizes", "sizes", COLUMN_COUNT, LINK(regime.sizes), NULL, 1, 5, 0},
    {"latency", "latency\n(us)", COLUMN_REAL, LINK(regime.latency), "s", 1e6, 12, -3},
    {"latency", "[95 % interval]", COLUMN_INTERVAL, LINK(regime.latency_interval), "s", 1e6, -15, -3},
    {"bandwidth", "bandwidth\n(GB/s)", COLUMN_REAL, LINK(regime.bandwidth), "B/s", 1e-9, 12, -3},
    {"bandwidth", "[95 % interval]", COLUMN_INTERVAL, LINK(regime.bandwidth_interval), "B/s", 1e-9, -18, -3},
    {"residual", "residual\n(%)", COLUMN_REAL, LINK(regime.residual), "1", 100, 8, 1},
};
/* clang-format on */

/* Whether two timings differ in size alone. */
static int same_family(const struct collective_timing *a, const struct collective_timing *b)
{
    return a->collective.dtype == b->collective.dtype && a->collective.op == b->collective.op &&
           a->in_place == b->in_place;
}

/* Adds the rows of the family of `first` if no earlier timing is of it; returns how many. */
static size_t add_family(struct link_row *row, const struct collective_timing *timing, size_t n, size_t first,
                         double factor, double *bytes, double *seconds)
{
    const struct collective_timing *of = &timing[first];
    struct link_regime regime[LINK_REGIMES];
    size_t sizes = 0;
    for (size_t i = 0; i < n; i++)
        if (same_family(&timing[i], of)) {
            if (i < first)
                return 0;
            bytes[sizes] = (double)timing[i].bytes * factor;
            seconds[sizes++] = timing[i].time;
        }
    int regimes = link_model_fit(regime, bytes, seconds, sizes);
    for (int r = 0; r < regimes; r++)
        row[r] =
            (struct link_row){comm_dtype_name[of->collective.dtype], timing_op(&of->collective),  timing_placement(of),
                              regime[r].from_bytes / factor,         regime[r].to_bytes / factor, regime[r]};
    return (size_t)regimes;
}

cJSON *link_table(const struct collective_timing *timing, size_t n, int ranks)
{
    enum { MOST_ROWS = COMM_DTYPES * COMM_OPS * 2 * LINK_REGIMES };
    struct link_row row[MOST_ROWS];
    double factor = n ? comm_bus_factor(timing->collective.kind, ranks) : 0;
    double *bytes = allocate(n, sizeof *bytes), *seconds = allocate(n, sizeof *seconds);
    size_t rows = 0;
    for (size_t i = 0; i < n && factor > 0; i++)
        rows += add_family(row + rows, timing, n, i, factor, bytes, seconds);
    free(bytes);
    free(seconds);
    struct table table = {"link",
                          "# The link: time = latency + bus bytes / bandwidth, bus bytes = size x busbw / algbw;\n"
                          "# residual: root mean square of (time - model) / time",
                          link_columns,
                          LENGTH(link_columns),
                          row,
                          rows,
                          sizeof *row,
                          0,
                          NULL};
    return rows ? table_json(&table) : NULL;
}
