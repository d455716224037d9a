/* page.c - what --live shows of the collectives. */
#include "allreduce/parts.h"
#include "base/exposition.h"

#include <math.h>

static void take(struct collective_page *page, const struct collective_timing *t, struct page_values now)
{
    now.collective = comm_kind_name[t->collective.kind];
    now.dtype = t->dtype;
    now.op = t->op;
    now.placement = t->placement;
    now.bytes = (double)t->bytes;
    pthread_mutex_lock(&page->lock);
    page->now = now;
    pthread_mutex_unlock(&page->lock);
}

void collective_page_take_timing(struct collective_page *page, const struct collective_timing *t)
{
    take(page, t,
         (struct page_values){
             .seconds = t->time, .algbw = t->algbw, .busbw = t->busbw, .wrong = t->wrong, .overlap = NAN});
}

void collective_page_take_overlap(struct collective_page *page, const struct overlap_timing *o)
{
    take(page, &o->of,
         (struct page_values){
             .seconds = o->comm.median, .algbw = NAN, .busbw = NAN, .wrong = NAN, .overlap = o->overlap.median});
}

void collective_page_print(void *context, FILE *out)
{
    struct collective_page *page = context;
    pthread_mutex_lock(&page->lock);
    const struct page_values now = page->now;
    pthread_mutex_unlock(&page->lock);
    const struct exposition_label label[] = {
        {"collective", now.collective}, {"dtype", now.dtype}, {"op", now.op}, {"placement", now.placement}};
    const struct {
        const char *name, *help;
        double value;
    } metric[] = {
        {"ddpbench_collective_bytes", "Size of the collective that was measured last.", now.bytes},
        {"ddpbench_collective_seconds", "Its time.", now.seconds},
        {"ddpbench_collective_algbw_bytes_per_second", "Its size / its time.", now.algbw},
        {"ddpbench_collective_busbw_bytes_per_second", "That times the bus factor.", now.busbw},
        {"ddpbench_collective_wrong_elements", "Elements of its results that are not as they have to be.", now.wrong},
        {"ddpbench_collective_overlap_ratio", "The share of it that computation hides.", now.overlap},
    };
    for (size_t i = 0; now.collective && i < sizeof metric / sizeof *metric; i++)
        if (!isnan(metric[i].value)) {
            exposition_metric(out, metric[i].name, "gauge", metric[i].help);
            exposition_sample(out, metric[i].name, label, sizeof label / sizeof *label, metric[i].value);
        }
}
