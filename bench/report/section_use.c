/* section_use.c - how busy CPUs and GPUs were while a run went on, from what its monitors wrote. */
#include "report/sections.h"

#include "base/files.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES = CHART_STRIPS + 1, COLUMNS = 48, POINTS = 600 }; /* SERIES: of a run, one more than are drawn */

/* How busy the CPUs of a host, or a GPU, were over the seconds: at most POINTS, evenly over the file's lines. */
struct use {
    char name[96];
    double gpu;                /* its number; -1: CPUs */
    struct chart_point *point; /* [n], owned */
    size_t n, lines, every;    /* lines so far; one of so many has a point */
};

struct uses {
    struct use item[SERIES];
    size_t n;
};

/* Splits a line at its commas, in place; returns how many fields. */
static size_t split(char *line, char *field[COLUMNS])
{
    size_t n = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at && n < COLUMNS; n++) {
        field[n] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = 0;
    }
    return n;
}

static size_t column_of(char *const field[COLUMNS], size_t fields, const char *name)
{
    size_t i = 0;
    while (i < fields && strcmp(field[i], name) != 0)
        i++;
    return i;
}

static double number_of(char *const field[COLUMNS], size_t fields, size_t i)
{
    char *end;
    double value = i < fields ? strtod(field[i], &end) : NAN;
    return i < fields && end > field[i] && !*end ? value : NAN;
}

/* Adds a point if it is the line's turn; where there is no room, every second one before it goes. */
static void add_point(struct use *use, double seconds, double percent)
{
    size_t line = use->lines++;
    if (use->n == POINTS && line % use->every == 0) {
        use->n /= 2;
        for (size_t i = 0; i < use->n; i++)
            use->point[i] = use->point[2 * i];
        use->every *= 2;
    }
    if (line % use->every == 0)
        use->point[use->n++] = (struct chart_point){seconds, percent, NAN, NAN, CHART_PLAIN, NULL};
}

/* What is read of a file: the sum of two columns. */
struct source {
    const char *pattern, *first, *second; /* second "": first alone */
    int of_gpus;                          /* a column says of which GPU a line is */
};
static const struct source sources[] = {{"gpu_monitor*.csv", "utilization_gpu_percent", "", 1},
                                        {"cpu_monitor*.csv", "user_percent", "system_percent", 0}};

/* The host that a file is of: what follows the first word of its name, or "". */
static void host_of(char host[64], const char *path)
{
    const char *slash = strrchr(path, '/'), *from = strstr(slash ? slash : path, "_monitor_");
    snprintf(host, 64, "%s", from ? from + strlen("_monitor_") : "");
    host[strcspn(host, ".")] = 0;
}

/* The use of a GPU, or of CPUs (-1), among those from `first` on, which are of one file; a new one where there is none;
 * NULL where there is no room for it. */
static struct use *find_use(struct uses *uses, size_t first, double gpu, const char *host)
{
    for (size_t i = first; i < uses->n; i++)
        if (uses->item[i].gpu == gpu)
            return &uses->item[i];
    if (uses->n == SERIES)
        return NULL;
    struct use *use = &uses->item[uses->n++];
    *use = (struct use){.gpu = gpu, .every = 1, .point = allocate(POINTS, sizeof *use->point)};
    if (gpu < 0)
        snprintf(use->name, sizeof use->name, "CPUs%s%s", *host ? " of " : "", host);
    else
        snprintf(use->name, sizeof use->name, "GPU %.0f%s%s", fmin(gpu, 1e6), *host ? " of " : "", host);
    return use;
}

static void add_file(struct uses *uses, const char *path, const struct source *source)
{
    char *line = NULL, *field[COLUMNS], host[64];
    char why[FILES_WHY];
    size_t room = 0, fields = 0, before = uses->n;
    FILE *file = files_open(path, FILES_MOST_BYTES, why);
    if (!file)
        return;
    host_of(host, path);
    if (files_read_line(&line, &room, file) > 0)
        fields = split(line, field);
    size_t seconds = column_of(field, fields, "seconds"), of = column_of(field, fields, "gpu");
    size_t a = column_of(field, fields, source->first), b = column_of(field, fields, source->second);
    while (files_read_line(&line, &room, file) > 0) {
        size_t n = split(line, field);
        double gpu = source->of_gpus ? number_of(field, n, of) : -1;
        struct use *use = gpu >= 0 || !source->of_gpus ? find_use(uses, before, gpu, host) : NULL;
        if (use)
            add_point(use, number_of(field, n, seconds),
                      number_of(field, n, a) + (*source->second ? number_of(field, n, b) : 0));
    }
    free(line);
    fclose(file);
}

