/* picture.c - the step over the bucket size, of the runs of a grid, as a picture. */
#include "sweep/picture.h"

#include "base/files.h"
#include "base/text.h"
#include "chart/chart.h"
#include "kernels/error.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends a part of a file's name: letters, digits, . _ and + stay, (R) and (TM) go, anything else is one -. */
static void append_part(char name[FILES_PATH], const char *part, size_t most)
{
    size_t at = strlen(name), begin = at + 1;
    if (!*part || at + most + 2 > FILES_PATH)
        return;
    name[at++] = '_';
    for (const char *c = part; *c && at - begin < most; c++) {
        if (!strncmp(c, "(R)", 3) || !strncmp(c, "(TM)", 4))
            c += strcspn(c, ")");
        else if (isalnum((unsigned char)*c) || strchr("._+", *c))
            name[at++] = *c;
        else if (at > begin && name[at - 1] != '-')
            name[at++] = '-';
    }
    name[at - (name[at - 1] == '-')] = 0;
}

/* The point of an implementation with the smallest bucket above `mb`, or NULL. */
static const struct grid_point *next_bucket(const struct grid_point *point, size_t n, const char *name, double mb)
{
    const struct grid_point *next = NULL;
    for (const struct grid_point *p = point; p < point + n; p++)
        if (p->bucket_mb > mb && (!next || p->bucket_mb < next->bucket_mb) && !strcmp(p->implementation, name))
            next = p;
    return next;
}

static int is_best(const struct grid_point *p)
{
    return p->verdict == GRID_BEST || p->verdict == GRID_ONLY;
}

/* All sizes of an implementation, in their order; returns how many. */
static size_t take_sizes(struct chart_point *out, const struct grid_point *point, size_t n, const char *name)
{
    size_t taken = 0;
    for (const struct grid_point *p = next_bucket(point, n, name, 0); p; p = next_bucket(point, n, name, p->bucket_mb))
        out[taken++] = (struct chart_point){.x = p->bucket_mb,
                                            .y = 1e3 * p->mean_s,
                                            .low = 1e3 * p->interval_s[0],
                                            .high = 1e3 * p->interval_s[1],
                                            .mark = is_best(p)                ? CHART_BEST
                                                    : p->verdict == GRID_TIED ? CHART_AS_GOOD
                                                                              : CHART_PLAIN};
    return taken;
}

/* The picture, which the caller frees; NULL if no point has a bucket size. */
static char *draw(const struct grid_point *point, size_t n, const char *of, const char *finding)
{
    struct chart_point *taken = allocate(n, sizeof *taken);
    struct chart_series *series = allocate(n, sizeof *series);
    struct chart_reference *reference = allocate(n, sizeof *reference);
    size_t points = 0, lines = 0, references = 0;
    char *picture = NULL;
    for (const struct grid_point *p = point; p < point + n; p++) {
        if (!isfinite(p->bucket_mb)) {
            reference[references++] = (struct chart_reference){p->implementation, 1e3 * p->mean_s, is_best(p)};
        } else if (!next_bucket(point, (size_t)(p - point), p->implementation, 0)) { /* its first point */
            size_t sizes = take_sizes(&taken[points], point, n, p->implementation);
            series[lines] = (struct chart_series){p->implementation, &taken[points], sizes, (int)(lines % SVG_COLOURS),
                                                  CHART_LINE | CHART_POINTS};
            points += sizes;
            lines++;
        }
    }
    if (lines)
        picture = chart_xy(&(struct chart_words){finding, of,
                                                 "Mean over the runs of a run's median step; thin rings: not "
                                                 "significantly slower than the best."},
                           &(struct chart_xy){.x = {.title = "bucket size, MiB", .scale = CHART_LOG2},
                                              .y = {.title = "ms a step"},
                                              .series = series,
                                              .n_series = lines,
                                              .reference = reference,
                                              .n_references = references});
    free(taken);
    free(series);
    free(reference);
    return picture;
}

int picture_write(const char *directory, const struct grid_point *point, size_t n, const char *of, const char *finding)
{
    char file[FILES_PATH], ranks[40], *picture = draw(point, n, of, finding);
    if (!picture)
        return 0;
    snprintf(ranks, sizeof ranks, "%zu rank%s", point->ranks, text_plural(point->ranks));
    snprintf(file, sizeof file, "%.*s/sweep", FILES_PATH - 300, directory);
    append_part(file, point->model, 100);
    append_part(file, ranks, 30);
    append_part(file, point->link, 40);
    append_part(file, point->machine, 50);
    strcat(file, ".svg");
    int status = files_replace_path(NULL, file, SVG_MARK, picture);
    free(picture);
    return status;
}
