/* section_utilisation.c - how busy CPUs and GPUs were, from the files of a run's monitors. */
#include "report/sections.h"

#include "base/files.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 60, DEVICES = 1000 }; /* rows that are printed; devices of a file, at most */

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

/* The number of the column with that name in a line of headings; -1: there is none. */
static int find_column(const char *headings, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; headings; i++) {
        if (!strncmp(headings, name, length) && strchr(",\r\n", headings[length]))
            return i;
        headings = strchr(headings, ',');
        headings += headings != NULL;
    }
    return -1;
}

/* The number in a column of a line; NAN: there is none. */
static double read_field(const char *line, int column)
{
    char *end;
    for (int i = 0; i < column && line; i++) {
        line = strchr(line, ',');
        line += line != NULL;
    }
    double value = column >= 0 && line ? strtod(line, &end) : NAN;
    return column >= 0 && line && end > line && strchr(",\r\n", *end) ? value : NAN;
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
    char *line = NULL, why[FILES_WHY];
    size_t room = 0, before = all->n;
    int column[3] = {-1, -1, -1}; /* the two of percent, and the GPU */
    const char *const name[3] = {source->percent[0], source->percent[1], source->gpu};
    FILE *file = files_open(path, FILES_MOST_BYTES, why);
    if (!file)
        return;
    for (int i = 0, any = files_read_line(&line, &room, file) > 0; i < 3 && any; i++)
        column[i] = name[i] ? find_column(line, name[i]) : -1;
    while (files_read_line(&line, &room, file) > 0) {
        double gpu = source->gpu ? read_field(line, column[2]) : -1;
        double share = (read_field(line, column[0]) + (source->percent[1] ? read_field(line, column[1]) : 0)) / 100;
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
        document_add_heading(document, "How busy the machine was");
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
