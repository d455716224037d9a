/* parts.h - a run of the command, of which only allreduce/ knows. */
#ifndef BENCH_ALLREDUCE_PARTS_H
#define BENCH_ALLREDUCE_PARTS_H

#include "allreduce/options.h"
#include "base/progress.h"

#include <pthread.h>

/* What --live shows: the collective that was finished last. */
struct collective_page {
    pthread_mutex_t lock;
    struct page_values {
        const char *collective, *dtype, *op, *placement; /* collective NULL: none yet */
        double bytes;
        double seconds, algbw, busbw, wrong; /* as in summary.json; NAN: unknown, or not measured */
        double overlap;                      /* with --overlap, where seconds are those of the collective alone */
    } now;
};

/* From now on the page shows this timing, which is finished. Copies what it shows, but for names, which are static. */
void collective_page_take_timing(struct collective_page *page, const struct collective_timing *timing);

/* The same of an overlap: its seconds are the median of the collective alone, and there are no rates. */
void collective_page_take_overlap(struct collective_page *page, const struct overlap_timing *overlap);

/* Prints what is shown now as metrics (base/exposition.h), from any thread; nothing before the first timing. context:
 * the struct collective_page. */
void collective_page_print(void *context, FILE *out);

/* One run of the command. */
struct allreduce {
    const struct job *job;
    const struct allreduce_options *options;
    struct open_device opened;
    struct host_facts host;
    int threads;
    struct endpoint endpoint;
    struct collective_timing *timing; /* [timings]; with --overlap only the collectives to measure */
    size_t timings, finished;         /* of them: their figures are made */
    double wrong;                     /* elements, so far */
    double busbw;                     /* sum over the finished */

    int64_t origin_ns, written_ns; /* when the run began; when the summary was last written */
    struct results results;
    struct figure_list figures;
    struct growing_table table;
    struct monitor *monitor;     /* NULL: none */
    struct live *live;           /* NULL: none, as on ranks other than 0 */
    struct collective_page page; /* that it shows */
    struct monitor_findings findings;
    struct progress progress;
};

/* Rank 0: all that is known now, as summary.json holds it but for the figures: heading, the growing table (by
 * reference: it must outlive this), the fitted link once all timings are finished, and notes. The caller owns it. */
cJSON *allreduce_summary(const struct allreduce *run);

#endif
