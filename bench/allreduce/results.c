/* results.c - the files of a sweep. */
#include "allreduce/results.h"

#include "allreduce/overlap.h"
#include "base/files.h"
#include "base/json.h"
#include "base/version.h"
#include "kernels/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const placement_name[] = {"out_of_place", "in_place"};

int sweep_write_run(const struct results *results, const struct sweep *s, const struct host_facts *host, int threads,
                    int argc, char *const argv[])
{
    cJSON *json = provenance_create("allreduce", s->options->label, argc, argv);
    sweep_options_each(s->options, provenance_option, cJSON_AddObjectToObject(json, "configuration"));
    cJSON *derived = cJSON_AddObjectToObject(json, "derived");
    cJSON_AddNumberToObject(derived, "world_size", s->job->size);
    cJSON_AddNumberToObject(derived, "host_count", s->job->hosts);
    cJSON_AddNumberToObject(derived, "threads", threads);
    cJSON_AddStringToObject(derived, "device", s->device->name);
    open_device_describe(&s->opened, derived);
    provenance_add_comm(derived, s->comm);
    host_describe(host, s->job, json);
    provenance_add_environment(json);
    if (s->job->rank) {
        cJSON_Delete(json);
        return 0;
    }
    return results_replace_json(results, "run.json", json);
}

int sweep_write_iterations(struct results *results, const struct measured *row, size_t cycle, int64_t origin_ns)
{
    char *text = NULL;
    size_t length = 0;
    const struct collective *c = &row->collective;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        FATAL("no memory for a line of metrics");
    fprintf(out,
            "{\"rank\":%d,\"collective\":\"%s\",\"dtype\":\"%s\",\"op\":\"%s\",\"root\":%d,\"placement\":\"%s\","
            "\"bytes\":%zu,\"cycle\":%zu,\"start\":%.6f,\"time_us\":[",
            results->rank, comm_kind_name[c->kind], comm_dtype_name[c->dtype], sweep_op(c), sweep_root(c),
            placement_name[row->in_place], row->bytes, cycle, 1e-9 * (double)(row->start_ns - origin_ns));
    for (size_t i = row->n - row->last_n; i < row->n; i++)
        fprintf(out, "%s%.3f", i > row->n - row->last_n ? "," : "", 1e6 * row->seconds[i]);
    fprintf(out, "]}\n");
    if (fclose(out))
        FATAL("no memory for a line of metrics");
    return results_append(results, text, length);
}

static void add_spread(cJSON *item, const char *name, const struct spread *spread)
{
    cJSON *json = cJSON_AddObjectToObject(item, name);
    cJSON_AddNumberToObject(json, "min", 1e6 * spread->min);
    cJSON_AddNumberToObject(json, "mean", 1e6 * spread->mean);
    cJSON_AddNumberToObject(json, "median", 1e6 * spread->median);
    cJSON_AddNumberToObject(json, "p95", 1e6 * spread->p95);
    cJSON_AddNumberToObject(json, "p99", 1e6 * spread->p99);
    cJSON_AddNumberToObject(json, "max", 1e6 * spread->max);
}

static void add_summary(cJSON *item, const char *name, const struct estimate *s, double scale)
{
    cJSON *json = cJSON_AddObjectToObject(item, name);
    json_add_number(json, "median", scale * s->median);
    json_add_number(json, "ci_low", scale * s->ci_low);
    json_add_number(json, "ci_high", scale * s->ci_high);
    cJSON_AddNumberToObject(json, "n", (double)s->n);
}

/* What names a row. */
static cJSON *key_json(const struct measured *row)
{
    const struct collective *c = &row->collective;
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "collective", comm_kind_name[c->kind]);
    cJSON_AddStringToObject(item, "dtype", comm_dtype_name[c->dtype]);
    cJSON_AddStringToObject(item, "op", sweep_op(c));
    cJSON_AddNumberToObject(item, "root", sweep_root(c));
    cJSON_AddStringToObject(item, "placement", placement_name[row->in_place]);
    cJSON_AddNumberToObject(item, "bytes", (double)row->bytes);
    cJSON_AddNumberToObject(item, "count", (double)c->count);
    return item;
}

static cJSON *overlap_json(const struct measured *row)
{
    const struct overlapped *o = row->overlapped;
    cJSON *item = key_json(row);
    cJSON_AddNumberToObject(item, "matrix_products", (double)o->products);
    add_summary(item, "compute_us", &o->compute, 1e6);
    add_summary(item, "comm_us", &o->comm, 1e6);
    add_summary(item, "both_us", &o->both, 1e6);
    add_summary(item, "overlap_percent", &o->overlap, 1);
    add_summary(item, "compute_slowdown", &o->compute_slowdown, 1);
    add_summary(item, "comm_slowdown", &o->comm_slowdown, 1);
    return item;
}

static cJSON *row_json(const struct measured *row)
{
    cJSON *item = key_json(row);
    cJSON_AddNumberToObject(item, "iterations", (double)row->n);
    cJSON_AddNumberToObject(item, "sustained_us", 1e6 * row->sustained);
    add_spread(item, "time_us", &row->iterations);
    add_spread(item, "rank_median_us", &row->ranks);
    cJSON_AddNumberToObject(item, "slowest_rank", row->slowest_rank);
    cJSON_AddNumberToObject(item, "cpu_us", 1e6 * row->cpu_iteration);
    cJSON_AddNumberToObject(item, "algbw_gbs", 1e-9 * row->algbw);
    cJSON_AddNumberToObject(item, "busbw_gbs", 1e-9 * row->busbw);
    if (row->wrong < 0)
        cJSON_AddNullToObject(item, "wrong");
    else
        cJSON_AddNumberToObject(item, "wrong", (double)row->wrong);
    return item;
}

