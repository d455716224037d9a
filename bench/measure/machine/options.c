/* options.c - the options that choose the device of the ranks and the communication backend. */
#include "machine/machine.h"

#include "kernels/error.h"
#include "kernels/omp_threads.h"

#include <stddef.h>
#include <string.h>

#define DEVICE(field) offsetof(struct device_options, field)
#define COMM(field)   offsetof(struct comm_options, field)

/* clang-format off */
static const struct option device_rows[] = {
    {.name = "device", .common = 1, .kind = &option_choice, .offset = DEVICE(kind), .initial = "auto",
     .choices = device_names,
     .help = "what each rank computes on: cpu, cuda (an NVIDIA GPU of its own), or auto (cuda where there is one)"},
    {.name = "dtype", .common = 1, .kind = &option_choice, .offset = DEVICE(precision), .initial = "fp32",
     .choices = precision_name,
     .help = "fp32; on GPUs also tf32 (products round to TF32) and bf16 (bfloat16 activations and products; "
     "gradients, master weights and optimizer state stay fp32)"},
    {.name = "share-gpu", .kind = &option_flag, .offset = DEVICE(share_gpu), .without = "device=cpu",
     .help = "let several ranks compute on one GPU (for tests: they wait for each other)"},
    {.name = "threads", .kind = &option_count, .offset = DEVICE(threads), .initial = "0", .high = OMP_MOST_THREADS,
     .help = "threads of a rank; 0: OMP_NUM_THREADS, or the rank's share of the cores"},
    {.name = "blas", .kind = &option_choice, .offset = DEVICE(blas), .initial = "auto", .choices = blas_library_name,
     .help = "library of matrix products: on a CPU cblas (as built), onednn, or auto (the faster for a model that is trained, else cblas); on a GPU cublas (auto) or cublaslt"},
    {.name = "gemm-sms", .kind = &option_count, .offset = DEVICE(gemm_sms), .initial = "0", .high = 1024,
     .needs = "blas=cublaslt", .help = "multiprocessors of a GPU that products plan for, to leave others to NCCL; 0: all"},
};
/* clang-format on */

const struct option_section device_section = {.title = "Device", OPTION_ROWS(device_rows)};

static int progress_parse(const struct option *option, const char *text, void *field)
{
    static const struct option sleep_us = {.name = "mpi-progress sleep:US", .low = 1, .high = 100000};
    struct comm_progress progress = {.kind = PROGRESS_AUTO};
    size_t us = 0;
    if (!strcmp(text, "poll"))
        progress.kind = PROGRESS_POLL;
    else if (!strncmp(text, "sleep:", 6)) {
        if (option_count.parse(&sleep_us, text + 6, &us))
            return -1;
        progress = (struct comm_progress){.kind = PROGRESS_SLEEP, .sleep_us = (unsigned)us};
    } else if (strcmp(text, "auto") != 0)
        return error_report("--%s %s: expected auto, poll or sleep:US (microseconds)", option->name, text);
    *(struct comm_progress *)field = progress;
    return 0;
}

static const struct option_kind option_progress = {VALUE_TEXT, "VALUE", progress_parse, NULL};

/* clang-format off */
static const struct option comm_rows[] = {
    {.name = "comm", .kind = &option_choice, .offset = COMM(library), .initial = "auto",
     .choices = comm_library_name,
     .help = "library for collectives: mpi, nccl (between GPUs), or auto (nccl where each rank has a GPU of its own)"},
    {.name = "nccl-max-ctas", .kind = &option_count, .offset = COMM(nccl_max_ctas), .initial = "0", .high = 1024,
     .without = "comm=mpi", .help = "thread blocks of a GPU that a collective of NCCL may take up; 0: as NCCL chooses"},
    {.name = "mpi-progress", .kind = &option_progress, .offset = COMM(progress), .initial = "auto",
     .without = "comm=nccl", .help = "how MPI advances during backward: poll, sleep:US, or auto (poll where a core is spare)"},
    {.name = "timeout", .letter = 'T', .kind = &option_real, .offset = COMM(timeout_s), .initial = JOB_TIMEOUT_S,
     .high = JOB_MOST_TIMEOUT_S, .help = "seconds without progress after which a collective, or another wait for ranks or files, ends the job; 0: "
     "never"},
};
/* clang-format on */

const struct option_section comm_section = {.title = "Communication", OPTION_ROWS(comm_rows)};
