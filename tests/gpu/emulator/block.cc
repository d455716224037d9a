/* block.cc - runs the blocks of a grid: each thread of a block is a fiber, and fibers switch when they wait.
 *
 * This file reads no memory of kernels, so it is built without AddressSanitizer, which would slow every switch. */
#include "emulated.h"
#include "kernels/cuda/machine.cuh"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

/* Defined only with AddressSanitizer, which must be told when execution moves to another stack. */
extern "C" {
void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t size) __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *size) __attribute__((weak));
}

namespace
{
constexpr size_t MOST = 1024, STACK = 512 * 1024, GUARD = 4096; /* a block's most threads; bytes of stack and guard */
constexpr int WARP = 32;

/* Where to continue on a stack: first at the context `first`, later at `registers`, where execution left the stack. */
struct Position {
    void *registers[5]; /* saved by __builtin_setjmp */
    bool started;
    ucontext_t first;
};

struct Fiber {
    Position position;
    uint3 index;
    int lane;
    struct Warp *warp;
    bool ended;
    std::vector<emulated::Copy> copies;
    int commits;
};

/* A call at which the lanes of a warp, or the threads of the block, wait for each other. */
struct Meeting {
    int arrived;
    const char *call, *file;
    int line;
};

struct Warp {
    Meeting at;
    int first, lanes, ended;
    void *given[WARP];
};

auto &fibers = *new std::vector<Fiber *>; /* one per thread of the largest block so far; later blocks reuse them */
auto &warps = *new std::vector<Warp>;
auto &ready = *new std::vector<int>; /* indices of the threads that can continue */
Meeting barrier;
int threads, ended, now; /* count of all threads; count of ended threads; index of the running thread */
bool entered;            /* a fiber is running */
bool by_warp;            /* take_ready chooses only among the WARP threads that became ready last */
const std::function<void()> *kernel;
unsigned char *dynamic;
size_t dynamic_bytes;

Position host = {{}, true, {}};
void *fiber_kept; /* AddressSanitizer's state of the fibers' stacks */
char *stacks;     /* MOST stacks of STACK bytes, each with an inaccessible lowest page */
void *host_stack; /* stack of the host thread that runs the fibers */
size_t host_stack_size;

__attribute__((noinline)) [[noreturn]] void jump(Position &to)
{
    if (to.started)
        __builtin_longjmp(to.registers, 1);
    to.started = true;
    setcontext(&to.first);
    abort();
}

/* Continues at `to`; returns when something continues at `here`. Does not use swapcontext: glibc's swapcontext makes a
 * system call each time, and AddressSanitizer's forgets the state of the stack. */
__attribute__((noinline)) void change(Position &here, Position &to)
{
    if (!__builtin_setjmp(here.registers))
        jump(to);
}

/* Tells AddressSanitizer to which stack execution will change. All fibers' stacks count as one stack. */
void tell_stack(void **kept, const void *bottom, size_t size)
{
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(kept, bottom, size);
}

/* Tells AddressSanitizer that execution is on the stack that tell_stack announced; must be the first call there. */
void changed_stack(void *kept)
{
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(kept, nullptr, nullptr);
}

[[noreturn]] void nobody_can_go_on()
{
    fprintf(stderr, "emulated CUDA: block (%u, %u, %u) of %d threads hangs:\n", blockIdx.x, blockIdx.y, blockIdx.z,
            threads);
    if (barrier.arrived)
        fprintf(stderr, "  %d threads wait at __syncthreads (%s:%d)\n", barrier.arrived, barrier.file, barrier.line);
    for (const Warp &warp : warps)
        if (warp.at.arrived)
            fprintf(stderr, "  %d of the %d lanes of the warp from thread %d wait at %s (%s:%d)\n", warp.at.arrived,
                    warp.lanes, warp.first, warp.at.call, warp.at.file, warp.at.line);
    fprintf(stderr, "  %d threads have ended\n", ended);
    abort();
}

/* Chooses the thread that runs next, removes it from `ready`, and returns its index. */
int take_ready()
{
    if (ready.empty())
        nobody_can_go_on();
    size_t among = by_warp ? min(ready.size(), static_cast<size_t>(WARP)) : ready.size();
    size_t which = ready.size() - 1 - emulated::chance(static_cast<uint32_t>(among));
    int next = ready[which];
    ready[which] = ready.back();
    ready.pop_back();
    return next;
}

void enter(Fiber &fiber)
{
    threadIdx = fiber.index;
    if (!entered)
        changed_stack(fiber_kept);
    entered = true;
}

/* Runs other threads of the block until this thread is chosen again. */
void wait_turn()
{
    Fiber &mine = *fibers[static_cast<size_t>(now)];
    int before = now, next = take_ready();
    if (next == before)
        return;
    Fiber &other = *fibers[static_cast<size_t>(next)];
    now = next;
    change(mine.position, other.position);
    enter(mine);
}

/* Adds a thread to the meeting. Returns whether all `expected` threads have arrived. */
bool join_meeting(Meeting &meeting, int expected, const char *call, const char *file, int line)
{
    if (!meeting.arrived)
        meeting = {0, call, file, line};
    else if (meeting.line != line || (meeting.file != file && strcmp(meeting.file, file)) ||
             (meeting.call != call && strcmp(meeting.call, call)))
        emulated_wrong(file, line, "thread (%u, %u, %u) arrives at %s while others of its %s wait at %s (%s:%d)",
                       threadIdx.x, threadIdx.y, threadIdx.z, call, &meeting == &barrier ? "block" : "warp",
                       meeting.call, meeting.file, meeting.line);
    if (++meeting.arrived < expected)
        return false;
    meeting.arrived = 0;
    return true;
}

void release_barrier()
{
    for (int i = 0; i < threads; i++)
        if (!fibers[static_cast<size_t>(i)]->ended)
            ready.push_back(i);
}

/* Ends a thread; this may release others from a barrier. Fails if other lanes of the thread's warp wait at a call. */
void end_thread(Fiber &fiber)
{
    fiber.ended = true;
    ended++;
    fiber.warp->ended++;
    const Meeting &at = fiber.warp->at;
    if (at.arrived)
        emulated_wrong(at.file, at.line, "thread (%u, %u, %u) ended while others of its warp wait at %s", threadIdx.x,
                       threadIdx.y, threadIdx.z, at.call);
    if (barrier.arrived && barrier.arrived == threads - ended) {
        barrier.arrived = 0;
        release_barrier();
    }
}

/* The endless loop of a fiber: runs a thread of one block after another. */
void run_fiber()
{
    Fiber &mine = *fibers[static_cast<size_t>(now)];
    for (;;) {
        enter(mine);
        (*kernel)();
        end_thread(mine);
        if (ended < threads) {
            wait_turn();
        } else {
            tell_stack(&fiber_kept, host_stack, host_stack_size);
            change(mine.position, host);
        }
    }
}

void begin_context(ucontext_t *context, char *stack, size_t size)
{
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = size;
    makecontext(context, run_fiber, 0);
}

void make_fibers(size_t n)
{
    if (!stacks) {
        void *memory =
            mmap(nullptr, MOST * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            emulated_wrong(__FILE__, __LINE__, "no memory for the stacks of threads");
        stacks = static_cast<char *>(memory);
    }
    while (fibers.size() < n) {
        auto *fiber = new Fiber();
        char *stack = stacks + fibers.size() * STACK;
        if (mprotect(stack, GUARD, PROT_NONE))
            emulated_wrong(__FILE__, __LINE__, "the system cannot protect a page of a stack");
        /* stacks start at different offsets, since stacks at equal offsets would evict each other from the caches */
        begin_context(&fiber->position.first, stack + GUARD, STACK - GUARD - fibers.size() % 64 * (4096 + 64));
        fibers.push_back(fiber);
    }
}

/* Finds the host thread's stack before fibers run; a fiber cannot, since it moves between host threads. */
void find_host_stack()
{
    static thread_local void *stack;
    static thread_local size_t size;
    pthread_attr_t attributes;
    if (!stack) {
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &stack, &size);
        pthread_attr_destroy(&attributes);
    }
    host_stack = stack;
    host_stack_size = size;
}

void run_block()
{
    warps.assign(static_cast<size_t>((threads + WARP - 1) / WARP), {});
    ready.clear();
    barrier = {};
    ended = 0;
    by_warp = emulated::chance(2);
    memset(dynamic, 0xff, dynamic_bytes);
    for (int i = 0; i < threads; i++) {
        Fiber &fiber = *fibers[static_cast<size_t>(i)];
        Warp &warp = warps[static_cast<size_t>(i / WARP)];
        auto index = static_cast<unsigned>(i);
        fiber.index = {index % blockDim.x, index / blockDim.x % blockDim.y, index / blockDim.x / blockDim.y};
        fiber.lane = i % WARP;
        fiber.warp = &warp;
        fiber.ended = false;
        fiber.copies.clear();
        fiber.commits = 0;
        warp.first = i - fiber.lane;
        warp.lanes++;
        ready.push_back(i);
    }
    now = take_ready();
    void *kept;
    entered = false;
    tell_stack(&kept, stacks, MOST * STACK);
    change(host, fibers[static_cast<size_t>(now)]->position);
    changed_stack(kept);
}
} // namespace