static cJSON *link_json(const struct sweep *s, const struct sweep_link *link)
{
    const struct collective *c = &link->first->collective;
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "collective", comm_kind_name[c->kind]);
    cJSON_AddStringToObject(item, "dtype", comm_dtype_name[c->dtype]);
    cJSON_AddStringToObject(item, "op", sweep_op(c));
    cJSON_AddStringToObject(item, "placement", placement_name[link->first->in_place]);
    link_model_json(item, &link->model, sweep_bus_factor(c->kind, s->job->size));
    return item;
}

cJSON *sweep_summary(const struct sweep *s, size_t rows)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "schema_version", RESULTS_SCHEMA);
    cJSON_AddStringToObject(json, "mode", "allreduce");
    cJSON_AddStringToObject(json, "label", s->options->label);
    cJSON_AddStringToObject(
        json, "time_axis",
        "time_us: over iterations, of the time that the option average says; sustained_us: median, over up to "
        "ten stretches of consecutive iterations, of their mean; "
        "rank_median_us: over ranks, of each rank's median");
    cJSON_AddNumberToObject(json, "rows_planned", (double)s->rows);
    cJSON *list = cJSON_AddArrayToObject(json, s->options->overlap ? "overlap" : "sweep");
    for (size_t i = 0; i < rows; i++)
        cJSON_AddItemToArray(list, s->options->overlap ? overlap_json(&s->row[i]) : row_json(&s->row[i]));
    monitor_findings_describe(&s->monitored, json);
    cJSON *links = s->options->overlap ? NULL : cJSON_AddArrayToObject(json, "link");
    for (size_t i = 0; i < s->links; i++)
        cJSON_AddItemToArray(links, link_json(s, &s->link[i]));
    return json;
}

static void print_csv(FILE *out, const struct sweep *s, size_t rows)
{
    fprintf(
        out,
        "label,collective,dtype,op,root,placement,bytes,count,ranks,hosts,iterations,sustained_us,min_iterations_us,"
        "mean_iterations_us,median_iterations_us,p95_iterations_us,p99_iterations_us,max_iterations_us,"
        "min_ranks_us,median_ranks_us,p95_ranks_us,max_ranks_us,slowest_rank,cpu_us,algbw_gbs,busbw_gbs,"
        "wrong\n");
    for (size_t i = 0; i < rows; i++) {
        const struct measured *row = &s->row[i];
        const struct collective *c = &row->collective;
        const struct spread *t = &row->iterations, *r = &row->ranks;
        fprintf(out, "%s,%s,%s,%s,%d,%s,%zu,%zu,%d,%d,%zu", s->options->label, comm_kind_name[c->kind],
                comm_dtype_name[c->dtype], sweep_op(c), sweep_root(c), placement_name[row->in_place], row->bytes,
                c->count, s->job->size, s->job->hosts, row->n);
        const double us[] = {row->sustained, t->min, t->mean,   t->median, t->p95, t->p99,
                             t->max,         r->min, r->median, r->p95,    r->max};
        for (size_t j = 0; j < sizeof us / sizeof *us; j++)
            fprintf(out, ",%.6g", 1e6 * us[j]);
        fprintf(out, ",%d,%.6g,%.6g,%.6g,", row->slowest_rank, 1e6 * row->cpu_iteration, 1e-9 * row->algbw,
                1e-9 * row->busbw);
        if (row->wrong >= 0)
            fprintf(out, "%ld", row->wrong);
        fprintf(out, "\n");
    }
}

static void print_overlap_csv(FILE *out, const struct sweep *s, size_t rows)
{
    enum { COLUMNS = 6 };
    static const char *const name[COLUMNS] = {"compute_us",      "comm_us",          "both_us",
                                              "overlap_percent", "compute_slowdown", "comm_slowdown"};
    fprintf(out, "label,collective,dtype,op,root,placement,bytes,count,ranks,hosts,rounds");
    for (size_t i = 0; i < COLUMNS; i++)
        fprintf(out, ",%s,%s_ci_low,%s_ci_high", name[i], name[i], name[i]);
    fprintf(out, "\n");
    for (size_t i = 0; i < rows; i++) {
        const struct collective *c = &s->row[i].collective;
        const struct overlapped *o = s->row[i].overlapped;
        const struct estimate *const figure[COLUMNS] = {&o->compute,          &o->comm,         &o->both, &o->overlap,
                                                        &o->compute_slowdown, &o->comm_slowdown};
        fprintf(out, "%s,%s,%s,%s,%d,in_place,%zu,%zu,%d,%d,%zu", s->options->label, comm_kind_name[c->kind],
                comm_dtype_name[c->dtype], sweep_op(c), sweep_root(c), s->row[i].bytes, c->count, s->job->size,
                s->job->hosts, o->overlap.n);
        for (size_t f = 0; f < COLUMNS; f++) {
            double scale = f < 3 ? 1e6 : 1;
            if (isfinite(figure[f]->median))
                fprintf(out, ",%.6g", scale * figure[f]->median);
            else
                fprintf(out, ",");
            if (isfinite(figure[f]->ci_low))
                fprintf(out, ",%.6g,%.6g", scale * figure[f]->ci_low, scale * figure[f]->ci_high);
            else
                fprintf(out, ",,");
        }
        fprintf(out, "\n");
    }
}

int sweep_write_summary(const struct results *results, const struct sweep *s, size_t rows)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        FATAL("no memory for the table");
    (s->options->overlap ? print_overlap_csv : print_csv)(out, s, rows);
    if (fclose(out))
        FATAL("no memory for the table");
    int status = files_replace(results->directory, "allreduce.csv", text);
    free(text);
    return status ? -1 : results_replace_json(results, "summary.json", sweep_summary(s, rows));
}
