/* machine.h - facts about this machine, what each rank computes on, and the options that choose that and the
 * communication backend. */
#ifndef BENCH_MEASURE_MACHINE_MACHINE_H
#define BENCH_MEASURE_MACHINE_MACHINE_H

#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/accelerator.h"
#include "kernels/blas.h"
#include "machine/monitor.h" /* what else happens on the machine */

#include <cJSON.h>
#include <stddef.h>

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

/* Threads of a rank: `requested`; if that is 0, OMP_NUM_THREADS; if that is not set either, one for each core. -1,
 * reported, if the variable holds no number from 1 to HOST_MOST_THREADS. */
enum { HOST_MOST_THREADS = 4096 };
int host_threads(size_t requested, double cores_per_rank);

/* Bytes that the kernel says can be allocated without swapping, or what the control group of this process still
 * allows if that is less. */
size_t host_memory_available(void);

/* Resident size of this process in bytes; 0 if the kernel does not say. */
size_t host_resident_memory(void);

/* The largest that it has been since it was reset (proc(5): clear_refs), or since the program began. */
size_t host_peak_memory(void);
int host_reset_peak_memory(void); /* 0, or -1 where the kernel does not allow it */

/* CPU seconds: of this process, and of everything that ran on the machine since boot (resolution 10 ms). */
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

/* The rows of these options for a table; and those of them for a program of one process. */
struct option_section open_device_options(struct device_options *options);
struct option_section open_device_alone_options(struct device_options *options);

/* What a rank computes on. */
struct open_device {
    const struct device *device;
    int on_gpu;           /* 1: a GPU; 0: the CPU, and gpu and sharing are zero */
    struct gpu_facts gpu; /* facts of that GPU */
    int sharing;          /* how many ranks compute on it */
    char why_cpu[256];    /* why auto took the CPU, on rank 0 of a program that was built for GPUs; otherwise "" */
};

/* Opens the device of each rank; all ranks call. Auto is a GPU for each rank where every rank sees one, and the CPU
 * where none does. threads is for the CPU. Returns 0; or -1 on every rank, reported by rank 0. */
int open_device(struct open_device *opened, const struct job *job, const struct device_options *options, int threads);

/* The same for a program of one process, which computes on the first GPU that it sees. Returns 0; or -1, reported. */
int open_device_alone(struct open_device *opened, const struct device_options *options, int threads);

/* Whether a run with these options is to compute on GPUs: that is asked for, or auto and a rank sees one. All ranks
 * call and know the same. */
int open_device_wants_gpus(const struct job *job, const struct device_options *options);

/* The GPUs that this process sees, in the order of their numbers; *n is 0 where it computes on the CPU. Release with
 * free. */
struct gpu_facts *open_device_seen(const struct open_device *opened, int *n);

/* Prints on stderr why auto took the CPU, if there is a reason to print. For when no option can be refused any more. */
void open_device_explain(const struct open_device *opened);

/* What ranks compute on, in words such as "NVIDIA H200, bf16". */
const char *open_device_words(const struct open_device *opened, char text[300]);

/* Bytes in use on this rank's GPU, by any process; on the CPU the largest resident size of this process since the last
 * reset of that. The reset does nothing on a GPU; it returns 0, or -1 where the kernel does not allow it. */
size_t open_device_memory(const struct open_device *opened);
int open_device_reset_memory(const struct open_device *opened);

/* Bytes that the ranks on this rank's GPU may allocate: those that were free, less what CUDA, cuBLAS and NCCL take for
 * themselves beside that: for each rank 3 % of the memory, but 1 GiB at least; 0 on the CPU. */
size_t open_device_available(const struct open_device *opened);

/* Adds the GPU of this rank, its precision, and the versions of CUDA to a JSON object; nothing for a CPU. */
void open_device_describe(const struct open_device *opened, cJSON *json);

/* ---- the CPU's matrix products ---- */

/* Measures them on every rank, and gives the facts of the rank where they are slowest for its CPU; returns that rank.
 * All ranks call, after the device is open. */
int products_measure(const struct job *job, struct blas_facts *slowest);

/* The library and its kernels, such as "OpenBLAS 0.3.21 (SkylakeX)". */
const char *products_words(const struct blas_facts *blas, char text[128]);

/* That blas_choose_kernels replaced the library's choice, in a sentence; NULL if it did not. And that products run
 * below half of what the CPU's vector units can do, and what can be done about it; NULL if they do not. */
const char *products_replaced(const struct blas_facts *blas, char text[256]);
const char *products_warning(const struct blas_facts *blas, char text[400]);

/* ---- the communication backend ---- */

/* The rows --comm, --nccl-max-ctas, --mpi-progress and --timeout, which fill library, nccl_max_ctas, progress and
 * timeout_s. The other fields follow from the machine. */
struct option_section comm_options_section(struct comm_options *options);

#endif
