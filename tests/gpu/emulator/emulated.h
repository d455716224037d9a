/* emulated.h - shared by the parts of the emulation: the lock, random numbers, queues of work, kinds of memory. */
#ifndef EMULATED_H
#define EMULATED_H

#include "cuda_runtime.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace emulated
{
/* A host thread holds this lock while it queues or does work, so that only one thread does so at a time. */
extern std::mutex machine;
typedef std::unique_lock<std::mutex> Lock;

/* Returns a random number in [0, n), seeded by EMULATED_CUDA_SEED. The caller holds the lock. */
uint32_t chance(uint32_t n);

/* Returns a positive number from the environment, or `otherwise` if unset; ends the program if it is not a number. */
long long setting(const char *name, long long otherwise);

/* Stores the error for cudaGetLastError and returns it. */
cudaError_t result(cudaError_t error);
/* Returns the error of every call if there is no driver or no GPU, else cudaSuccess. */
cudaError_t no_machine();
/* Returns the number of the calling thread's GPU in the machine, before CUDA_VISIBLE_DEVICES renumbers it. */
int physical_gpu();
/* Ends the program if the calling thread has set no GPU but another thread has set one other than 0, since calls would
 * create a context of some hundred MiB on GPU 0. */
void check_thread();

/* ---- streams.cc ---- */
/* Queues work on a stream; `work` returns whether it is done; if not, it is called again. The caller holds the lock. */
cudaError_t queue(Lock &lock, cudaStream_t stream, std::function<bool()> work);
/* Does queued work until the condition holds. The caller holds the lock; waiting for other ranks releases it. */
void work_until(Lock &lock, const std::function<bool()> &condition);
/* Does one piece of work, if one is ready. The caller holds the lock. */
void work_a_little();
/* Does queued work until all queues are empty. */
void work_off(Lock &lock);

/* ---- memory.cc ---- */
enum Kind { PAGEABLE, PINNED, DEVICE };
/* Returns the kind of memory at an address, which may be one past the end. The caller holds the lock. */
Kind kind_of(const void *address);
/* Allows the host to access the GPU's memory, as queued work needs, or forbids it. The caller holds the lock. */
void open_memory(bool open);

/* ---- block.cc ---- */
/* Runs the blocks of a grid one after another. The caller holds the lock. */
void run_grid(dim3 grid, dim3 block, size_t shared, const std::function<void()> &body);

/* A copy begun by a thread; `group` is the number of the commit that ends its group. */
struct Copy {
    void *to;
    const void *from;
    int valid, group;
};
/* Returns the running thread's copies that it has not waited for; *commits: the number of groups it has ended. */
std::vector<Copy> &copies(int **commits);
} // namespace emulated

#endif
