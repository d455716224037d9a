/* by_name.c - sums the times of phases, parts of the model, operations and collectives by name. */
#include "kernels/error.h"
#include "kernels/operations.h"
#include "spans/spans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_name[] = {
    [KIND_PHASE] = "phase", [KIND_PART] = "part", [KIND_OPERATION] = "operation", [KIND_COLLECTIVE] = "collective"};

/* A span, and the row in which it is counted. */
struct counted_span {
    int64_t start, end; /* ns on the host's clock, on which spans nest exactly */
    double seconds;     /* length of the span; on a GPU taken from the GPU's stamps */
    struct name_total *row;
};

/* Returns the row of a name and kind, and adds a row if there is none. */
static struct name_total *add_row(struct totals *a, const char *name, enum total_kind kind)
{
    for (int i = 0; i < a->n; i++)
        if (!strcmp(a->row[i].name, name) && a->row[i].kind == kind)
            return &a->row[i];
    if (a->n == TOTALS_MOST)
        FATAL("the spans of a profile have more than %d different names", TOTALS_MOST);
    snprintf(a->row[a->n].name, sizeof a->row->name, "%s", name);
    a->row[a->n].kind = kind;
    return &a->row[a->n++];
}

/* Orders spans by start, then longer (outer) spans before shorter ones, then by kind. */
static int by_nesting(const void *a, const void *b)
{
    const struct counted_span *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (int)x->row->kind - (int)y->row->kind;
}

/* Subtracts the time of each span from the self time of the span that directly contains it. */
static void subtract_children(struct counted_span *item, size_t n)
{
    enum { DEEPEST = 32 };
    const struct counted_span *open[DEEPEST];
    int depth = 0;
    qsort(item, n, sizeof *item, by_nesting);
    for (size_t i = 0; i < n; i++) {
        while (depth && open[depth - 1]->end <= item[i].start)
            depth--;
        if (depth)
            open[depth - 1]->row->self -= item[i].seconds;
        if (depth == DEEPEST)
            FATAL("spans nest deeper than %d", DEEPEST);
        open[depth++] = &item[i];
    }
}

/* Sums the rows of all ranks by name. A rank may have rows that others lack, for example of an injected delay. */
static void sum_ranks(struct totals *sum, const struct job *job, const struct totals *mine)
{
    struct totals *all = allocate((size_t)job->size, sizeof *all);
    job_gather(job, mine, sizeof *mine, all);
    *sum = (struct totals){0};
    for (int r = 0; r < job->size; r++) {
        sum->step += all[r].step;
        for (int i = 0; i < all[r].n; i++) {
            const struct name_total *from = &all[r].row[i];
            struct name_total *to = add_row(sum, from->name, from->kind);
            to->calls += from->calls;
            to->total += from->total;
            to->self += from->self;
            to->flops += from->flops;
            to->bytes += from->bytes;
            to->memory += from->memory;
        }
    }
    free(all);
}

static size_t sorted_member; /* offset of the double by which by_member orders rows */

/* Returns that double of a row; -1 if it is NAN. */
static double member_of(const void *row)
{
    double value;
    memcpy(&value, (const char *)row + sorted_member, sizeof value);
    return isnan(value) ? -1 : value;
}

static int by_member(const void *a, const void *b)
{
    double x = member_of(a), y = member_of(b);
    return x == y ? strcmp(((const struct name_total *)a)->name, ((const struct name_total *)b)->name) : x > y ? -1 : 1;
}

void totals_sort(struct totals *totals, size_t member)
{
    sorted_member = member;
    qsort(totals->row, (size_t)totals->n, sizeof *totals->row, by_member);
}

/* Computes means, shares and rates from the sums, and sorts the rows. passes: micro-batches of all ranks and steps. */
static void derive_rates(struct totals *totals, double passes)
{
    for (struct name_total *a = totals->row; a < totals->row + totals->n; a++) {
        a->kind_name = kind_name[a->kind];
        a->mean = a->total / a->calls;
        if (a->self < 0) /* possible by rounding, or if CUDA events and the GPU's tracer disagree on times */
            a->self = 0;
        a->share = a->self / totals->step;
        a->flops_per_second = a->flops > 0 && a->total > 0 ? a->flops / a->total : NAN;
        a->bytes_per_second = a->bytes > 0 && a->total > 0 ? a->bytes / a->total : NAN;
        a->memory = a->kind == KIND_OPERATION ? a->memory / passes : NAN;
    }
    totals_sort(totals, offsetof(struct name_total, self));
}

void totals_create(struct totals *totals, const struct job *job, const struct timeline *timeline, size_t compute_bytes,
                   size_t micro_batches, int first, int count)
{
    struct totals mine = {0};
    size_t n = 0, most = timeline->lane[LANE_HOST].n + timeline->lane[LANE_COMPUTE].n;
    struct counted_span *item = allocate(most + 1, sizeof *item);
    for (enum timeline_lane l = 0; l < TIMELINE_LANES; l++)
        for (size_t i = 0; l != LANE_MEMORY && i < timeline->lane[l].n; i++) {
            const struct span *span = &timeline->lane[l].span[i];
            if (span->step < first || span->step >= first + count || span->name == ready_name)
                continue;
            enum total_kind kind = l == LANE_COMMUNICATION   ? KIND_COLLECTIVE
                                   : l == LANE_COMPUTE       ? KIND_OPERATION
                                   : step_phase_of(span) < 0 ? KIND_PART
                                                             : KIND_PHASE;
            struct name_total *row = add_row(&mine, span->name, kind);
            double length = 1e-9 * (double)(span->end_ns - span->start_ns);
            row->calls++;
            row->total += length;
            row->self += kind == KIND_COLLECTIVE ? NAN : length;
            mine.step += kind == KIND_PHASE ? length : 0;
            if (kind == KIND_OPERATION) {
                const struct operation_facts *facts = &operation_facts[span->index];
                row->flops += operation_amount(facts->flops, facts->sizes, span->size, compute_bytes);
                row->bytes += operation_amount(facts->bytes, facts->sizes, span->size, compute_bytes);
                row->memory += operation_amount(facts->kept, facts->sizes, span->size, compute_bytes);
            } else if (kind == KIND_COLLECTIVE)
                row->bytes += (double)(span->size[SIZE_BYTES] *
                                       comm_parts((enum comm_kind)span->size[SIZE_KIND], span_ranks(span, job->size)));
            if (kind != KIND_COLLECTIVE) /* collectives run in parallel to the training thread */
                item[n++] = (struct counted_span){span->queued_ns, span->returned_ns, length, row};
        }
    subtract_children(item, n);
    sum_ranks(totals, job, &mine);
    derive_rates(totals, (double)job->size * (double)micro_batches * count);
    free(item);
}
