/* machine.h - facts about this machine, the device that each rank computes on, and the options that choose the device
 * and the communication backend. */
#ifndef BENCH_MEASURE_MACHINE_MACHINE_H
#define BENCH_MEASURE_MACHINE_MACHINE_H

#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/accelerator.h"
#include "kernels/blas.h"
#include "kernels/control_group.h"

#include <cJSON.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the host ---- */

enum { HOST_TEXT = 128 };

struct host_facts {
    char name[HOST_TEXT];    /* host name */
    char cpu[HOST_TEXT];     /* model name of the processor */
    char kernel[HOST_TEXT];  /* operating system and release */
    char binding[HOST_TEXT]; /* the CPUs this rank may run on, as a list such as 0-3,8 */
    int packages, numa_nodes, cores, pus;
    /* bytes of the machine's memory, of one L3 cache and of all L3 caches (0: unknown) */
    size_t memory_bytes, l3_bytes, caches_bytes;
};

/* Fills the facts from hwloc and the kernel; unknown facts are empty or 0. */
void host_facts(struct host_facts *facts);

/* Scans the first line of the file root/path that matches the format, a line in pieces of HOST_LINE - 1 bytes. root: ""
 * or a directory in tests. Returns the number of values read; 0: no line matches, or the file cannot be read. */
enum { HOST_LINE = 512 };
int host_scan_line(const char *root, const char *path, const char *format, ...) __attribute__((format(scanf, 3, 4)));

/* Returns the number of threads of a rank: `requested`; if that is 0, OMP_NUM_THREADS; if that is not set, one per
 * logical CPU of the rank. Returns -1, reported, if omp_threads_of_list (kernels) refuses the variable. */
int host_threads(size_t requested, double cores_per_rank);

/* Returns the bytes that can be allocated without swapping, within the limits of this process's control groups. */
size_t host_memory_available(void);

/* Returns the resident bytes of this process; 0: unknown. */
size_t host_resident_memory(void);

/* Returns this process's peak of resident bytes since host_reset_peak_memory, or else since its start; 0: unknown. */
size_t host_peak_memory(void);
int host_reset_peak_memory(void); /* resets that peak by clear_refs (proc(5)); returns 0, or -1 if not allowed */

/* CPU seconds, read at one moment. The machine's values have a resolution of 10 ms; NAN: the kernel has none. */
struct host_cpu_time {
    int64_t at_ns;  /* clock_now_ns */
    double process; /* of this process */
    double used;  /* of all processes of the machine since boot, and what the hypervisor gave to other machines; without
                     interrupts, since these serve this job's messages, too */
    double all;   /* of all CPUs of the machine since boot, busy or idle */
    double cores; /* number of CPUs of the machine */
};
struct host_cpu_time host_cpu_time(void);
double host_process_cpu_seconds(void); /* returns the CPU seconds of this process */

/* ---- the device ---- */

enum { DEVICE_AUTO, DEVICE_CPU, DEVICE_FIRST_ACCELERATOR };

struct device_options {
    int kind; /* index into device_names; DEVICE_FIRST_ACCELERATOR + i is accelerators[i] */
    enum precision precision;
    int share_gpu;          /* 1: several ranks may compute on one GPU */
    size_t threads;         /* threads of a rank on the CPU; 0: OMP_NUM_THREADS, or this rank's share of the cores */
    enum blas_library blas; /* open_device takes BLAS_AUTO as BLAS_CBLAS or, on a GPU, BLAS_CUBLAS */
    size_t gemm_sms;        /* multiprocessors of a GPU that products by cublasLt plan for; 0: all */
};

extern const struct option_section device_section; /* Device, of a struct device_options */

/* The device that a rank computes on. */
struct open_device {
    const struct device *device;
    int on_gpu;           /* 1: a GPU; 0: the CPU (then gpu and sharing are zero) */
    struct gpu_facts gpu; /* facts of the rank's GPU */
    int sharing;          /* number of ranks that compute on the rank's GPU */
    int hides_gpus;       /* 1: the system hides a rank's GPU from another rank on its host (gpu_hides) */
    char why_cpu[512];    /* why --device auto chose the CPU, on rank 0, if CUDA parts or a GPU are here; or "" */
};

/* Opens the device of each rank; with `auto`, a GPU if every rank sees one, the CPU if no rank does. threads: number of
 * threads on the CPU. All ranks call it. Returns 0; or -1 on every rank, reported by rank 0. */
int open_device(struct open_device *opened, const struct job *job, const struct device_options *options, int threads);

/* Opens the device of a single-process program, on the first GPU that it sees. Returns 0; or -1, reported. */
int open_device_alone(struct open_device *opened, const struct device_options *options, int threads);

/* Whether a run will compute on GPUs: by --device, or, with `auto`, because a rank sees a GPU. All ranks call it. */
int open_device_wants_gpus(const struct job *job, const struct device_options *options);

/* Returns the *n GPUs that this process sees, in order of index; *n is 0 on the CPU. The caller frees the array. */
struct gpu_facts *open_device_seen(const struct open_device *opened, int *n);

/* Prints on stderr why auto chose the CPU. Call it after all option checks. */
void open_device_explain(const struct open_device *opened);

/* Writes the name of the GPU, the precision and, unless it is cuBLAS, the library: "NVIDIA H200, bf16, cublaslt". */
const char *open_device_words(const struct open_device *opened, char text[300]);

/* open_device_memory returns on a GPU the bytes that all processes use on it now; on the CPU, this process's peak of
 * resident bytes since open_device_reset_memory, which returns 0, or -1 if the kernel does not allow the reset. */
size_t open_device_memory(const struct open_device *opened);
int open_device_reset_memory(const struct open_device *opened);

