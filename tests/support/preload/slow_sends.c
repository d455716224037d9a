/* slow_sends.c - a library to preload: ranks sleep before each message of 1 KiB or more, one of them longer.
 *
 * In the environment: SLOW_SENDS_ALL_MS, how long every rank sleeps, in milliseconds (default 0), so that its messages
 * take about as long on any machine; SLOW_SENDS_RANK, the rank that sleeps for SLOW_SENDS_MS more; SLOW_SENDS_TO, the
 * only rank to which it does (default: all ranks). */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns the number in an environment variable, or `missing`. */
static long number_of(const char *name, long missing)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : missing;
}

int MPI_Isend(const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    int rank;
    long ms = number_of("SLOW_SENDS_ALL_MS", 0);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == number_of("SLOW_SENDS_RANK", -1) && to == number_of("SLOW_SENDS_TO", to))
        ms += number_of("SLOW_SENDS_MS", 0);
    if (n >= 1024)
        usleep((useconds_t)(1000 * ms));
    return PMPI_Isend(buffer, n, type, to, tag, comm, request);
}
