/* links.c - measures the send and receive rates of each host. */
#include "ddp/links.h"

#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

enum { TAG_LINK = 81, MESSAGE = 1 << 20, REPEATS = 2 };

/* Stores the first rank of each host in leader[hosts]. */
static void find_leaders(const struct job *job, int *leader)
{
    struct {
        int host, local_rank;
    } mine = {job->host, job->local_rank}, *all = allocate((size_t)job->size, sizeof *all);
    job_gather(job, &mine, sizeof mine, all);
    for (int r = 0; r < job->size; r++)
        if (all[r].local_rank == 0)
            leader[all[r].host] = r;
    free(all);
}

/* Hosts of one class send at the same time, always to hosts of other classes, because a host that sends and receives at
 * once would answer late. Hosts alternate between two classes; with an odd number of hosts, the last host is in a third
 * class. */
enum { CLASSES = 3 };
static int class_of(int host, int hosts)
{
    return hosts % 2 && host == hosts - 1 ? 2 : host % 2;
}

/* Class by class, each host sends a message to the host `shift` places later and receives one from the host `shift`
 * places earlier. Returns the best rate of the messages received, in bytes per second; 0 on ranks that are not the
 * first of their host. All ranks call it. */
static double receive_rate(const struct job *job, const int *leader, int shift, char *message)
{
    int to = (job->host + shift) % job->hosts, from = (job->host + job->hosts - shift) % job->hosts;
    double best = 0;
    for (int i = 0; i < CLASSES * REPEATS; i++) {
        int class = i % CLASSES;
        job_barrier(job);
        watchdog_wait(job->watchdog, "measuring links", 0, 0);
        if (job->local_rank == 0 && class_of(job->host, job->hosts) == class)
            MPI_Send(message, MESSAGE, MPI_BYTE, leader[to], TAG_LINK, MPI_COMM_WORLD);
        if (job->local_rank == 0 && class_of(from, job->hosts) == class) {
            int64_t begin = clock_now_ns();
            MPI_Recv(message, MESSAGE, MPI_BYTE, leader[from], TAG_LINK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            best = fmax(best, 1e9 * MESSAGE / (double)(clock_now_ns() - begin));
        }
        watchdog_arrived(job->watchdog);
    }
    return best;
}

void links_measure(const struct job *job, struct link_rates *rates)
{
    int hosts = job->hosts, *leader = allocate((size_t)hosts, sizeof *leader);
    double mine[2] = {0, 0}, *all = allocate(2 * (size_t)job->size, sizeof *all);
    char *message = allocate(1, MESSAGE);
    find_leaders(job, leader);
    for (int h = 0; h < hosts; h++)
        rates[h] = (struct link_rates){.rank = leader[h]};
    mine[0] = receive_rate(job, leader, 1, message); /* rate of messages from the previous host */
    if (hosts > 2)
        mine[1] = receive_rate(job, leader, hosts - 1, message); /* rate of messages from the next host */
    job_gather(job, mine, sizeof mine, all);
    for (int h = 0; h < hosts; h++)
        for (int direction = 0; direction < 2; direction++) {
            double rate = all[2 * leader[h] + direction];
            int from = direction ? (h + 1) % hosts : (h + hosts - 1) % hosts;
            rates[h].receive = fmax(rates[h].receive, rate);
            rates[from].send = fmax(rates[from].send, rate);
        }
    free(leader);
    free(all);
    free(message);
}
