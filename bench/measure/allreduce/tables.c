/* tables.c - the tables of timings, of overlaps and of the fitted link, and the figures of their columns. */
#include "allreduce/tables.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Makes a figure, without its interval, from the value of a column in a row. */
static struct figure figure_of(const struct collective_timing *t, const struct column *column, const char *name,
                               const void *row)
{
    struct figure figure = {.bytes = (double)t->bytes, .low = NAN, .high = NAN, .better = BETTER_LOWER};
    char root[24] = "";
    if (t->root >= 0)
        snprintf(root, sizeof root, " root %d", t->root);
    snprintf(figure.subject, sizeof figure.subject, "%s %s %s %s%s", comm_kind_name[t->collective.kind], t->dtype,
             t->op, t->placement, root);
    snprintf(figure.name, sizeof figure.name, "%s", name);
    snprintf(figure.unit, sizeof figure.unit, "%s", column->unit);
    memcpy(&figure.value, (const char *)row + column->offset, sizeof figure.value);
    return figure;
}

/* ---- timings ---- */

#define TIMING(field) offsetof(struct collective_timing, field)
/* clang-format off */
static const struct column size_columns[] = {
    {"bytes", "#           \n#       size\n#        (B)", COLUMN_COUNT, TIMING(bytes), "B", 1, 12, 0},
    {"count", "\ncount\n(elements)", COLUMN_COUNT, TIMING(collective.count), NULL, 1, 12, 0},
    {"dtype", "\ntype", COLUMN_NAME, TIMING(dtype), NULL, 1, 6, 0},
    {"op", "\nredop", COLUMN_NAME, TIMING(op), NULL, 1, 5, 0},
    {"root", "\nroot", COLUMN_INT, TIMING(root), NULL, 1, 4, 0},
};

/* Columns that each placement (out of place, in place) has under its own key and heading. Programs may read the
 * columns of nccl-tests by position, so all further columns come after those of both placements. */
static const struct {
    const char *name, *key[2], *heading[2];
    enum { SHOW_NEVER = 0, SHOW_ALWAYS = 1, SHOW_TIME = 2, SHOW_CPU_TIME = 4, OF_NCCL_TESTS = 7, SHOW_NOMINAL = 8, SHOW_ITERATIONS = 16 } show;
    enum better better; /* whether a higher or a lower figure is better */
    struct column column;
} placed_columns[] = {
#define NAMES(key) key, {key "_out_of_place", key "_in_place"}
#define SAME(heading) {heading, heading}
#define FIRST(heading) {"out-of-place\n" heading, "in-place\n" heading}
#define US(field) {NULL, NULL, COLUMN_REAL, TIMING(field), "s", 1e6, 10, -4}
#define GBS(field) {NULL, NULL, COLUMN_REAL, TIMING(field), "B/s", 1e-9, 7, -3}
    {NAMES("time"), FIRST("time\n(us)"), SHOW_TIME, BETTER_LOWER, US(time.median)},
    {NAMES("cpu_time"), FIRST("cputime\n(us)"), SHOW_CPU_TIME, BETTER_LOWER, US(cpu_time)},
    {NAMES("algbw"), SAME("\nalgbw\n(GB/s)"), SHOW_ALWAYS, BETTER_HIGHER, GBS(algbw)},
    {NAMES("busbw"), SAME("\nbusbw\n(GB/s)"), SHOW_ALWAYS, BETTER_HIGHER, GBS(busbw)},
    {"wrong_elements", {"wrong_out_of_place", "wrong_in_place"}, SAME("\n#wrong"), SHOW_ALWAYS, BETTER_LOWER,
     {NULL, NULL, COLUMN_REAL, TIMING(wrong), "1", 1, 9, 0}},
    {NAMES("nominal_share"), FIRST("nominal\n(%)"), SHOW_NOMINAL, BETTER_HIGHER,
     {NULL, NULL, COLUMN_REAL, TIMING(nominal_share), "1", 100, 12, 1}},
    {"iterations", {"iterations_out_of_place", "iterations_in_place"}, FIRST("calls\n"), SHOW_ITERATIONS, BETTER_NONE,
     {NULL, NULL, COLUMN_COUNT, TIMING(n), "1", 1, 12, 0}},
    {NAMES("half_width"), SAME("\n+-\n(%)"), SHOW_ITERATIONS, BETTER_NONE, {NULL, NULL, COLUMN_REAL, TIMING(half_width), "1", 100, 6, 1}},
    {NAMES("time_min"), SAME("\ni_min\n(us)"), SHOW_ITERATIONS, BETTER_LOWER, US(iterations.min)},
    {NAMES("time_mean"), SAME(NULL), SHOW_NEVER, BETTER_LOWER, US(iterations.mean)},
    {NAMES("time_median"), SAME("\ni_med\n(us)"), SHOW_ITERATIONS, BETTER_LOWER, US(iterations.median)},
    {NAMES("time_p95"), SAME("\ni_p95\n(us)"), SHOW_ITERATIONS, BETTER_LOWER, US(iterations.p95)},
    {NAMES("time_p99"), SAME("\ni_p99\n(us)"), SHOW_ITERATIONS, BETTER_LOWER, US(iterations.p99)},
    {NAMES("time_max"), SAME("\ni_max\n(us)"), SHOW_ITERATIONS, BETTER_LOWER, US(iterations.max)},
};
/* clang-format on */

