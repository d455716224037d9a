/* host.h - facts about this machine: its parts, the cores a rank may use, its memory, and what others do on it. */
#ifndef BENCH_MACHINE_HOST_H
#define BENCH_MACHINE_HOST_H

#include "ddp/job.h"

#include <cJSON.h>
#include <stddef.h>

enum { HOST_TEXT = 128 };

struct host_facts {
    char name[HOST_TEXT];    /* host name */
    char cpu[HOST_TEXT];     /* the processor's own name */
    char kernel[HOST_TEXT];  /* operating system and release */
    char binding[HOST_TEXT]; /* the CPUs this rank may run on, as a list such as 0-3,8 */
    int packages, numa_nodes, cores, pus;
    size_t memory_bytes, l3_bytes; /* of the machine; of one L3 cache, 0 if unknown */
};

/* By hwloc; unknown facts are empty or 0. */
void host_facts(struct host_facts *facts);

/* The logical CPUs that this rank may use, divided evenly among the ranks of its machine that may use the same ones.
 * All ranks call. */
double host_cores_per_rank(const struct job *job);

/* Threads of a rank: as many as were asked for, or OMP_NUM_THREADS, or one a core; 1 to 4096. */
int host_threads(size_t wished, double cores_per_rank);

/* Bytes that the kernel says can be allocated without swapping, or what the control group of this process still
 * allows if that is less. */
size_t host_memory_available(void);

/* Resident size of this process now, in bytes; 0 if the kernel does not say. */
size_t host_resident_memory(void);

/* Largest resident size of this process so far, in bytes. */
size_t host_peak_memory(void);

/* CPU seconds: of this process, and of everything that ran on the machine since boot (resolution 10 ms). */
double host_process_cpu_seconds(void);
double host_machine_cpu_seconds(void);

/* Adds all ranks with their bindings, and the facts of their hosts, to a JSON object. All ranks call. */
void host_describe(const struct host_facts *host, const struct job *job, cJSON *json);

#endif
