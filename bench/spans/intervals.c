/* intervals.c - unions and intersections of time intervals. */
#include "spans/intervals.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

size_t intervals_unite(struct interval *v, size_t n)
{
    size_t out = 0;
    qsort(v, n, sizeof *v, by_start);
    for (size_t i = 0; i < n; i++) {
        if (v[i].end <= v[i].start)
            continue;
        if (out && v[i].start <= v[out - 1].end) {
            if (v[i].end > v[out - 1].end)
                v[out - 1].end = v[i].end;
        } else
            v[out++] = v[i];
    }
    return out;
}

int64_t intervals_length(const struct interval *v, size_t n)
{
    int64_t length = 0;
    for (size_t i = 0; i < n; i++)
        length += v[i].end - v[i].start;
    return length;
}

size_t intervals_intersect(const struct interval *a, size_t na, const struct interval *b, size_t nb,
                           struct interval *common)
{
    size_t n = 0;
    for (size_t i = 0, j = 0; i < na && j < nb;) {
        int64_t start = a[i].start > b[j].start ? a[i].start : b[j].start;
        int64_t end = a[i].end < b[j].end ? a[i].end : b[j].end;
        if (start < end)
            common[n++] = (struct interval){start, end};
        if (a[i].end < b[j].end)
            i++;
        else
            j++;
    }
    return n;
}
