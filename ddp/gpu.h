/* gpu.h - which GPU each rank computes on. */
#ifndef GPU_H
#define GPU_H

#include "job.h"

int gpu_choose(const struct job *job, int share, int *index);

#endif
