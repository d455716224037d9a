/* products.c - the library that computes the CPU's matrix products, and whether the library uses the CPU well. */
#include "machine/machine.h"

#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>

/* The least share, in percent, of the vector units' rate that products should reach. It is lower with kernels made for
 * the CPU: work on the core's other hardware thread may halve the rate of products, which load from the caches, but
 * slows the vector units' multiplications between registers less. */
enum { LEAST_PERCENT = 50, LEAST_PERCENT_OF_OWN_KERNELS = 30 };

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
        snprintf(advice, sizeof advice, "%stry a newer version or another library (make BLAS=name)",
                 own ? "other work may be using this rank's cores; if not, " : "");
    snprintf(text, 400,
             "matrix products by %s run at %.0f GFLOP/s on one thread, %.0f %% of the %.0f that the CPU's vector units "
             "can do: %s",
             products_words(blas, words), blas->product_gflops, 100 * share_of(blas), blas->vector_gflops, advice);
    return text;
}
