/* figures.h - the figures of one run as a flat list, whatever kind of run it was. */
#ifndef BENCH_COMPARE_FIGURES_H
#define BENCH_COMPARE_FIGURES_H

#include <cJSON.h>
#include <stddef.h>

struct compare_figure {
    char subject[128]; /* of what: an implementation, or collective, type, operation and placement */
    char name[48];     /* which figure of it, such as step */
    char unit[12];
    double bytes; /* size of a collective; 0 for what has no size */
    double value;
    int more_is_better;
    int gated; /* judged unless the user says what is; the others are for information */
    int wrong; /* its data was wrong */
};
struct compare_figures {
    struct compare_figure *item;
    size_t n;
};

/* Takes the figures of a summary.json by the run's mode: of a benchmark each implementation's medians (step is gated);
 * of a profile the captured steps, phases, overlap, collectives and controls (every step is gated); of a sweep of
 * collectives the times and bandwidths of each size (the sustained time is gated), or what they take beside computation
 * (both together). Figures that are null are left out. Returns 0; or -1, reported with the path: it is not the summary
 * of such a run. Release with destroy in either case.
 */
int compare_figures_create(struct compare_figures *figures, const char *path, const char *mode, const cJSON *summary);
void compare_figures_destroy(struct compare_figures *figures); /* zeroed ones are fine */

#endif
