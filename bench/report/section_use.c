/* section_use.c - how busy CPUs and GPUs were while a run went on, from what its monitors wrote. */
#include "report/sections.h"

#include "base/text.h"
#include "chart/chart.h"
#include "kernels/error.h"
#include "report/colours.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES = 12, COLUMNS = 48, POINTS = 600 }; /* SERIES: of a run */

/* A column of a monitor's file over its first, seconds. */
struct use {
    char name[96];
    struct chart_point *point; /* [n], owned */
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

/* Every second point, where there is no room for more. */
static void thin(struct use *use)
{
    use->n /= 2;
    for (size_t i = 0; i < use->n; i++)
        use->point[i] = use->point[2 * i];
}

/* What is read of a file: the sum of two columns, of a GPU's lines where it has several GPUs. */
struct source {
    const char *kind, *first, *second; /* second "": first alone */
};
static const struct source cpus = {"cpu", "user_percent", "system_percent"};
static const struct source gpus = {"gpu", "utilization_gpu_percent", ""};

/* At most POINTS, evenly over the lines; of all lines with gpu below 0. */
static void read_columns(struct use *use, FILE *file, const struct source *source, int gpu)
{
    char *line = NULL, *field[COLUMNS];
    size_t room = 0, fields = 0, number = 0, every = 1;
    use->point = allocate(POINTS, sizeof *use->point);
    use->n = 0;
    if (getline(&line, &room, file) > 0)
        fields = split(line, field);
    size_t seconds = column_of(field, fields, "seconds"), a = column_of(field, fields, source->first);
    size_t b = column_of(field, fields, source->second), of = column_of(field, fields, "gpu");
    while (getline(&line, &room, file) > 0) {
        size_t n = split(line, field);
        if (gpu >= 0 && number_of(field, n, of) != gpu)
            continue;
        if (number++ % every)
            continue;
        if (use->n == POINTS) {
            thin(use);
            every *= 2;
            if ((number - 1) % every)
                continue;
        }
        double value = number_of(field, n, a) + (*source->second ? number_of(field, n, b) : 0);
        use->point[use->n++] = (struct chart_point){number_of(field, n, seconds), value, NAN, NAN, CHART_PLAIN, NULL};
    }
    free(line);
}

/* The host that a file is of: what follows the first word of its name, or "". */
static void host_of(char host[64], const char *path)
{
    const char *slash = strrchr(path, '/'), *from = strstr(slash ? slash : path, "_monitor_");
    snprintf(host, 64, "%s", from ? from + strlen("_monitor_") : "");
    host[strcspn(host, ".")] = 0;
}

/* Adds the series of a file: of the CPUs one, of GPUs one of each. Returns how many there are then. */
static size_t add_file(struct use use[SERIES], size_t n, const char *path, const struct source *source)
{
    char host[64];
    host_of(host, path);
    for (int gpu = source == &gpus ? 0 : -1; n < SERIES; gpu++) {
        FILE *file = fopen(path, "re");
        if (!file)
            break;
        read_columns(&use[n], file, source, gpu);
        fclose(file);
        if (!use[n].n) {
            free(use[n].point);
            break;
        }
        if (gpu < 0)
            snprintf(use[n].name, sizeof use[n].name, "CPUs%s%s", *host ? " of " : "", host);
        else
            snprintf(use[n].name, sizeof use[n].name, "GPU %d%s%s", gpu, *host ? " of " : "", host);
        n++;
        if (gpu < 0)
            break;
    }
    return n;
}

/* Adds the series of all files of a kind in the run's directory. */
static size_t add_files(struct use use[SERIES], size_t n, const struct report_run *run, const struct source *source)
{
    char pattern[2 * FILES_PATH];
    glob_t found;
    size_t at = 0;
    for (const char *c = run->directory; *c && at < sizeof pattern - 64; c++) {
        if (strchr("*?[\\", *c))
            pattern[at++] = '\\';
        pattern[at++] = *c;
    }
    snprintf(pattern + at, sizeof pattern - at, "/%s_monitor*.csv", source->kind);
    int none = glob(pattern, 0, NULL, &found);
    for (size_t i = 0; !none && i < found.gl_pathc; i++)
        n = add_file(use, n, found.gl_pathv[i], source);
    globfree(&found);
    return n;
}

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
    size_t n, left_out;
};

static void add_run(struct strips *all, const struct report_runs *runs, const struct report_run *run)
{
    struct use use[SERIES];
    size_t n = *run->problem ? 0 : add_files(use, add_files(use, 0, run, &gpus), run, &cpus);
    for (size_t i = 0; i < n; i++) {
        size_t at = all->n;
        if (at == CHART_STRIPS) {
            all->left_out++;
            free(use[i].point);
            continue;
        }
        all->use[at] = use[i];
        all->mean[at] = mean_of(&use[i]);
        snprintf(all->label[at], sizeof all->label[at], "%.79s, %.15s: %.95s", run->label, run->mode, use[i].name);
        snprintf(all->end[at], sizeof all->end[at], "%.0f %%", all->mean[at]);
        all->strip[at] =
            (struct chart_strip){all->label[at], all->end[at], use[i].point, use[i].n, colour_of_run(runs, run)};
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

void section_add_utilisation(cJSON *document, const struct report_runs *runs)
{
    struct strips *all = allocate(1, sizeof *all);
    char title[600], note[80] = "";
    all->n = all->left_out = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        add_run(all, runs, run);
    if (all->n) {
        name_use(title, all);
        if (all->left_out)
            snprintf(note, sizeof note, "%zu more are left out.", all->left_out);
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
