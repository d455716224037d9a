/* cuda_profiler_api.h - where CUDA has cudaProfilerStart and cudaProfilerStop; here they are in cuda_runtime_api.h. */
#ifndef EMULATED_CUDA_PROFILER_API_H
#define EMULATED_CUDA_PROFILER_API_H

#include "cuda_runtime_api.h"

#endif
