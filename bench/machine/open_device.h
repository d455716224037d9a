/* open_device.h - the options that choose what ranks compute on, and the opening of it. */
#ifndef BENCH_MACHINE_OPEN_DEVICE_H
#define BENCH_MACHINE_OPEN_DEVICE_H

#include "base/option_table.h"
#include "ddp/job.h"
#include "kernels/device_cuda.h"

#include <cJSON.h>

enum device_kind { DEVICE_AUTO, DEVICE_CPU, DEVICE_CUDA };

struct device_options {
    enum device_kind kind;
    enum precision precision;
    int share_gpu; /* several ranks may compute on one GPU */
};

/* What a rank computes on. */
struct open_device {
    const struct device *device;
    int on_gpu;           /* 1: it is a GPU, */
    struct gpu_facts gpu; /* this one, */
    int sharing;          /* which so many ranks compute on */
    char why_cpu[256];    /* why auto took the CPU, on rank 0 of a program that was built for GPUs; otherwise "" */
};

/* The rows of these options for a table. */
struct option_section open_device_options(struct device_options *options);
/* Those of them for a program of one process. */
struct option_section open_device_alone_options(struct device_options *options);

/* Says on stderr why the CPU is used, if there is something to say: once nothing more can be refused. */
void open_device_tell(const struct open_device *opened);

/* What ranks compute on, in words such as "NVIDIA H200, bf16". */
const char *open_device_words(const struct open_device *opened, char text[300]);

/* Bytes of this rank's GPU that are taken now, by whomever; on the CPU the largest resident size of this process. */
size_t open_device_memory(const struct open_device *opened);

/* Opens the device for each rank; all ranks call. Auto is a GPU for each rank where every rank sees one and the CPU
 * where none sees any; open_device_tell then says why. Returns 0; or
 * -1 on every rank, and rank 0 has said why. threads is for the CPU. */
int open_device(struct open_device *opened, const struct job *job, const struct device_options *options, int threads);

/* The same for a program of one process, which computes on the first GPU that it sees. Returns 0; or -1, reported. */
int open_device_alone(struct open_device *opened, const struct device_options *options, int threads);

/* Adds the GPU of this rank, its precision, and the versions of CUDA to a JSON object; nothing for a CPU. */
void open_device_describe(const struct open_device *opened, cJSON *json);

#endif
