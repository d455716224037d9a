/* omp_threads.c - reads OMP_NUM_THREADS by the rule of OpenMP. */
#include "kernels/omp_threads.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int omp_threads_of_list(const char *list)
{
    static const char blank[] = " \t\n\v\f\r";
    int first = 0;
    for (const char *at = list; at && *list; at++) {
        at += strspn(at, blank);
        char *end;
        unsigned long threads = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0; /* strtoul would take a sign */
        if (threads < 1 || threads > OMP_MOST_THREADS)
            return -1;
        first = first ? first : (int)threads;
        at = end + strspn(end, blank);
        if (*at != ',')
            return *at ? -1 : first;
    }
    return 0;
}