/* Of all files in the run's directory, those of GPUs first. */
static struct uses read_uses(const struct report_run *run)
{
    struct uses uses = {.n = 0};
    for (const struct source *source = sources; source < sources + sizeof sources / sizeof *sources; source++) {
        glob_t found;
        size_t n = files_find(&found, run->directory, source->pattern);
        for (size_t i = 0; i < n; i++)
            add_file(&uses, found.gl_pathv[i], source);
        globfree(&found);
    }
    return uses;
}

/* Of what is known; NAN where nothing is. */
static double mean_of(const struct use *use)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < use->n; i++)
        if (isfinite(use->point[i].y)) {
            sum += use->point[i].y;
            n++;
        }
    return sum / (double)n;
}

/* All that was recorded: of each run a strip for each GPU and the CPUs of each host. */
struct strips {
    struct use use[CHART_STRIPS];
    struct chart_strip strip[CHART_STRIPS];
    char label[CHART_STRIPS][220], end[CHART_STRIPS][32];
    double mean[CHART_STRIPS];
    size_t n;
    int left_out; /* whether there are more */
};

static void add_run(struct strips *all, const struct report_runs *runs, const struct report_run *run)
{
    struct uses uses = read_uses(run);
    for (const struct use *use = uses.item; use < uses.item + uses.n; use++) {
        size_t at = all->n;
        double mean = mean_of(use);
        if (at == CHART_STRIPS || !isfinite(mean)) {
            all->left_out |= at == CHART_STRIPS;
            free(use->point);
            continue;
        }
        all->use[at] = *use;
        all->mean[at] = mean;
        snprintf(all->label[at], sizeof all->label[at], "%.79s, %.15s: %.95s", run->label, run->mode, use->name);
        snprintf(all->end[at], sizeof all->end[at], "%.0f %%", all->mean[at]);
        all->strip[at] =
            (struct chart_strip){all->label[at], all->end[at], use->point, use->n, colour_of_run(runs, run)};
        all->n++;
    }
}

/* The least and the greatest mean. */
static void name_use(char title[600], const struct strips *all)
{
    size_t least = 0, most = 0;
    for (size_t i = 1; i < all->n; i++) {
        least = all->mean[i] < all->mean[least] ? i : least;
        most = all->mean[i] > all->mean[most] ? i : most;
    }
    if (all->mean[most] - all->mean[least] < 1)
        snprintf(title, 600, "Busy for %.0f %% of the time%s", all->mean[most], all->n > 1 ? ", in all runs" : "");
    else
        snprintf(title, 600, "Busy for %.0f %% (%s) to %.0f %% of the time (%s)", all->mean[least], all->label[least],
                 all->mean[most], all->label[most]);
}

/* Whether a run before this one was of the same label, and has the same machines to show. */
static int is_shown(const struct report_runs *runs, const struct report_run *run)
{
    for (const struct report_run *r = runs->item; r < run; r++)
        if (!*r->problem && run->ranks == r->ranks && !strcmp(run->label, r->label) && run_compares(r))
            return 1;
    return !run_compares(run);
}

/* Of each label its first comparison, and then, if there is room, the other runs. */
void section_add_utilisation(cJSON *document, const struct report_runs *runs)
{
    struct strips *all = allocate(1, sizeof *all);
    char title[600], note[80] = "";
    for (int second = 0; second < 2; second++)
        for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
            if (!*run->problem && is_shown(runs, run) == second)
                add_run(all, runs, run);
    if (all->n) {
        name_use(title, all);
        if (all->left_out)
            snprintf(note, sizeof note, "The first %d are shown; there are more.", CHART_STRIPS);
        document_add_heading(document, 2, "How busy the machine was");
        document_add_picture(
            document, "utilisation", title,
            chart_strips(&(struct chart_words){title,
                                               "Each strip from 0 to 100 % of the time, at its end the mean; a sample "
                                               "a second",
                                               note},
                         all->strip, all->n, 100, "seconds since the run began"));
    }
    for (size_t i = 0; i < all->n; i++)
        free(all->use[i].point);
    free(all);
}
