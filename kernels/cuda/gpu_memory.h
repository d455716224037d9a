/* gpu_memory.h - the CUDA device's memory and copies, as device.h describes them. */
#ifndef KERNELS_CUDA_GPU_MEMORY_H
#define KERNELS_CUDA_GPU_MEMORY_H

#include <stddef.h>

void *cuda_allocate(size_t bytes);
void cuda_release(void *memory);
void cuda_upload(void *to, const void *from_host, size_t bytes);
void cuda_download(void *to_host, const void *from, size_t bytes);
void cuda_synchronize(void);

void *cuda_allocate_host(size_t bytes);
void cuda_release_host(void *memory);
void cuda_staging_create(size_t n);
void cuda_staging_destroy(void);
void cuda_stage_out(void *to_host, const void *from, size_t bytes, size_t i);
void cuda_stage_in(void *to, const void *from_host, size_t bytes, size_t i);
int cuda_stage_reached(size_t i);

#endif