void timing_table_create(struct growing_table *table, int show_cpu_time, int show_nominal, int show_iterations,
                         double bus_factor)
{
    const unsigned shown = SHOW_ALWAYS | (show_cpu_time ? SHOW_CPU_TIME : SHOW_TIME) |
                           (show_nominal ? SHOW_NOMINAL : 0) | (show_iterations ? SHOW_ITERATIONS : 0);
    char note[400];
    memcpy(table->column, size_columns, sizeof size_columns);
    table->columns = LENGTH(size_columns);
    for (int further = 0; further < 2; further++)
        for (int placement = 0; placement < 2; placement++)
            for (size_t i = 0; i < LENGTH(placed_columns); i++) {
                if (further == ((placed_columns[i].show & OF_NCCL_TESTS) != 0))
                    continue;
                struct column *column = &table->column[table->columns++];
                *column = placed_columns[i].column;
                column->key = placed_columns[i].key[placement];
                column->heading = placed_columns[i].show & shown ? placed_columns[i].heading[placement] : NULL;
                column->offset += (size_t)placement * sizeof(struct collective_timing);
            }
    snprintf(note, sizeof note,
             "time: the median of the means of up to ten stretches of iterations (calls)%s. algbw = size / time, busbw "
             "= algbw x %.4g.%s",
             show_cpu_time ? "; cputime: mean CPU time of a rank in one iteration" : "", bus_factor,
             show_iterations ? " +-: the larger half of the 95 % interval of time." : "");
    table->json = table_json(
        &(struct table){.key = "timings", .column = table->column, .columns = table->columns, .note = {note}});
}

cJSON *timing_table_add(struct growing_table *table, const struct collective_timing *out_of_place,
                        const struct collective_timing *in_place)
{
    struct collective_timing row[] = {out_of_place ? *out_of_place : *in_place, *in_place};
    row->n = out_of_place ? row->n : 0;
    for (size_t i = 0; i < LENGTH(placed_columns) && !out_of_place; i++)
        if (placed_columns[i].column.kind == COLUMN_REAL)
            memcpy((char *)row + placed_columns[i].column.offset, &(double){NAN}, sizeof(double));
    return table_add_row(table->json, table->column, table->columns, row);
}

