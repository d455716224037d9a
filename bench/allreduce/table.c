/* table.c - the table of a sweep. */
#include "allreduce/table.h"

#include "base/version.h"
#include "kernels/error.h"
#include "results/results.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a size stand side by side: out of place and in place, or in place alone. */
static int placements(const struct sweep *s)
{
    return s->options->kind == COMM_BROADCAST ? 1 : 2;
}

void sweep_report_head(FILE *out, const struct sweep *s, const struct host_facts *host, int threads)
{
    const struct sweep_options *o = s->options;
    const struct job *job = s->job;
    int on_device = s->comm->on_device;
    fprintf(out, "# ddpbench %s allreduce on %d rank%s x %d thread%s on %d host%s (%s), comm %s%s%s%s, %s\n",
            version_text(), job->size, job->size == 1 ? "" : "s", threads, threads == 1 ? "" : "s", job->hosts,
            job->hosts == 1 ? "" : "s",
            s->opened.on_gpu ? s->opened.gpu.name
            : host->cpu[0]   ? host->cpu
                             : host->name,
            s->comm->name, on_device ? " (" : "", on_device ? s->comm->progress : "", on_device ? ")" : "",
            o->nonblocking || o->overlap ? "non-blocking calls" : "blocking calls");
    if (o->overlap)
        return;
    fprintf(out, "# %s; iterations: ", comm_kind_name[o->kind]);
    if (o->iters)
        fprintf(out, "%zu", o->iters);
    else
        fprintf(out, "as many as fit into 0.2 s at the fastest call's pace, 5 to 2000");
    fprintf(out, "; warm-up %zu; cycles %zu; check %zu; time of an iteration: %s\n#\n", o->warmup_iters, o->run_cycles,
            o->check, sweep_average_name[o->average]);
}

void sweep_report_columns(FILE *out, const struct sweep *s)
{
    static const char *const place[] = {"out of place", "in place"};
    const struct sweep_options *o = s->options;
    fprintf(out, "#%44s", "");
    for (int i = 0; i < placements(s); i++) {
        fprintf(out, " %*s", 31, place[i + 2 - placements(s)]);
        if (o->show_iterations)
            fprintf(out, "%50s", "");
    }
    fprintf(out, "\n#%11s %12s %6s %5s %5s", "size", "count", "type", "redop", "root");
    for (int i = 0; i < placements(s); i++) {
        fprintf(out, " %10s %7s %7s %6s", o->report_cputime ? "cputime" : "time", "algbw", "busbw", "#wrong");
        if (o->show_iterations)
            fprintf(out, " %9s %9s %9s %9s %9s", "i_min", "i_med", "i_p95", "i_p99", "i_max");
    }
    fprintf(out, "\n#%11s %12s %6s %5s %5s", "(B)", "(elements)", "", "", "");
    for (int i = 0; i < placements(s); i++) {
        fprintf(out, " %10s %7s %7s %6s", "(us)", "(GB/s)", "(GB/s)", "");
        if (o->show_iterations)
            fprintf(out, " %9s %9s %9s %9s %9s", "(us)", "(us)", "(us)", "(us)", "(us)");
    }
    fprintf(out, "\n");
}

/* Microseconds with four digits or more. */
static void print_us(FILE *out, int width, double seconds)
{
    double us = 1e6 * seconds;
    fprintf(out, " %*.*f", width, us < 1000 ? 2 : us < 100000 ? 1 : 0, us);
}

static void print_gbs(FILE *out, double rate)
{
    double gbs = 1e-9 * rate;
    fprintf(out, " %7.*f", gbs < 0.1 ? 5 : gbs < 1 ? 4 : gbs < 100 ? 2 : 1, gbs);
}

void sweep_report_rows(FILE *out, const struct sweep *s, const struct measured *row)
{
    const struct collective *c = &row->collective;
    fprintf(out, "%12zu %12zu %6s %5s %5d", row->bytes, c->count, comm_dtype_name[c->dtype], sweep_op(c),
            sweep_root(c));
    for (int i = 0; i < placements(s); i++) {
        print_us(out, 10, s->options->report_cputime ? row[i].cpu_iteration : row[i].sustained);
        print_gbs(out, row[i].algbw);
        print_gbs(out, row[i].busbw);
        if (row[i].wrong < 0)
            fprintf(out, " %6s", "N/A");
        else
            fprintf(out, " %6ld", row[i].wrong);
        if (s->options->show_iterations) {
            print_us(out, 9, row[i].iterations.min);
            print_us(out, 9, row[i].iterations.median);
            print_us(out, 9, row[i].iterations.p95);
            print_us(out, 9, row[i].iterations.p99);
            print_us(out, 9, row[i].iterations.max);
        }
    }
    fprintf(out, "\n");
}

long sweep_wrong(const struct sweep *s)
{
    long wrong = 0;
    for (size_t i = 0; i < s->rows; i++)
        wrong += s->row[i].wrong > 0 ? s->row[i].wrong : 0;
    return wrong;
}

/* Words of another module, which become comments of the table. */
struct words {
    FILE *out;
    char *text;
    size_t length;
};

static void words_open(struct words *words)
{
    words->out = open_memstream(&words->text, &words->length);
    if (!words->out)
        FATAL("no memory for words");
}

/* Prints them, each line behind the mark. */
static void words_close(struct words *words, FILE *out, const char *mark)
{
    char *save = NULL;
    if (fclose(words->out))
        FATAL("no memory for words");
    for (char *line = strtok_r(words->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        fprintf(out, "%s%s\n", mark, line);
    free(words->text);
}

static void print_link(FILE *out, const struct sweep *s, const struct sweep_link *link)
{
    struct words words;
    const struct collective *c = &link->first->collective;
    fprintf(out, "# %s of %s, op %s, %s:\n", comm_kind_name[c->kind], comm_dtype_name[c->dtype], sweep_op(c),
            link->first->in_place ? "in place" : "out of place");
    words_open(&words);
    link_model_print(words.out, &link->model, comm_bus_factor(c->kind, s->job->size));
    words_close(&words, out, "#   ");
}

int sweep_report_flush(FILE *out)
{
    return fflush(out) || ferror(out) ? error_report("cannot write to the standard output: %s", strerror(errno)) : 0;
}

void sweep_report_notes(FILE *out, const struct sweep *s)
{
    struct words words;
    words_open(&words);
    monitor_findings_print(words.out, &s->monitored);
    words_close(&words, out, "# ");
}

void sweep_report_foot(FILE *out, const struct sweep *s)
{
    double busbw = 0;
    for (size_t i = 0; i < s->rows; i++)
        busbw += 1e-9 * s->row[i].busbw / (double)s->rows;
    if (s->options->check)
        fprintf(out, "# Out of bounds values : %ld %s\n", sweep_wrong(s), sweep_wrong(s) ? "FAILED" : "OK");
    fprintf(out, "# Avg bus bandwidth    : %.4f GB/s\n", busbw);
    fprintf(
        out,
        "# time: median, over up to ten stretches of iterations, of their mean%s. algbw = size / time, busbw = algbw x "
        "%.4g.\n",
        s->options->report_cputime ? ", while cputime is the mean CPU time of a rank in one" : "",
        comm_bus_factor(s->options->kind, s->job->size));
    for (size_t i = 0; i < s->links; i++)
        print_link(out, s, &s->link[i]);
    if (s->job->size == 1)
        fprintf(out, "# One rank: nothing is sent, so there is no bus bandwidth.\n");
}