void emulated::run_grid(dim3 grid, dim3 block, size_t shared, const std::function<void()> &body)
{
    uint64_t blocks = static_cast<uint64_t>(grid.x) * grid.y * grid.z, at = 0, step = 1;
    gridDim = grid;
    blockDim = block;
    threads = static_cast<int>(block.x * block.y * block.z);
    kernel = &body;
    make_fibers(static_cast<size_t>(threads));
    find_host_stack();
    void *memory = nullptr;
    if (posix_memalign(&memory, 16, shared))
        emulated_wrong(__FILE__, __LINE__, "no memory for %zu bytes of shared memory", shared);
    dynamic = static_cast<unsigned char *>(memory);
    dynamic_bytes = shared;
    if (chance(2)) { /* runs blocks upwards or downwards from a random block */
        at = chance(static_cast<uint32_t>(blocks > UINT32_MAX ? UINT32_MAX : blocks));
        step = chance(2) ? 1 : blocks - 1;
    }
    for (uint64_t i = 0; i < blocks; i++, at = (at + step) % blocks) {
        blockIdx = {static_cast<unsigned>(at % grid.x), static_cast<unsigned>(at / grid.x % grid.y),
                    static_cast<unsigned>(at / grid.x / grid.y)};
        run_block();
    }
    free(memory);
}