void timing_figures(struct figure_list *list, const struct collective_timing *t)
{
    for (size_t i = 0; i < LENGTH(placed_columns); i++) {
        if (placed_columns[i].better == BETTER_NONE) /* each figure has its n and its interval */
            continue;
        struct figure figure = figure_of(t, &placed_columns[i].column, placed_columns[i].name, t);
        double rate =
            strcmp(figure.unit, "B/s") ? 0 : figure.value * t->time.median; /* algbw and busbw: bytes of a call */
        figure.better = placed_columns[i].better;
        figure.judged = i == 0;
        figure.n = t->n;
        if (i == 0 || rate > 0) {
            figure.low = i == 0 ? t->time.ci_low : rate / t->time.ci_high;
            figure.high = i == 0 ? t->time.ci_high : rate / t->time.ci_low;
        }
        if (figure.value > 0 || figure.better == BETTER_LOWER) /* skips the busbw of one rank, which is 0 */
            figures_add(list, &figure);
    }
}

/* ---- overlaps ---- */

#define OVERLAP(field) offsetof(struct overlap_timing, field)
static const struct column overlap_columns[] = {
    {"bytes", "#       size\n#        (B)", COLUMN_COUNT, OVERLAP(of.bytes), "B", 1, 12, 0},
    {"count", "count\n(elements)", COLUMN_COUNT, OVERLAP(of.collective.count), NULL, 1, 12, 0},
    {"dtype", "type", COLUMN_NAME, OVERLAP(of.dtype), NULL, 1, 6, 0},
    {"op", "redop", COLUMN_NAME, OVERLAP(of.op), NULL, 1, 5, 0},
    {"compute", "compute\n(us)", COLUMN_REAL, OVERLAP(compute.median), "s", 1e6, 10, 1},
    {"compute", NULL, COLUMN_INTERVAL, COLUMN_ENDS(struct overlap_timing, compute.ci_low, compute.ci_high), "s", 1e6,
     -20, 1},
    {"comm", "comm\n(us)", COLUMN_REAL, OVERLAP(comm.median), "s", 1e6, 10, 1},
    {"comm", NULL, COLUMN_INTERVAL, COLUMN_ENDS(struct overlap_timing, comm.ci_low, comm.ci_high), "s", 1e6, -20, 1},
    {"both", "both\n(us)", COLUMN_REAL, OVERLAP(both.median), "s", 1e6, 10, 1},
    {"both", NULL, COLUMN_INTERVAL, COLUMN_ENDS(struct overlap_timing, both.ci_low, both.ci_high), "s", 1e6, -20, 1},
    {"overlap", "overlap\n(%)", COLUMN_REAL, OVERLAP(overlap.median), "1", 100, 8, 1},
    {"overlap", "[95 % interval]", COLUMN_INTERVAL, COLUMN_ENDS(struct overlap_timing, overlap.ci_low, overlap.ci_high),
     "1", 100, -20, 1},
    {"rounds", "rounds", COLUMN_COUNT, OVERLAP(overlap.n), NULL, 1, 6, 0},
};

void overlap_table_create(struct growing_table *table, const struct device *device, const struct comm *comm)
{
    char title[240];
    size_t edge = overlap_timing_edge(device);
    memcpy(table->column, overlap_columns, sizeof overlap_columns);
    table->columns = LENGTH(overlap_columns);
    snprintf(title, sizeof title,
             "Collectives in place, started before %zu x %zu matrix products and joined after them; %s%s", edge, edge,
             comm->on_device ? "" : "progress ", comm->progress);
    static const char note[] =
        "Medians over rounds of means over ranks. overlap = 1 - (both - compute) / comm, as osu_iallreduce, not "
        "clamped: below 0 both at once take longer than one after the other.";
    table->json = table_json(&(struct table){
        .key = "overlaps", .title = title, .column = table->column, .columns = table->columns, .note = {note}});
}

void overlap_timing_figures(struct figure_list *list, const struct overlap_timing *overlap)
{
    for (const struct column *column = overlap_columns; column < overlap_columns + LENGTH(overlap_columns); column++) {
        if (column->kind != COLUMN_REAL)
            continue;
        struct figure figure = figure_of(&overlap->of, column, column->key, overlap);
        double interval[2]; /* column[1] has the interval of the figure */
        memcpy(interval, (const char *)overlap + column[1].offset, sizeof interval);
        figure.low = interval[0];
        figure.high = interval[1];
        figure.n = overlap->overlap.n;
        figure.better = strcmp(column->key, "overlap") ? BETTER_LOWER : BETTER_HIGHER;
        figure.judged = !strcmp(column->key, "both");
        figures_add(list, &figure);
    }
}

