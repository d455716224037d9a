/* prometheus.c - prints the figures of a run as Prometheus metrics. */
#include "base/prometheus.h"

#include "base/text.h"
#include "kernels/error.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 4, NAME = 128 };

/* A sample of a Prometheus metric: a printed line in two parts. */
struct sample {
    const char *metric, *rest; /* metric: the metric's name; rest: labels and value */
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

/* Prints the texts `metric` and `rest` of a struct sample, each ended by a 0 byte. figure: NULL for a sample of the
 * whole run. Returns the number of samples printed: 1, or 0 if the value is not finite. */
static size_t print_sample(FILE *out, const char *metric, const struct prometheus_run *run, const struct figure *figure,
                           double value)
{
    if (!isfinite(value))
        return 0;
    fprintf(out, "%s%c{", metric, 0);
    print_label(out, "run", run->run);
    print_label(out, ",mode", run->mode);
    print_label(out, ",directory", run->directory);
    if (figure)
        print_label(out, ",subject", figure->subject);
    if (figure && figure->bytes > 0)
        fprintf(out, ",bytes=\"%.15g\"", figure->bytes);
    fprintf(out, "} %.15g%c", value, 0);
    return 1;
}

/* Prints the samples of the progress and of all figures, unsorted. Returns their number. */
static size_t print_samples(FILE *out, const struct prometheus_run *run)
{
    static const char *const part[PARTS] = {"", "_low", "_high", "_samples"};
    char metric[NAME];
    size_t n = print_sample(out, "ddpbench_run_done", run, NULL, run->done) +
               print_sample(out, "ddpbench_run_planned", run, NULL, run->planned);
    for (const struct figure *f = run->figures->item; f < run->figures->item + run->figures->n; f++) {
        const double value[PARTS] = {f->value, f->low, f->high, (double)f->n};
        for (int i = 0; i < PARTS; i++) {
            make_name(metric, f, part[i]);
            n += print_sample(out, metric, run, f, value[i]);
        }
    }
    return n;
}

/* Compares samples for qsort: by metric, then by address, which is the order in which they were printed. */
static int compare_samples(const void *first, const void *second)
{
    const struct sample *a = first, *b = second;
    int order = strcmp(a->metric, b->metric);
    return order ? order : (a->metric > b->metric) - (a->metric < b->metric);
}

void prometheus_print(FILE *out, const struct prometheus_run *run)
{
    char *text = NULL;
    size_t length = 0;
    FILE *samples = text_begin(&text, &length);
    const size_t n = print_samples(samples, run);
    text_end(samples);
    struct sample *sample = allocate(n + 1, sizeof *sample);
    const char *at = text;
    for (size_t i = 0; i < n; i++) {
        sample[i].metric = at;
        sample[i].rest = at += strlen(at) + 1;
        at += strlen(at) + 1;
    }
    qsort(sample, n, sizeof *sample, compare_samples);
    for (size_t i = 0; i < n; i++) {
        if (!i || strcmp(sample[i].metric, sample[i - 1].metric) != 0)
            fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", sample[i].metric, help_of(sample[i].metric),
                    sample[i].metric);
        fprintf(out, "%s%s\n", sample[i].metric, sample[i].rest);
    }
    free(sample);
    free(text);
}
