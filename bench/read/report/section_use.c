/* section_use.c - how busy CPUs and GPUs were while a run went on, from what its monitors wrote. */
#include "report/sections.h"

#include "base/files.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 48, SHOWN = 60, DEVICES = 1000 }; /* DEVICES: of a file, at most */

/* How busy the CPUs of a host, or a GPU, were: a sample is the share of a second. */
struct use {
    const char *label, *mode; /* of the run */
    char device[96];
    double gpu; /* its number; -1: CPUs */
    double sum, mean, least, most;
    size_t n; /* samples with a number */
};

struct uses {
    struct use *item; /* [room] */
    size_t n, room;
};

#define FIELD(field) offsetof(struct use, field)
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

/* The use of a GPU, or of CPUs (-1), among those from `first` on, which are of one file; a new one where
 * there is none, or NULL where there are too many.
 */
static struct use *find_use(struct uses *uses, size_t first, double gpu, const char *host, const struct report_run *run)
{
    for (size_t i = first; i < uses->n; i++)
        if (uses->item[i].gpu == gpu)
            return &uses->item[i];
    if (uses->n - first == DEVICES)
        return NULL;
    if (uses->n == uses->room) {
        uses->room = 2 * uses->room + 16;
        uses->item = realloc(uses->item, uses->room * sizeof *uses->item);
        if (!uses->item)
            fatal_no_memory(uses->room, sizeof *uses->item);
    }
    struct use *use = &uses->item[uses->n++];
    *use = (struct use){.label = run->label, .mode = run->mode, .gpu = gpu, .least = INFINITY};
    if (gpu < 0)
        snprintf(use->device, sizeof use->device, "CPUs%s%s", *host ? " of " : "", host);
    else
        snprintf(use->device, sizeof use->device, "GPU %.0f%s%s", fmin(gpu, 1e6), *host ? " of " : "", host);
    return use;
}

static void add_sample(struct use *use, double share)
{
    if (!isfinite(share))
        return;
    use->n++;
    use->sum += share;
    use->mean = use->sum / (double)use->n;
    use->least = fmin(use->least, share);
    use->most = fmax(use->most, share);
}

static void add_file(struct uses *uses, const char *path, const struct source *source, const struct report_run *run)
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
    size_t of = column_of(field, fields, "gpu");
    size_t a = column_of(field, fields, source->first), b = column_of(field, fields, source->second);
    while (files_read_line(&line, &room, file) > 0) {
        size_t n = split(line, field);
        double gpu = source->of_gpus ? number_of(field, n, of) : -1;
        double percent = number_of(field, n, a) + (*source->second ? number_of(field, n, b) : 0);
        struct use *use = gpu >= 0 || !source->of_gpus ? find_use(uses, before, gpu, host, run) : NULL;
        if (use)
            add_sample(use, percent / 100);
    }
    free(line);
    fclose(file);
}

/* Of all files in a run's directory, those of GPUs first. */
static void add_run(struct uses *uses, const struct report_run *run)
{
    for (const struct source *source = sources; source < sources + sizeof sources / sizeof *sources; source++) {
        glob_t found;
        size_t n = files_find(&found, run->directory, source->pattern);
        for (size_t i = 0; i < n; i++)
            add_file(uses, found.gl_pathv[i], source, run);
        globfree(&found);
    }
}

void section_add_utilisation(cJSON *document, const struct report_runs *runs)
{
    struct uses all = {0};
    size_t known = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (!*run->problem)
            add_run(&all, run);
    for (size_t i = 0; i < all.n; i++)
        if (all.item[i].n)
            all.item[known++] = all.item[i];
    if (known) {
        document_add_heading(document, 2, "How busy the machine was");
        document_add_table(document,
                           &(struct table){.key = "utilisation",
                                           TABLE_COLUMNS(columns),
                                           .row = all.item,
                                           .rows = known,
                                           .row_bytes = sizeof *all.item,
                                           .shown = SHOWN,
                                           .note = {"A sample a second. CPUs: user and system time, all cores "
                                                    "together; GPUs: utilization as NVML reports it."}});
    }
    free(all.item);
}