/* ---- the link ---- */

struct link_row {
    const char *dtype, *op, *placement;
    struct link_regime regime;
};

#define LINK(field) offsetof(struct link_row, field)

static const struct column link_columns[] = {
    {"dtype", "type", COLUMN_NAME, LINK(dtype), NULL, 1, 5, 0},
    {"op", "redop", COLUMN_NAME, LINK(op), NULL, 1, 5, 0},
    {"placement", "placement", COLUMN_NAME, LINK(placement), NULL, 1, 12, 0},
    {"from_bytes", "from\n(B)", COLUMN_REAL, LINK(regime.from_bytes), "B", 1, 12, 0},
    {"to_bytes", "to\n(B)", COLUMN_REAL, LINK(regime.to_bytes), "B", 1, 12, 0},
    {"sizes", "sizes", COLUMN_COUNT, LINK(regime.sizes), NULL, 1, 5, 0},
    {"latency", "latency\n(us)", COLUMN_REAL, LINK(regime.latency), "s", 1e6, 12, -3},
    {"latency", "[95 % interval]", COLUMN_INTERVAL, LINK(regime.latency_interval), "s", 1e6, -15, -3},
    {"bandwidth", "bandwidth\n(GB/s)", COLUMN_REAL, LINK(regime.bandwidth), "B/s", 1e-9, 12, -3},
    {"bandwidth", "[95 % interval]", COLUMN_INTERVAL, LINK(regime.bandwidth_interval), "B/s", 1e-9, -18, -3},
    {"residual", "residual\n(%)", COLUMN_REAL, LINK(regime.residual), "1", 100, 8, 1},
};

size_t links_fit(struct fitted_link link[FITTED_LINKS], const struct collective_timing *timing, size_t n, int ranks)
{
    double factor = n ? comm_bus_factor(timing->collective.kind, ranks) : 0;
    double *bytes = allocate(n, sizeof *bytes), *seconds = allocate(n, sizeof *seconds);
    size_t links = 0, placements = n && !timing->in_place ? 2 : 1;
    for (size_t first = 0, end; first < n && factor > 0; first = end) {
        const struct collective *c = &timing[first].collective;
        for (end = first; end < n && timing[end].collective.dtype == c->dtype && timing[end].collective.op == c->op;)
            end++;
        for (size_t placed = first; placed < first + placements; placed++) {
            struct fitted_link *l = &link[links++];
            size_t sizes = 0;
            for (size_t i = placed; i < end; i += placements) {
                l->largest = &timing[i];
                l->bus_bytes = bytes[sizes] = (double)timing[i].bytes * factor;
                seconds[sizes++] = timing[i].time.median;
            }
            l->regimes = link_model_fit(l->regime, bytes, seconds, sizes);
            for (int r = 0; r < l->regimes; r++) {
                l->regime[r].from_bytes /= factor;
                l->regime[r].to_bytes /= factor;
            }
        }
    }
    free(bytes);
    free(seconds);
    return links;
}

cJSON *link_table(const struct fitted_link *link, size_t n)
{
    struct link_row row[FITTED_LINKS * LINK_REGIMES];
    size_t rows = 0;
    for (const struct fitted_link *l = link; l < link + n; l++)
        for (int r = 0; r < l->regimes; r++)
            row[rows++] = (struct link_row){l->largest->dtype, l->largest->op, l->largest->placement, l->regime[r]};
    struct table table = {"link",
                          "The link: time = latency + bus bytes / bandwidth, bus bytes = size x busbw / algbw; "
                          "residual: root mean square of (time - model) / time",
                          TABLE_COLUMNS(link_columns), TABLE_ROWS(row, rows)};
    return rows ? table_json(&table) : NULL;
}