void emulated_wrong(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "emulated CUDA: %s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    abort();
}

void __syncthreads(const char *file, int line)
{
    if (join_meeting(barrier, threads - ended, "__syncthreads", file, line))
        release_barrier();
    wait_turn();
}

void emulated_warp(const char *call, void *mine, void (*act)(void **of_lane, int lanes), const char *file, int line)
{
    Fiber &fiber = *fibers[static_cast<size_t>(now)];
    Warp &warp = *fiber.warp;
    if (warp.ended)
        emulated_wrong(file, line, "thread (%u, %u, %u) arrives at %s, but %d lanes of its warp have ended",
                       threadIdx.x, threadIdx.y, threadIdx.z, call, warp.ended);
    warp.given[fiber.lane] = mine;
    if (join_meeting(warp.at, warp.lanes, call, file, line)) {
        act(warp.given, warp.lanes);
        for (int i = 0; i < warp.lanes; i++)
            ready.push_back(warp.first + i);
    }
    wait_turn();
}

void emulated_full_warp(const char *call, void *mine, void (*act)(void **of_lane, int lanes), const char *file,
                        int line)
{
    int lanes = fibers[static_cast<size_t>(now)]->warp->lanes;
    if (lanes != WARP)
        emulated_wrong(file, line, "%s by a warp of %d lanes; it needs 32", call, lanes);
    emulated_warp(call, mine, act, file, line);
}

int emulated_lane()
{
    return fibers[static_cast<size_t>(now)]->lane;
}

void *emulated_dynamic_shared()
{
    return dynamic;
}

std::vector<emulated::Copy> &emulated::copies(int **commits)
{
    Fiber &fiber = *fibers[static_cast<size_t>(now)];
    *commits = &fiber.commits;
    return fiber.copies;
}
