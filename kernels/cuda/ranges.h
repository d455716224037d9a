/* ranges.h - marks epochs, steps, phases, parts of the model and calls of collectives as NVTX ranges, for NVIDIA's
 * profilers. */
#ifndef KERNELS_CUDA_RANGES_H
#define KERNELS_CUDA_RANGES_H

/* Functions of struct device for profilers (device.h). Without a profiler each takes a few ns. */
void cuda_phase(const char *name);
void cuda_range_begin(const char *name, int number);
void cuda_range_end(void); /* ends a range or an annotation */
void cuda_annotation_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
