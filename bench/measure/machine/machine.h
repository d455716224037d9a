/* machine.h - facts about this machine, what each rank computes on, and the options that choose that and the
 * communication backend. */
#ifndef BENCH_MEASURE_MACHINE_MACHINE_H
#define BENCH_MEASURE_MACHINE_MACHINE_H

#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/accelerator.h"
#include "kernels/blas.h"

#include <cJSON.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the host ---- */

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

/* Adds all ranks with their bindings, and the facts of their hosts, to a JSON object. All ranks call. */
void host_describe(const struct host_facts *host, const struct job *job, cJSON *json);

/* The threads of a rank: `requested`; or if that is 0, OMP_NUM_THREADS; or if that is not set, one per core. Returns
 * -1, reported, if the variable is not a number from 1 to HOST_MOST_THREADS. */
enum { HOST_MOST_THREADS = 4096 };
int host_threads(size_t requested, double cores_per_rank);

/* Bytes that can be allocated without swapping, within the limits of this process's control groups. */
size_t host_memory_available(void);

/* Resident bytes of this process; 0: unknown. */
size_t host_resident_memory(void);

/* The most resident bytes since the last reset (proc(5): clear_refs), or since the program began. */
size_t host_peak_memory(void);
int host_reset_peak_memory(void); /* 0, or -1 where the kernel does not allow it */

/* CPU seconds of this process, and of all processes of the machine since boot (resolution 10 ms). */
double host_process_cpu_seconds(void);
double host_machine_cpu_seconds(void);

/* ---- the device ---- */

enum { DEVICE_AUTO, DEVICE_CPU, DEVICE_FIRST_ACCELERATOR };

struct device_options {
    int kind; /* an index into device_names: DEVICE_FIRST_ACCELERATOR + i is accelerators[i] */
    enum precision precision;
    int share_gpu;  /* several ranks may compute on one GPU */
    size_t threads; /* of a rank on the CPU; 0: OMP_NUM_THREADS, or this rank's share of the cores */
};

struct option_section open_device_options(struct device_options *options);

/* The device that a rank computes on. */
struct open_device {
    const struct device *device;
    int on_gpu;           /* 1: a GPU; 0: the CPU, and gpu and sharing are zero */
    struct gpu_facts gpu; /* facts of that GPU */
    int sharing;          /* how many ranks compute on it */
    char why_cpu[256];    /* why auto took the CPU, on rank 0 of a program that was built for GPUs; otherwise "" */
};

/* Opens the device of each rank; auto: a GPU if every rank sees one, the CPU if none does. threads is for the CPU. All
 * ranks call. Returns 0; or -1 on every rank, reported by rank 0. */
int open_device(struct open_device *opened, const struct job *job, const struct device_options *options, int threads);

/* Opens the device of a program of one process, on the first GPU that it sees. Returns 0; or -1, reported. */
int open_device_alone(struct open_device *opened, const struct device_options *options, int threads);

/* Whether a run with these options computes on GPUs: one is asked for, or a rank sees one. All ranks call. */
int open_device_wants_gpus(const struct job *job, const struct device_options *options);

/* The GPUs [n] that this process sees, in order; n is 0 if it computes on the CPU. The caller frees them. */
struct gpu_facts *open_device_seen(const struct open_device *opened, int *n);

/* Prints on stderr why auto chose the CPU. Call it after all checks. */
void open_device_explain(const struct open_device *opened);

/* The GPU and its precision, such as "NVIDIA H200, bf16". */
const char *open_device_words(const struct open_device *opened, char text[300]);

/* Bytes in use on this rank's GPU, by any process; or on the CPU the largest resident size of this process since the
 * last reset, which returns 0, or -1 where the kernel does not allow it. */
size_t open_device_memory(const struct open_device *opened);
int open_device_reset_memory(const struct open_device *opened);

/* Bytes that the ranks on this rank's GPU may allocate together: those that were free, without the share of CUDA,
 * cuBLAS and NCCL, which is taken as 3 % of the memory, at least 1 GiB, for each rank; 0 on the CPU. */
size_t open_device_available(const struct open_device *opened);

/* Adds the GPU, its precision and the versions of CUDA to a JSON object; nothing for a CPU. */
void open_device_describe(const struct open_device *opened, cJSON *json);

/* ---- the CPU's matrix products ---- */

/* Measures matrix products on every rank. Returns the rank where they are slowest for its CPU, with the facts of that
 * rank. All ranks call, after the device is open. */
int products_measure(const struct job *job, struct blas_facts *slowest);

/* The library and its kernels, such as "OpenBLAS 0.3.21 (SkylakeX)". */
const char *products_words(const struct blas_facts *blas, char text[128]);

/* A sentence if blas_choose_kernels replaced the library's choice; and one, with advice, if products run below half of
 * what the CPU's vector units can do. Otherwise NULL. */
const char *products_replaced(const struct blas_facts *blas, char text[256]);
const char *products_warning(const struct blas_facts *blas, char text[400]);

/* ---- the communication backend ---- */

/* The rows --comm, --nccl-max-ctas, --mpi-progress and --timeout, which fill library, nccl_max_ctas, progress and
 * timeout_s. The other fields follow from the machine. */
struct option_section comm_options_section(struct comm_options *options);

/* ---- monitors of the CPUs (--monitor-cpu) and GPUs (--monitor-gpu) of every host ----
 *
 * A thread on the first rank of each host writes a line a second to cpu_monitor.csv and gpu_monitor.csv, with several
 * hosts to cpu_monitor_<host>.csv and gpu_monitor_<host>.csv. A line covers the time since the line before; its column
 * `seconds` counts from the same origin as `start` in rank_<r>_metrics.jsonl. Unknown fields are empty. */

/* Other processes matter if they use this many cores or more, on average over a second or a block. */
#define MONITOR_OTHER_CORES 0.25

struct monitor_options {
    int cpu, gpu; /* 1: watch them */
};

/* --monitor-cpu and --monitor-gpu. */
struct option_section monitor_options_section(struct monitor_options *options);

struct monitor;

/* Finds what can be watched. All ranks call. Returns 0, with *monitor NULL if neither is wanted; or -1, reported, if a
 * library or GPU is missing. Release with destroy in either case. */
int monitor_create(struct monitor **monitor, const struct job *job, int cpu, int gpu);

/* Opens the files in a directory and starts to watch; times count from origin_ns. Returns 0; or -1, reported. */
int monitor_start(struct monitor *monitor, const char *directory, int64_t origin_ns);

/* Stops, and gathers what all hosts found. All ranks call. Returns 0; or -1, reported, if a line could not be written:
 * the lines before it are whole. A NULL monitor is fine. */
int monitor_stop(struct monitor *monitor);

/* The conditions that make measured times doubtful: {samples, cpu_seconds_per_sample, findings: [{name, text}]}. A text
 * is a sentence without a full stop; with several hosts it begins with the host. NULL before monitor_stop, or if there
 * was no sample. The monitor owns it. */
const cJSON *monitor_findings(const struct monitor *monitor);

void monitor_destroy(struct monitor *monitor); /* NULL is fine, and one that still watches */

#endif
