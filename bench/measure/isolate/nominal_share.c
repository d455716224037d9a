/* nominal_share.c - the rate of the median message as a share of --nominal. */
#include "isolate/nominal_share.h"

#include "base/stats.h"
#include "base/text.h"
#include "isolate/matrix.h"
#include "kernels/error.h"
#include "results/results.h"

#include <math.h>
#include <stdlib.h>

/* Writes the typical seconds of the ring's messages to message[ring_rows], and of its round trips to trip[ring_rows].
 * across 1: only of pairs on two hosts. Returns their number. */
static size_t typical_seconds(const struct outcome *o, int across, double *message, double *trip)
{
    size_t n = 0;
    for (const struct matrix_row *row = o->row; row < o->row + o->ring_rows; row++) {
        if (across && o->member[row->message.member].host == o->member[row->message.other].host)
            continue;
        message[n] = row->message.seconds;
        trip[n++] = row->round_trip.seconds;
    }
    return n;
}

void nominal_share_add(const struct outcome *o, const struct nominal *nominal, cJSON *summary,
                       struct figure_list *figures)
{
    char words[NOMINAL_WORDS], size[CELL];
    if (!(nominal->rate > 0))
        return;
    double *message = allocate(2 * o->ring_rows + 1, sizeof *message), *trip = message + o->ring_rows;
    size_t n = typical_seconds(o, !nominal->sort->of_gpus, message, trip);
    if (!n)
        n = typical_seconds(o, 0, message, trip);
    double share = (double)o->bytes / stats_median(message, n) / nominal->rate;
    /* the time of a message ends with an answer of a few bytes, so the latency counts twice, as in a round trip */
    double attainable = nominal_attainable(nominal, stats_median(trip, n), (double)o->bytes);
    free(message);
    results_add_sentence(summary, "notes", "%s", nominal_describe(words, nominal));
    if (!n)
        return;
    results_add_sentence(summary, "notes",
                         "The median of %zu messages of %s, which shows if most members are equally slow: %s.", n,
                         text_bytes(size, (double)o->bytes), nominal_words(words, nominal, share, attainable));
    figures_add_value(figures, "all", "nominal_share", "1", share, n, BETTER_HIGHER);
}
