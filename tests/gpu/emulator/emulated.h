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

/* Returns the number in an environment variable; `otherwise` if unset. Ends the program if it is no number >= 0. */
long long setting(const char *name, long long otherwise);

/* Stores the error for cudaGetLastError and returns it. */
cudaError_t result(cudaError_t error);
/* Returns the error with which every call fails if there is no usable driver or no GPU; else cudaSuccess. */
cudaError_t no_machine();
/* Returns the result of act(lock), which is called with the lock, and stored; or the error of no_machine. */
template <typename Act> cudaError_t locked(Act act)
{
    Lock lock(machine);
    cudaError_t error = no_machine();
    return result(error ? error : act(lock));
}
/* Returns the number of the calling thread's GPU in the machine, before CUDA_VISIBLE_DEVICES renumbers it. */
int physical_gpu();
/* Ends the program if the calling thread has set no GPU but another thread has set one other than 0: with real CUDA the
 * calling thread would create a context of some hundred MiB on GPU 0. */
void check_thread();

/* ---- streams.cc ---- */
/* Queues work on a stream: `work` is called until it returns true, which means done. The caller holds the lock. */
cudaError_t queue(Lock &lock, cudaStream_t stream, std::function<bool()> work);
/* Does queued work until the condition holds. The caller holds the lock; waits for other ranks release it. */
void work_until(Lock &lock, const std::function<bool()> &condition);
/* Does one piece of work, if one is ready. The caller holds the lock. */
void work_a_little();

/* ---- memory.cc ---- */
enum Kind { PAGEABLE, PINNED, DEVICE };
/* Returns the kind of memory at an address, which may be one past the end. The caller holds the lock. */
Kind kind_of(const void *address);
/* true: opens the GPU's memory to host code, such as queued work; false: closes it. The caller holds the lock. */
void open_memory(bool open);

/* ---- block.cc ---- */
/* Runs the blocks of a grid one after another. The caller holds the lock. */
void run_grid(dim3 grid, dim3 block, size_t shared, const std::function<void()> &body);

/* A copy_async of a thread: `valid` bytes, then zeros; `group` counts the thread's commits before the copy. */
struct Copy {
    void *to;
    const void *from;
    int valid, group;
};
/* Returns the running thread's copies that it has not waited for; makes *commits point to its number of commits. */
std::vector<Copy> &copies(int **commits);
} // namespace emulated

#endif
