/* section_roofline.c - draws the operations of a profile below the limits of products and memory. */
#include "report/sections.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OPERATIONS = 30, ROOF = 3 };

struct roofline_row {
    const char *name, *limit; /* limit: what allows less at this intensity */
    double intensity, flops;  /* FLOP per byte, FLOP/s */
    double of_limit, share;   /* flops / what the limit allows; share of the steps */
    double loss;              /* share that the operation would save at its limit; below 0: it is above its limit */
};

static const struct column roofline_columns[] = {
    {"operation", "operation", COLUMN_NAME, offsetof(struct roofline_row, name), NULL, 1, -24, 0},
    {"intensity", "FLOP/byte", COLUMN_REAL, offsetof(struct roofline_row, intensity), "1", 1, 9, 2},
    {"flops", "GFLOP/s", COLUMN_REAL, offsetof(struct roofline_row, flops), "FLOP/s", 1e-9, 9, 1},
    {"limit", "limit", COLUMN_NAME, offsetof(struct roofline_row, limit), NULL, 1, -9, 0},
    {"of_limit", "of it, %", COLUMN_REAL, offsetof(struct roofline_row, of_limit), "1", 100, 8, 0},
    {"share", "of step, %", COLUMN_REAL, offsetof(struct roofline_row, share), "1", 100, 10, 1},
};

/* Fills a row for each operation of a profile that computes. Returns the number of rows. */
static size_t take_rows(struct roofline_row row[OPERATIONS], const struct report_run *run, double flops,
                        double bandwidth)
{
    size_t n = 0;
    const cJSON *json, *rows = run_rows(run, "operations");
    cJSON_ArrayForEach(json, rows)
    {
        double rate = json_number(json, "flops"), bytes = json_number(json, "bandwidth");
        double allowed = fmin(flops, bandwidth * rate / bytes), of = rate / allowed, share = json_number(json, "share");
        const char *name = json_string(json, "name"), *limit = allowed < flops ? "memory" : "products";
        if (!strcmp(json_string(json, "kind"), "operation") && rate > 0 && bytes > 0 && n < OPERATIONS)
            row[n++] = (struct roofline_row){name, limit, rate / bytes, rate, of, share, share * (1 - of)};
    }
    return n;
}

static void draw_roofline(cJSON *document, const struct report_run *run, const struct roofline_row *row, size_t n,
                          double flops, double bandwidth)
{
    const struct roofline_row *slowest = row;
    struct chart_point point[OPERATIONS], roof[ROOF];
    struct chart_series series[OPERATIONS + 1];
    double low = 0.5 * flops / bandwidth, high = 4 * low;
    char title[400], subtitle[300];
    for (size_t i = 0; i < n; i++) {
        point[i] = (struct chart_point){row[i].intensity, 1e-9 * row[i].flops, NAN, NAN, CHART_PLAIN};
        series[i] = (struct chart_series){row[i].name, &point[i], 1, *row[i].limit == 'm', 0, 0};
        low = fmin(low, row[i].intensity);
        high = fmax(high, 1.3 * row[i].intensity);
        slowest = row[i].loss > slowest->loss ? &row[i] : slowest;
    }
    const double x[ROOF] = {low, flops / bandwidth, high};
    for (int i = 0; i < ROOF; i++)
        roof[i] = (struct chart_point){x[i], 1e-9 * fmin(flops, bandwidth * x[i]), NAN, NAN, CHART_PLAIN};
    series[n] = (struct chart_series){"limit", roof, ROOF, SVG_GREY, 1, 0};
    snprintf(title, sizeof title, "%s: %s is at %.0f %% of what %s here, and takes %.0f %% of a step", run->label,
             slowest->name, 100 * slowest->of_limit,
             *slowest->limit == 'm' ? "memory bandwidth allows" : "products reach", 100 * slowest->share);
    snprintf(subtitle, sizeof subtitle,
             "The limit was measured in this run while all ranks computed: memory %.4g GB/s, products %.4g GFLOP/s. "
             "Means over the calls, per rank. Above the limit, arrays come from caches.",
             1e-9 * bandwidth, 1e-9 * flops);
    const struct chart_xy chart = {.x = {.title = "FLOP per byte read or written", .is_log = AXIS_BINARY},
                                   .y = {.title = "GFLOP/s", .is_log = 1},
                                   .series = series,
                                   .n_series = n + 1};
    document_add_picture(document, "roofline", title, chart_xy(title, subtitle, &chart));
}

int section_add_roofline(cJSON *document, const struct report_run *run)
{
    struct roofline_row row[OPERATIONS];
    double flops = run_figure(run, run->subject, "product_peak").value;
    double bandwidth = run_figure(run, run->subject, "memory_bandwidth").value;
    size_t n = flops > 0 && bandwidth > 0 ? take_rows(row, run, flops, bandwidth) : 0;
    if (!n)
        return 0;
    document_begin_section(document, "Operations and their limits");
    draw_roofline(document, run, row, n, flops, bandwidth);
    document_add_table(document, &(struct table){.key = "roofline",
                                                 TABLE_COLUMNS(roofline_columns),
                                                 TABLE_ROWS(row, n),
                                                 .note = {"limit: what allows less, memory (bandwidth x FLOP/byte) "
                                                          "or products. Operations without FLOP are left out."}});
    return 1;
}
