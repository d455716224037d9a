/* many_ranks.c - makes one process run as rank 0 of MANY_RANKS ranks on one machine, to measure rank 0's work on the
 * data of all ranks. In place of the other ranks' data it receives copies of its own data. Collectives of the training
 * use other communicators, which still have one rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number in an environment variable, or `otherwise` if it is not set. */
static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static int ranks(MPI_Comm comm)
{
    int n;
    PMPI_Comm_size(comm, &n);
    return comm == MPI_COMM_WORLD ? number("MANY_RANKS", n) : n;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    *size = ranks(comm);
    return MPI_SUCCESS;
}

static void repeat(const void *mine, int n, MPI_Datatype type, void *all, int times)
{
    int bytes;
    MPI_Type_size(type, &bytes);
    for (int r = 0; r < times; r++)
        memcpy((char *)all + (size_t)r * (size_t)n * (size_t)bytes, mine, (size_t)n * (size_t)bytes);
}

int MPI_Allgather(const void *mine, int n, MPI_Datatype type, void *all, int of_each, MPI_Datatype type_of_each,
                  MPI_Comm comm)
{
    (void)of_each, (void)type_of_each;
    repeat(mine, n, type, all, ranks(comm));
    return MPI_SUCCESS;
}

int MPI_Iallgather(const void *mine, int n, MPI_Datatype type, void *all, int of_each, MPI_Datatype type_of_each,
                   MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_Allgather(mine, n, type, all, of_each, type_of_each, comm);
}

int MPI_Send(const void *bytes, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return to < 1 ? PMPI_Send(bytes, n, type, to, tag, comm) : MPI_SUCCESS;
}

/* Makes up what rank `from` sends: the rows of a trace of MANY_ROWS events (default 1000), in pieces, then nothing. */
static int received;
int MPI_Recv(void *bytes, int capacity, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    static int rank, row;
    static long ts;
    if (from < 1)
        return PMPI_Recv(bytes, capacity, type, from, tag, comm, status);
    if (rank != from)
        rank = from, row = 0;
    int rows = number("MANY_ROWS", 1000);
    enum { LONGEST = 128 };
    for (received = 0; row < rows && received + LONGEST < capacity; row++)
        received +=
            snprintf((char *)bytes + received, LONGEST,
                     ",\n{\"name\": \"row %d\", \"ph\": \"X\", \"pid\": %d, \"tid\": 1, \"ts\": %ld, \"dur\": 1}", row,
                     rank, ts++);
    row += received == 0;
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *n)
{
    (void)status, (void)type; /* rank 0 asks only about the message just received */
    *n = received;
    return MPI_SUCCESS;
}