/* Returns the bytes that the ranks on this rank's GPU may allocate together: its free memory when it was opened, minus
 * what CUDA, cuBLAS and NCCL need for each rank (estimated: 3 % of the GPU's memory, at least 1 GiB). 0 on the CPU. */
size_t open_device_available(const struct open_device *opened);

/* Adds the precision, cublasLt's algorithms, the facts of the GPU and the versions of CUDA to a JSON object; on a CPU,
 * adds nothing. */
void open_device_describe(const struct open_device *opened, cJSON *json);

/* ---- the CPU's matrix products ---- */

/* Measures matrix products on every rank. Returns the rank whose products are slowest relative to its CPU, and fills
 * *slowest with the facts of that rank. All ranks call, after the device is open. */
int products_measure(const struct job *job, struct blas_facts *slowest);

/* Writes the library and its kernels, such as "OpenBLAS 0.3.21 (SkylakeX)". */
const char *products_words(const struct blas_facts *blas, char text[128]);

/* Write and return a sentence, or return NULL if there is nothing to say: products_replaced, that blas_choose_kernels
 * replaced the BLAS's kernels; products_warning, that products are slow for the CPU's vector units, with advice. */
const char *products_replaced(const struct blas_facts *blas, char text[256]);
const char *products_warning(const struct blas_facts *blas, char text[400]);

struct products_choice {
    double ratio; /* time of the model's products by oneDNN, over all ranks / their time by the CBLAS; NAN: unknown */
    char words[400]; /* the choice in words, without a full stop; "": there was none */
};

/* Times a model's products by both libraries on all ranks at the same time (blas_compare), and uses oneDNN on all ranks
 * if its times have less than 0.98 of the sum of the CBLAS's; the CBLAS otherwise, or if a rank lacks oneDNN. All ranks
 * call, after the device, a CPU, is open. */
void products_choose(const struct job *job, const struct blas_products *products, struct products_choice *choice);

/* The same on GPUs: rank 0 times the algorithms that cublasLt proposes, and all ranks use its choice (struct
 * accelerator). job NULL: this process is alone. With other libraries there is no choice. */
void products_choose_algorithms(const struct job *job, const struct device *device,
                                const struct blas_products *products, struct products_choice *choice);

/* ---- the communication backend ---- */

/* --comm, --nccl-max-ctas, --mpi-progress and --timeout, of a struct comm_options; its other fields follow from the
 * machine.
 */
extern const struct option_section comm_section;

/* ---- CPU use by other processes and stops by CPU quotas, in every run ---- */

/* Other processes that use this many cores or more, on average over a window or a second, are worth a note. */
#define MONITOR_OTHER_CORES 0.25

/* What other processes used so far, and how often CPU quotas stopped the job. Zeroed at first. A window is the time
 * between two calls of other_processes_watch, or between more calls if it would be shorter than 0.2 s. Cores in use are
 * a share of all CPU time, busy or idle, that the same reading gives, so that they are never more than the machine
 * has. */
struct other_processes {
    struct host_cpu_time last;   /* when the window began; last.at_ns 0: no window has begun yet */
    double seconds;              /* all windows */
    double used_here, all_here;  /* CPU seconds of this machine: used by them; of all its CPUs, busy or idle */
    double share, machine_cores; /* used_here / all_here on the machine where that is largest (-1: unknown); that
                                    machine's CPUs */
    struct control_group_stops first, stops; /* by CPU quotas: when the first window began; since then, on the rank with
                                                most */
};

/* The first call begins the first window. Each later call, if the window is long enough, ends it, begins the next, and
 * returns how many cores other processes used in the ended one (0: none, or unknown); otherwise returns NAN. All ranks
 * call it right after waiting for each other: a rank that read early would poll for the others, and that would count as
 * use by other processes. */
double other_processes_watch(struct other_processes *others, const struct job *job);

/* ---- monitors of the CPUs (--monitor-cpu) and GPUs (--monitor-gpu) of every host ----
 *
 * A thread on the first rank of each host writes a line a second to cpu_monitor.csv and gpu_monitor.csv; with several
 * hosts to cpu_monitor_<host>.csv and gpu_monitor_<host>.csv. A line covers the time since the previous line; its
 * column `seconds` counts from the same origin as `start` in rank_<r>_metrics.jsonl. Unknown fields are empty. */

struct monitor_options {
    int cpu, gpu; /* cpu 1: watch the CPUs of each host; gpu 1: watch its GPUs */
};

extern const struct option_section monitor_section; /* --monitor-cpu and --monitor-gpu, of a struct monitor_options */

struct monitor;

/* Finds the CPUs and GPUs to watch. All ranks call. Returns 0, with *monitor NULL if neither kind is wanted; or -1,
 * reported, if a library or GPU is missing. Release with monitor_destroy in either case. */
int monitor_create(struct monitor **monitor, const struct job *job, int cpu, int gpu);

/* Creates the CSV files in a directory and starts to watch; times count from origin_ns. All ranks call. A NULL monitor
 * is fine. Returns 0; or -1 on every rank, reported. */
int monitor_start(struct monitor *monitor, const char *directory, int64_t origin_ns);

/* Stops watching, and gathers the findings of all hosts. All ranks call. A NULL monitor is fine. Returns 0; or -1
 * on every rank, reported, if a line could not be written: the lines before it are complete. */
int monitor_stop(struct monitor *monitor);

/* Returns the conditions that make measured times doubtful: {samples, cpu_seconds_per_sample, findings: [{name,
 * text}]}. A text is a sentence without a full stop, prefixed by the host if there are several. NULL before
 * monitor_stop, or without a sample. The monitor owns the result. */
const cJSON *monitor_findings(const struct monitor *monitor);

void monitor_destroy(struct monitor *monitor); /* NULL is fine; a monitor that is still watching is stopped */

#endif
