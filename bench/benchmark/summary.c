/* summary.c - the figures of summary.json as a tidy table. */
#include "benchmark/summary.h"

#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>

/* A comma, and the number as cJSON spells it in summary.json; nothing after the comma for null. */
static void print_field(FILE *out, cJSON *number)
{
    char text[64] = "";
    if (cJSON_IsNumber(number) && !cJSON_PrintPreallocated(number, text, sizeof text, 0))
        FATAL("a number longer than %zu characters", sizeof text);
    fprintf(out, ",%s", text);
}

static void print_bucket(FILE *out, const struct implementation *implementation)
{
    cJSON *mb = implementation->strategy->buckets ? cJSON_CreateNumber(implementation->bucket_mb) : NULL;
    print_field(out, mb);
    cJSON_Delete(mb);
}

static void print_metrics(FILE *out, const struct run *run, const struct implementation *implementation,
                          const cJSON *metrics)
{
    static const char *const figures[] = {"n", "median", "ci_low", "ci_high", "p5", "p95"};
    const cJSON *metric;
    cJSON_ArrayForEach(metric, metrics)
    {
        fprintf(out, "%s,%s,%s", run->options->label, implementation->label, implementation->strategy->name);
        print_bucket(out, implementation);
        fprintf(out, ",%d,%d,%d,%s,%s", run->job->size, run->job->hosts, run->threads, metric->string,
                cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metric, "unit")));
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            print_field(out, cJSON_GetObjectItemCaseSensitive(metric, figures[i]));
        fputc('\n', out);
    }
}

char *summary_csv_text(const struct run *run, const cJSON *implementations)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        FATAL("no memory for summary.csv");
    fputs(
        "label,implementation,strategy,bucket_size_mb,ranks,hosts,threads,metric,unit,n,median,ci_low,ci_high,p5,p95\n",
        out);
    for (int i = 0; i < run->options->n; i++) {
        const struct implementation *implementation = &run->options->implementation[i];
        print_metrics(out, run, implementation,
                      cJSON_GetObjectItemCaseSensitive(implementations, implementation->label));
    }
    if (fclose(out))
        FATAL("no memory for summary.csv");
    return text;
}
