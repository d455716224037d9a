/* parts.h - a run of the command, of which only allreduce/ knows. */
#ifndef BENCH_MEASURE_ALLREDUCE_PARTS_H
#define BENCH_MEASURE_ALLREDUCE_PARTS_H

#include "allreduce/options.h"
#include "base/progress.h"

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
    struct monitor *monitor; /* NULL: none */
    struct monitor_findings findings;
    struct progress progress;
};

/* Rank 0: all that is known now, as summary.json holds it but for the figures: heading, the growing table (by
 * reference: it must outlive this), the fitted link once all timings are finished, and notes. The caller owns it. */
cJSON *allreduce_summary(const struct allreduce *run);

#endif
