/* products.c - the library that computes the CPU's matrix products, and whether the library uses the CPU well. */
#include "machine/machine.h"

#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The least share, in percent, of the vector units' rate that products should reach. It is lower with kernels made for
 * the CPU: work on the core's other hardware thread may halve the rate of products, which load from the caches, but
 * slows the vector units' multiplications between registers less. */
enum { LEAST_PERCENT = 50, LEAST_PERCENT_OF_OWN_KERNELS = 30 };

/* oneDNN is chosen below this share of the CBLAS's time: nearer to 1 the choice would change from run to run. */
#define ONEDNN_BELOW 0.98

static double share_of(const struct blas_facts *blas)
{
    return blas->product_gflops / blas->vector_gflops;
}

int products_measure(const struct job *job, struct blas_facts *slowest)
{
    struct blas_facts mine, *all = allocate((size_t)job->size, sizeof *all);
    int rank = 0;
    blas_describe(&mine);
    blas_measure(&mine);
    job_gather(job, &mine, sizeof mine, all);
    for (int r = 1; r < job->size; r++)
        if (share_of(&all[r]) < share_of(&all[rank]))
            rank = r;
    *slowest = all[rank];
    free(all);
    return rank;
}

const char *products_words(const struct blas_facts *blas, char text[128])
{
    snprintf(text, 128, "%s%s%s%s", blas->library, *blas->kernels ? " (" : "", blas->kernels,
             *blas->kernels ? ")" : "");
    return text;
}

const char *products_replaced(const struct blas_facts *blas, char text[256])
{
    if (!*blas->replaced)
        return NULL;
    snprintf(text, 256, "%s took this CPU for a %s; its kernels for %s are used instead", blas->library, blas->replaced,
             blas->kernels);
    return text;
}

const char *products_warning(const struct blas_facts *blas, char text[400])
{
    char words[128], advice[128];
    const char *better = blas_better_kernels_here(blas->kernels);
    int own = *blas->kernels && !better;
    if (100 * share_of(blas) >= (own ? LEAST_PERCENT_OF_OWN_KERNELS : LEAST_PERCENT))
        return NULL;
    if (better)
        snprintf(advice, sizeof advice, "set OPENBLAS_CORETYPE to %s", better);
    else
        snprintf(advice, sizeof advice, "%stry a newer version or another library (--blas, or make BLAS=name)",
                 own ? "other work may be using this rank's cores; if not, " : "");
    snprintf(text, 400,
             "matrix products by %s run at %.0f GFLOP/s on one thread, %.0f %% of the %.0f that the CPU's vector units "
             "can do: %s",
             products_words(blas, words), blas->product_gflops, 100 * share_of(blas), blas->vector_gflops, advice);
    return text;
}

/* Uses the library, and describes it. */
static void describe(enum blas_library library, char text[128])
{
    struct blas_facts facts;
    blas_use(library);
    blas_describe(&facts);
    products_words(&facts, text);
}

void products_choose(const struct job *job, const struct blas_products *products, struct products_choice *choice)
{
    const int lacks = blas_find(BLAS_ONEDNN) != NULL;
    double seconds[BLAS_CPU_LIBRARIES] = {0}, lacking = lacks;
    char cblas[128], onednn[128];
    const int first = (int)-job_max(job, lacks ? -job->rank : -job->size);
    *choice = (struct products_choice){.ratio = NAN};
    job_sum(job, &lacking, 1);
    describe(BLAS_CBLAS, cblas);
    if (lacking > 0 && lacking < job->size)
        snprintf(choice->words, sizeof choice->words, "%s, as rank %d has no oneDNN", cblas, first);
    if (lacking > 0)
        return;
    job_barrier(job); /* the ranks measure at the same time, as they compute */
    blas_compare(products, seconds);
    job_sum(job, seconds, BLAS_CPU_LIBRARIES);
    choice->ratio = seconds[BLAS_ONEDNN] / seconds[BLAS_CBLAS];
    describe(BLAS_ONEDNN, onednn);
    const int faster = choice->ratio < ONEDNN_BELOW;
    if (faster)
        snprintf(choice->words, sizeof choice->words, "%s: %.2f of the time of %s in this model's products", onednn,
                 choice->ratio, cblas);
    else if (isfinite(choice->ratio))
        snprintf(choice->words, sizeof choice->words, "%s: %s takes %.2f of its time in this model's products", cblas,
                 onednn, choice->ratio);
    blas_use(faster ? BLAS_ONEDNN : BLAS_CBLAS);
}

/* Gives every rank the rows of rank 0, for which the others may wait a minute longer than --timeout. */
static void share_rows(const struct job *job, struct gpu_algorithms *table)
{
    table->n = (size_t)job_from_first(job, (int)table->n, 60);
    const size_t bytes = table->n * sizeof *table->item;
    char *all = allocate((size_t)job->size, bytes);
    job_gather(job, table->item, bytes, all);
    memcpy(table->item, all, bytes);
    free(all);
}

void products_choose_algorithms(const struct job *job, const struct device *device,
                                const struct blas_products *products, struct products_choice *choice)
{
    const struct accelerator *accelerator = device->accelerator;
    struct gpu_algorithms *table = accelerator ? accelerator->algorithms(job && job->rank ? NULL : products) : NULL;
    size_t others = 0;
    *choice = (struct products_choice){.ratio = NAN};
    if (table && job)
        share_rows(job, table);
    for (size_t i = 0; table && i < table->n; i++)
        others += table->item[i].used > 0;
    if (table)
        snprintf(choice->words, sizeof choice->words,
                 "cublasLt: for %zu of %zu products another algorithm is faster than its first proposal", others,
                 table->n);
}
