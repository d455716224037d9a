/* emulated.h - what the parts of the emulation share: the lock, chance, queues of work, kinds of memory. */
#ifndef EMULATED_H
#define EMULATED_H

#include "cuda_runtime.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace emulated
{
/* Held by whoever queues or does work: one thread of the machine at a time. */
extern std::mutex machine;
typedef std::unique_lock<std::mutex> Lock;

/* A number in [0, n); EMULATED_CUDA_SEED decides which. With the lock. */
uint32_t chance(uint32_t n);

/* A positive number from the environment, or what holds without it; ends the program if it is no number. */
long long setting(const char *name, long long otherwise);

/* Keeps the error for cudaGetLastError and returns it. */
cudaError_t result(cudaError_t error);
/* What every call answers where there is no driver or no GPU. */
cudaError_t no_machine();
/* The number of the calling thread's GPU in the machine, which CUDA_VISIBLE_DEVICES may call otherwise. */
int physical_gpu();
/* Ends the program if another thread has chosen a GPU other than 0 and this one has chosen none: its calls would make a
 * context, some hundred MiB, on GPU 0. */
void check_thread();

/* ---- streams.cc ---- */
/* Queues work on a stream; work returns false while it isn't done yet, and is then called again. With the lock. */
cudaError_t queue(Lock &lock, cudaStream_t stream, std::function<bool()> work);
/* Works until the condition holds. With the lock, which it gives away while it waits for other ranks. */
void work_until(Lock &lock, const std::function<bool()> &condition);
/* Does one piece of work, if some is ready. With the lock. */
void work_a_little();
/* Works until all queues are empty. */
void work_off(Lock &lock);

/* ---- memory.cc ---- */
enum Kind { PAGEABLE, PINNED, DEVICE };
/* What the address belongs to; one past the end of an allocation belongs to it too. With the lock. */
Kind kind_of(const void *address);
/* Lets the host touch the GPU's memory, as work does, or not. With the lock. */
void open_memory(bool open);

/* ---- block.cc ---- */
/* Runs every block of a grid, one after another. With the lock. */
void run_grid(dim3 grid, dim3 block, size_t shared, const std::function<void()> &body);

/* A copy that a thread has begun; `group` is the number of the commit that ends its group. */
struct Copy {
    void *to;
    const void *from;
    int valid, group;
};
/* Those that the running thread has not waited for; and how many groups it has ended. */
std::vector<Copy> &copies(int **commits);
} // namespace emulated

#endif
