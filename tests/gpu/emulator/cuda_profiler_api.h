/* cuda_profiler_api.h - the toolkit's header of cudaProfilerStart and cudaProfilerStop. */
#ifndef EMULATED_CUDA_PROFILER_API_H
#define EMULATED_CUDA_PROFILER_API_H

#include "cuda_runtime_api.h"

#endif
