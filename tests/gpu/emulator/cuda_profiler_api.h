/* cuda_profiler_api.h - where the toolkit has cudaProfilerStart and cudaProfilerStop. */
#ifndef EMULATED_CUDA_PROFILER_API_H
#define EMULATED_CUDA_PROFILER_API_H

#include "cuda_runtime_api.h"

#endif
