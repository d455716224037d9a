/* prometheus.c - what runs found as metrics of Prometheus. */
#include "base/prometheus.h"

#include "base/text.h"
#include "kernels/error.h"

#include <ctype.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE, LOW, HIGH, SAMPLES, PARTS, NAME = 128 };
static const char *const part_name[PARTS] = {"", "_low", "_high", "_samples"};

/* A sample of a metric. Since there may be a million, all samples of a metric share one copy of its name. */
struct sample {
    const char *metric;
    int part;
    const struct figure *figure;
    const struct prometheus_run *run;
};

/* ---- names ---- */

static const struct {
    const char *unit, *ending, *words;
} units[] = {{"s", "_seconds", "in seconds"},
             {"B", "_bytes", "in bytes"},
             {"B/s", "_bytes_per_second", "in bytes per second"},
             {"1/s", "_per_second", "per second"},
             {"FLOP/s", "_flops_per_second", "in floating-point operations per second"},
             {"1", "", "a ratio or a count"}};
enum { UNITS = sizeof units / sizeof *units };

/* The index of a figure's unit; UNITS if it is not listed. */
static size_t unit_of(const struct figure *figure)
{
    size_t i = 0;
    while (i < UNITS && strcmp(figure->unit, units[i].unit) != 0)
        i++;
    return i;
}

static int ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), n = strlen(ending);
    return length >= n && !strcmp(text + length - n, ending);
}

static void make_name(char metric[NAME], const struct figure *figure, int part)
{
    char ending[sizeof figure->unit + 1];
    size_t unit = unit_of(figure);
    snprintf(ending, sizeof ending, "_%s", figure->unit);
    const char *known = unit < UNITS ? units[unit].ending : ending;
    snprintf(metric, NAME, "ddpbench_result_%s%s%s", figure->name, ends_with(figure->name, known) ? "" : known,
             part_name[part]);
    for (char *c = metric; *c; c++)
        *c = (char)(*c & 0x80 || !isalnum((unsigned char)*c) ? '_' : tolower((unsigned char)*c));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The shared copy of a name, in a tree that owns it. */
static const char *only_copy(void **names, const char *name)
{
    const char **found = tsearch(name, names, by_name);
    if (found && *found == name) /* it is new */
        *found = strdup(name);
    if (!found || !*found)
        fatal_no_memory(strlen(name) + 1, 1);
    return *found;
}

/* ---- lines ---- */

static void print_head(FILE *out, const char *metric, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", metric, help, metric);
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

/* figure: NULL for a line about the whole run. */
static void print_line(FILE *out, const char *metric, const struct prometheus_run *run, const struct figure *figure,
                       double value)
{
    fprintf(out, "%s{", metric);
    print_label(out, "run", run->run);
    print_label(out, ",mode", run->mode);
    print_label(out, ",directory", run->directory);
    if (figure)
        print_label(out, ",subject", figure->subject);
    if (figure && figure->bytes > 0)
        fprintf(out, ",bytes=\"%.15g\"", figure->bytes);
    fprintf(out, "} %.15g\n", value);
}

/* ---- samples in order ---- */

static double value_of(const struct sample *s)
{
    const double value[PARTS] = {s->figure->value, s->figure->low, s->figure->high, (double)s->figure->n};
    return value[s->part];
}

/* Compares metrics and labels: 0 for two samples that have the same. */
static int compare_names(const struct sample *a, const struct sample *b)
{
    int order = a->metric == b->metric ? 0 : strcmp(a->metric, b->metric);
    if (!order)
        order = strcmp(a->run->run, b->run->run);
    if (!order)
        order = strcmp(a->run->directory, b->run->directory);
    if (!order)
        order = strcmp(a->figure->subject, b->figure->subject);
    return order ? order : (a->figure->bytes > b->figure->bytes) - (a->figure->bytes < b->figure->bytes);
}

/* Sorts by metric and labels; samples that have the same keep the order of their figures in the array. */
static int compare_samples(const void *first, const void *second)
{
    const struct sample *a = first, *b = second;
    int order = compare_names(a, b);
    return order ? order : (a->figure > b->figure) - (a->figure < b->figure);
}

static void print_head_of(FILE *out, const struct sample *s)
{
    static const char *const better[] = {"; lower is better", "; higher is better", ""};
    char help[2 * NAME];
    const char *figure = s->metric + strlen("ddpbench_result_");
    int length = (int)(strlen(figure) - strlen(part_name[s->part]));
    size_t unit = unit_of(s->figure);
    const char *in = unit < UNITS ? units[unit].words : "in a unit of its own";
    if (s->part == VALUE)
        snprintf(help, sizeof help, "Figure of a run: %s, %s%s.", figure, in, better[s->figure->better]);
    else if (s->part == SAMPLES)
        snprintf(help, sizeof help, "Number of samples of %.*s.", length, figure);
    else
        snprintf(help, sizeof help, "%s end of the 95 %% interval of %.*s, %s.", s->part == LOW ? "Low" : "High",
                 length, figure, in);
    print_head(out, s->metric, help);
}

static void print_progress(FILE *out, const struct prometheus_run *run, size_t runs)
{
    print_head(out, "ddpbench_run_done", "Rounds or rows that are complete.");
    for (size_t i = 0; i < runs; i++)
        print_line(out, "ddpbench_run_done", &run[i], NULL, run[i].done);
    print_head(out, "ddpbench_run_planned", "Rounds or rows that the run plans, as far as is known.");
    for (size_t i = 0; i < runs; i++)
        print_line(out, "ddpbench_run_planned", &run[i], NULL, run[i].planned);
}

void prometheus_print(FILE *out, const struct prometheus_run *run, size_t runs)
{
    void *names = NULL;
    char name[NAME];
    size_t most = 0, n = 0;
    for (size_t i = 0; i < runs; i++)
        most += run[i].figures->n * PARTS;
    struct sample *sample = allocate(most + 1, sizeof *sample);
    for (size_t i = 0; i < runs; i++)
        for (size_t k = 0; k < run[i].figures->n; k++)
            for (int part = 0; part < PARTS; part++) {
                sample[n] = (struct sample){.part = part, .figure = &run[i].figures->item[k], .run = &run[i]};
                if (!isfinite(value_of(&sample[n])))
                    continue;
                make_name(name, sample[n].figure, part);
                sample[n++].metric = only_copy(&names, name);
            }
    qsort(sample, n, sizeof *sample, compare_samples);
    if (runs)
        print_progress(out, run, runs);
    for (size_t i = 0; i < n; i++) {
        if (!i || sample[i].metric != sample[i - 1].metric)
            print_head_of(out, &sample[i]);
        if (!i || compare_names(&sample[i], &sample[i - 1]) != 0)
            print_line(out, sample[i].metric, sample[i].run, sample[i].figure, value_of(&sample[i]));
    }
    free(sample);
    tdestroy(names, free);
}
