/* section_utilisation.c - how busy CPUs and GPUs were, from the files of a run's monitors. */
#include "report/sections.h"

#include "base/files.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 48, SHOWN = 60, DEVICES = 1000 }; /* columns and devices of a file, at most */

/* The utilisation of a GPU, or of the CPUs of a host: one sample a second, from 0 to 1. */
struct utilisation {
    const char *label, *mode; /* of the run */
    char device[96];
    double gpu; /* number of the GPU; -1: CPUs */
    double sum, mean, least, most;
    size_t n; /* samples that are numbers */
};

struct utilisations {
    struct utilisation *item;
    size_t n;
};

#define FIELD(field) offsetof(struct utilisation, field)
/* clang-format off */
static const struct column columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"mode", "mode", COLUMN_NAME, FIELD(mode), NULL, 1, -9, 0},
    {"device", "device", COLUMN_CHARS, FIELD(device), NULL, 1, -6, 0},
    {"busy", "mean\n%", COLUMN_REAL, FIELD(mean), "1", 100, 6, 0},
    {"busy_min", "least\n%", COLUMN_REAL, FIELD(least), "1", 100, 6, 0},
    {"busy_max", "most\n%", COLUMN_REAL, FIELD(most), "1", 100, 6, 0},
    {"n", "n\nseconds", COLUMN_COUNT, FIELD(n), "1", 1, 7, 0},
};
/* clang-format on */
#undef FIELD

/* A file of a monitor: the columns whose sum is the utilisation in percent, and one with the number of the GPU. */
struct source {
    const char *pattern, *percent[2], *gpu; /* gpu NULL: the file is of CPUs */
};
static const struct source sources[] = {{"gpu_monitor*.csv", {"utilization_gpu_percent", NULL}, "gpu"},
                                        {"cpu_monitor*.csv", {"user_percent", "system_percent"}, NULL}};

/* Splits a line at its commas, in place. Returns how many fields it has. */
static size_t split_line(char *line, char *field[COLUMNS])
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

/* The index of the column with that name; COLUMNS: none, also for NULL. */
static size_t find_column(char *const field[COLUMNS], size_t fields, const char *name)
{
    for (size_t i = 0; i < fields && name; i++)
        if (!strcmp(field[i], name))
            return i;
    return COLUMNS;
}

static double number_of(char *const field[COLUMNS], size_t fields, size_t i)
{
    char *end;
    double value = i < fields ? strtod(field[i], &end) : NAN;
    return i < fields && end > field[i] && !*end ? value : NAN;
}

/* The utilisation of a GPU, or of CPUs (-1), among those from `first` on, which are of one file; appended if it is new.
 * NULL: the file has too many. */
static struct utilisation *find_device(struct utilisations *all, size_t first, double gpu, const char *path,
                                       const struct report_run *run)
{
    const char *slash = strrchr(path, '/'), *host = strstr(slash ? slash : path, "_monitor_");
    for (size_t i = first; i < all->n; i++)
        if (all->item[i].gpu == gpu)
            return &all->item[i];
    if (all->n - first == DEVICES)
        return NULL;
    all->item = allocate_more(all->item, all->n, sizeof *all->item);
    struct utilisation *u = &all->item[all->n++];
    *u = (struct utilisation){.label = run->label, .mode = run->mode, .gpu = gpu, .least = INFINITY};
    host = host ? host + strlen("_monitor_") : "";
    int at = snprintf(u->device, sizeof u->device, gpu < 0 ? "CPUs" : "GPU %.0f", fmin(gpu, 1e6));
    snprintf(u->device + at, sizeof u->device - (size_t)at, "%s%.*s", *host ? " of " : "", (int)strcspn(host, "."),
             host);
    return u;
}

static void add_file(struct utilisations *all, const char *path, const struct source *source,
                     const struct report_run *run)
{
    char *line = NULL, *field[COLUMNS], why[FILES_WHY];
    size_t room = 0, fields = 0, before = all->n;
    FILE *file = files_open(path, FILES_MOST_BYTES, why);
    if (!file)
        return;
    if (files_read_line(&line, &room, file) > 0)
        fields = split_line(line, field);
    size_t gpus = find_column(field, fields, source->gpu);
    size_t a = find_column(field, fields, source->percent[0]), b = find_column(field, fields, source->percent[1]);
    while (files_read_line(&line, &room, file) > 0) {
        size_t n = split_line(line, field);
        double gpu = source->gpu ? number_of(field, n, gpus) : -1;
        double share = (number_of(field, n, a) + (source->percent[1] ? number_of(field, n, b) : 0)) / 100;
        struct utilisation *u = gpu >= 0 || !source->gpu ? find_device(all, before, gpu, path, run) : NULL;
        if (!u || !isfinite(share))
            continue;
        u->n++;
        u->sum += share;
        u->mean = u->sum / (double)u->n;
        u->least = fmin(u->least, share);
        u->most = fmax(u->most, share);
    }
    free(line);
    fclose(file);
}

void section_add_utilisation(cJSON *document, const struct report_runs *runs)
{
    struct utilisations all = {0};
    size_t known = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        for (size_t s = 0; s < sizeof sources / sizeof *sources && !*run->problem; s++) {
            glob_t found;
            size_t n = files_find(&found, run->directory, sources[s].pattern);
            for (size_t i = 0; i < n; i++)
                add_file(&all, found.gl_pathv[i], &sources[s], run);
            globfree(&found);
        }
    for (size_t i = 0; i < all.n; i++)
        if (all.item[i].n)
            all.item[known++] = all.item[i];
    if (known) {
        document_add_heading(document, 2, "How busy the machine was");
        document_add_table(document,
                           &(struct table){.key = "utilisation",
                                           TABLE_COLUMNS(columns),
                                           TABLE_ROWS(all.item, known),
                                           .shown = SHOWN,
                                           .note = {"One sample a second. CPUs: user and system time, mean over "
                                                    "all cores. GPUs: utilization as NVML reports it."}});
    }
    free(all.item);
}
