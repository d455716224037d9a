/* picture.c - the data of a picture of step time against bucket size. */
#include "sweep/picture.h"

#include "base/files.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *picture_edge(const struct grid_point *point, size_t n)
{
    const struct grid_point *best = grid_best_bucket(point, n);
    int edge = best && best->verdict != GRID_UNDECIDED ? grid_edge(point, n, best) : 0;
    return edge < 0   ? "best at the smallest size tried: try smaller"
           : edge > 0 ? "best at the largest size tried: try larger"
                      : NULL;
}

/* ---- its name ---- */

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

/* ---- its lines ---- */

/* The point of an implementation (NULL: of any) with the smallest bucket above `mb`, or NULL. */
static const struct grid_point *next_bucket(const struct grid_point *point, size_t n, const char *name, double mb)
{
    const struct grid_point *next = NULL;
    for (const struct grid_point *p = point; p < point + n; p++)
        if (p->bucket_mb > mb && (!next || p->bucket_mb < next->bucket_mb) &&
            (!name || !strcmp(p->implementation, name)))
            next = p;
    return next;
}

static void print_short_name(FILE *out, const struct grid_point *p)
{
    if (isfinite(p->bucket_mb))
        fprintf(out, "%.10g MiB", p->bucket_mb);
    else
        fputs(p->implementation, out);
}

/* The words on the picture, and the sizes, which are its ticks. */
static void print_words(FILE *out, const struct grid_point *point, size_t n, const char *title)
{
    char step[CELL];
    const char *edge = picture_edge(point, n), *between = "; as good (not significantly slower): ";
    int decided = 0, intervals = 0;
    fprintf(out, "# title\t%s\n# verdict\t", title);
    for (size_t i = 0; i < n; i++) {
        intervals |= isfinite(point[i].interval_s[0]);
        if (point[i].verdict == GRID_BEST || point[i].verdict == GRID_ONLY) {
            fprintf(out, "best: ");
            print_short_name(out, &point[i]);
            fprintf(out, " (%s)", text_value_like(step, point[i].mean_s, "s", point[i].mean_s));
            decided = 1;
        } else if (point[i].verdict == GRID_TIED) {
            fputs(between, out);
            print_short_name(out, &point[i]);
            between = ", ";
        }
    }
    if (!decided)
        fprintf(out, "fewer than %d repeats: no intervals, no verdict", GRID_REPEATS);
    fprintf(out, "\n# note\t%s\n# intervals\t%d\n# sizes\t", edge ? edge : "", intervals);
    for (const struct grid_point *p = next_bucket(point, n, NULL, 0); p; p = next_bucket(point, n, NULL, p->bucket_mb))
        fprintf(out, "%.10g ", p->bucket_mb);
    fputc('\n', out);
}

/* x, mean step and its interval in ms, and how large a ring marks it: the best, or as good. */
static void print_point(FILE *out, double x, const struct grid_point *p, int whole)
{
    int best = p->verdict == GRID_BEST || p->verdict == GRID_ONLY;
    fprintf(out, "%.10g\t%.9g\t%.9g\t%.9g\t%d\n", x, 1e3 * p->mean_s, whole ? 1e3 * p->interval_s[0] : NAN,
            whole ? 1e3 * p->interval_s[1] : NAN,
            !whole ? 0
            : best ? 2
                   : p->verdict == GRID_TIED);
}

/* For each implementation a block: its name, and lines of points; two empty lines between them. One without buckets is
 * a horizontal line, with its interval at a place of its own at the right. */
static void print_series(FILE *out, const struct grid_point *point, size_t n, double least, double most)
{
    double space = most > least ? pow(most / least, 0.035) : 1.05;
    int lines = 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = point[i].implementation;
        int buckets = isfinite(point[i].bucket_mb);
        if (buckets && next_bucket(point, i, name, 0))
            continue; /* it has had its block */
        fprintf(out, "%s%s\n", i ? "\n\n" : "", name);
        if (buckets)
            for (const struct grid_point *p = next_bucket(point, n, name, 0); p;
                 p = next_bucket(point, n, name, p->bucket_mb))
                print_point(out, p->bucket_mb, p, 1);
        else {
            print_point(out, least / space, &point[i], 0);
            print_point(out, most * pow(space, ++lines), &point[i], 1);
        }
    }
}

int picture_write(const char *directory, const struct grid_point *point, size_t n, const char *title)
{
    char file[FILES_PATH], ranks[40], *text;
    size_t length;
    double least = INFINITY, most = 0;
    for (const struct grid_point *p = next_bucket(point, n, NULL, 0); p;
         p = next_bucket(point, n, NULL, p->bucket_mb)) {
        least = fmin(least, p->bucket_mb);
        most = p->bucket_mb;
    }
    if (!(most > 0))
        return 0;
    FILE *out = text_begin(&text, &length);
    print_words(out, point, n, title);
    print_series(out, point, n, least, most);
    text_end(out);
    snprintf(ranks, sizeof ranks, "%zu rank%s", point->ranks, text_plural(point->ranks));
    snprintf(file, sizeof file, "%.*s/sweep", FILES_PATH - 300, directory);
    append_part(file, point->model, 100);
    append_part(file, ranks, 30);
    append_part(file, point->link, 40);
    append_part(file, point->machine, 50);
    strcat(file, ".tsv");
    int status = files_replace_path(NULL, file, "# title\t", text);
    free(text);
    return status;
}
