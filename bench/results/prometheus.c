/* prometheus.c - prints the figures of a run as Prometheus metrics. */
#include "results/prometheus.h"

#include "base/text.h"
#include "kernels/error.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 4, NAME = 128 };

/* A sample of a metric. */
struct sample {
    char metric[NAME];
    const struct figure *figure; /* NULL: a sample of the whole run */
    double value;
};

static int ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), n = strlen(ending);
    return length >= n && !strcmp(text + length - n, ending);
}

static void make_name(char metric[NAME], const struct figure *figure, const char *part)
{
    static const struct {
        const char *unit, *ending;
    } units[] = {{"s", "_seconds"},
                 {"B", "_bytes"},
                 {"B/s", "_bytes_per_second"},
                 {"1/s", "_per_second"},
                 {"FLOP/s", "_flops_per_second"},
                 {"1", ""}};
    char ending[32];
    snprintf(ending, sizeof ending, "_%s", figure->unit);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(figure->unit, units[i].unit))
            strcpy(ending, units[i].ending);
    snprintf(metric, NAME, "ddpbench_result_%s%s%s", figure->name, ends_with(figure->name, ending) ? "" : ending, part);
    for (char *c = metric; *c; c++)
        *c = (char)(*c & 0x80 || !isalnum((unsigned char)*c) ? '_' : tolower((unsigned char)*c));
}

/* Returns a sentence for the HELP line of a metric. */
static const char *help_of(const char *metric)
{
    static const char *const help[][2] = {
        {"_run_done", "Complete rounds or rows of the run."},
        {"_run_planned", "Planned rounds or rows of the run."},
        {"_samples", "Number of samples of the figure."},
        {"_low", "Low end of the 95 % interval of the figure."},
        {"_high", "High end of the 95 % interval of the figure."},
        {"", "Value of the figure, in the unit that ends the name; without one, a ratio."}};
    int i = 0;
    while (!ends_with(metric, help[i][0]))
        i++;
    return help[i][1];
}

static void print_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (const char *c = value; *c;) {
        const char *escape = *c == '\\' ? "\\\\" : *c == '"' ? "\\\"" : *c == '\n' ? "\\n" : NULL;
        if (escape)
            fputs(escape, out);
        c += escape ? 1 : text_print_character(out, c);
    }
    putc('"', out);
}

static void print_sample(FILE *out, const struct prometheus_run *run, const struct sample *sample)
{
    fprintf(out, "%s{", sample->metric);
    print_label(out, "run", run->run);
    print_label(out, ",mode", run->mode);
    print_label(out, ",directory", run->directory);
    if (sample->figure)
        print_label(out, ",subject", sample->figure->subject);
    if (sample->figure && sample->figure->bytes > 0)
        fprintf(out, ",bytes=\"%.15g\"", sample->figure->bytes);
    fprintf(out, "} %.15g\n", sample->value);
}

/* Compares samples for qsort: by metric, then in the order of the figures. */
static int compare_samples(const void *first, const void *second)
{
    const struct sample *a = first, *b = second;
    int order = strcmp(a->metric, b->metric);
    return order ? order : (a->figure > b->figure) - (a->figure < b->figure);
}

void prometheus_print(FILE *out, const struct prometheus_run *run)
{
    static const char *const part[PARTS] = {"", "_low", "_high", "_samples"};
    struct sample *sample = allocate(2 + PARTS * run->figures->n, sizeof *sample);
    size_t n = 2;
    sample[0] = (struct sample){"ddpbench_run_done", NULL, run->done};
    sample[1] = (struct sample){"ddpbench_run_planned", NULL, run->planned};
    for (const struct figure *f = run->figures->item; f < run->figures->item + run->figures->n; f++) {
        const double value[PARTS] = {f->value, f->low, f->high, (double)f->n};
        for (int i = 0; i < PARTS; i++)
            if (isfinite(value[i])) {
                make_name(sample[n].metric, f, part[i]);
                sample[n].figure = f;
                sample[n++].value = value[i];
            }
    }
    qsort(sample, n, sizeof *sample, compare_samples);
    for (size_t i = 0; i < n; i++) {
        const char *metric = sample[i].metric;
        if (!i || strcmp(metric, sample[i - 1].metric) != 0)
            fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", metric, help_of(metric), metric);
        print_sample(out, run, &sample[i]);
    }
    free(sample);
}
