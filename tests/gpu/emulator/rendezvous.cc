/* rendezvous.cc - exchanges a collective's data piece by piece: each rank posts its data, then takes what it needs. */
#include "rendezvous.h"
#include "cuda_bf16.h"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace emulated
{
constexpr size_t SLOT = 256 << 10; /* bytes of a rank's slot */

struct Place {
    std::atomic<uint64_t> posted, taken; /* number of pieces that this rank put into its slot; took from all slots */
    std::atomic<int> here;
    int device;
    Call call;
    alignas(64) char slot[SLOT];
};

size_t type_bytes(ncclDataType_t type)
{
    return type == ncclFloat64                        ? 8
           : type == ncclFloat32 || type == ncclInt32 ? 4
           : type == ncclBfloat16                     ? 2
           : type == ncclInt8                         ? 1
                                                      : 0;
}

static size_t bytes_of(int size)
{
    return static_cast<size_t>(size) * sizeof(Place);
}

Rendezvous::~Rendezvous()
{
    if (place)
        munmap(place, bytes_of(size));
}

bool Rendezvous::attach(const char *of_name, int of_size, int own_rank, int own_device)
{
    size = of_size;
    rank = own_rank;
    device = own_device;
    memcpy(name, of_name, sizeof name);
    int file = shm_open(name, O_RDWR | O_CREAT, 0600);
    if (file < 0)
        return false;
    void *memory = MAP_FAILED;
    if (!ftruncate(file, static_cast<off_t>(bytes_of(size))))
        memory = mmap(nullptr, bytes_of(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED)
        return false;
    place = static_cast<Place *>(memory); /* new shared memory is zero */
    place[rank].device = device;
    place[rank].here = 1;
    return true;
}

bool Rendezvous::all_here()
{
    for (int r = 0; r < size; r++)
        if (!place[r].here)
            return false;
    if (name[0])
        shm_unlink(name); /* all ranks have opened it */
    name[0] = 0;
    return true;
}

bool Rendezvous::same_device() const
{
    for (int r = 0; r < size; r++)
        for (int other = 0; other < r; other++)
            if (place[r].device == place[other].device)
                return true;
    return false;
}

/* ---- reductions: add up in the order of ranks, rounded to the type after each addition ---- */

template <typename T> static T add(T a, T b)
{
    return a + b;
}
static __nv_bfloat16 add(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(b));
}

template <typename T> static T larger(T a, T b)
{
    return a < b ? b : a;
}
static __nv_bfloat16 larger(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __bfloat162float(a) < __bfloat162float(b) ? b : a;
}

template <typename T> static T divide(T sum, int n)
{
    return sum / static_cast<T>(n);
}
static __nv_bfloat16 divide(__nv_bfloat16 sum, int n)
{
    return __float2bfloat16_rn(__bfloat162float(sum) / static_cast<float>(n));
}

/* Computes to[n]: reduces by op, over all ranks, the n numbers from index `first` on in each rank's slot. */
template <typename T> static void reduce(const Rendezvous &ranks, ncclRedOp_t op, size_t first, size_t n, void *to)
{
    T *out = static_cast<T *>(to);
    for (size_t i = 0; i < n; i++) {
        T sum = reinterpret_cast<const T *>(ranks.place[0].slot)[first + i];
        for (int r = 1; r < ranks.size; r++) {
            T x = reinterpret_cast<const T *>(ranks.place[r].slot)[first + i];
            sum = op == ncclMax ? larger(sum, x) : add(sum, x);
        }
        out[i] = op == ncclAvg ? divide(sum, ranks.size) : sum;
    }
}

static void reduce_any(const Rendezvous &ranks, const Call &call, size_t first, size_t n, void *out)
{
    auto *with = call.type == ncclFloat32   ? reduce<float>
                 : call.type == ncclFloat64 ? reduce<double>
                 : call.type == ncclInt32   ? reduce<int32_t>
                                            : reduce<__nv_bfloat16>;
    with(ranks, call.op, first, n, out);
}

/* ---- a piece: n elements from index `from` on, of a buffer or, if it has a part for each rank, of each part ---- */

/* Returns how many ranks get their own part of each rank's input. */
static size_t parts_of(const Call &call, int ranks)
{
    return call.kind == REDUCE_SCATTER || call.kind == ALL_TO_ALL ? static_cast<size_t>(ranks) : 1;
}

static void post(Rendezvous &ranks, const Call &call, const char *in, size_t from, size_t n)
{
    Place &mine = ranks.place[ranks.rank];
    size_t bytes = type_bytes(call.type), parts = parts_of(call, ranks.size);
    mine.call = call;
    if (call.kind != BROADCAST || call.root == ranks.rank)
        for (size_t r = 0; r < parts; r++)
            memcpy(mine.slot + r * n * bytes, in + (r * call.count + from) * bytes, n * bytes);
}

static void take(Rendezvous &ranks, const Call &call, char *out, size_t from, size_t n)
{
    size_t bytes = type_bytes(call.type);
    size_t part = call.kind == ALL_TO_ALL ? static_cast<size_t>(ranks.rank) * n * bytes : 0;
    if (call.kind == ALL_GATHER || call.kind == ALL_TO_ALL)
        for (int r = 0; r < ranks.size; r++)
            memcpy(out + (static_cast<size_t>(r) * call.count + from) * bytes, ranks.place[r].slot + part, n * bytes);
    else if (call.kind == BROADCAST)
        memcpy(out + from * bytes, ranks.place[call.root].slot, n * bytes);
    else
        reduce_any(ranks, call, call.kind == REDUCE_SCATTER ? static_cast<size_t>(ranks.rank) * n : 0, n,
                   out + from * bytes);
}

static void check_agreement(const Rendezvous &ranks, const Call &mine)
{
    for (int r = 0; r < ranks.size; r++) {
        const Call &other = ranks.place[r].call;
        if (other.kind != mine.kind || other.type != mine.type || other.op != mine.op || other.root != mine.root ||
            other.count != mine.count)
            emulated_wrong(__FILE__, __LINE__,
                           "ranks call different collectives: rank %d kind %d of %zu (type %d, op %d, root %d), "
                           "rank %d kind %d of %zu (type %d, op %d, root %d)",
                           ranks.rank, mine.kind, mine.count, mine.type, mine.op, mine.root, r, other.kind, other.count,
                           other.type, other.op, other.root);
    }
}

bool Rendezvous::advance(const Call &call, const void *in, void *out, Progress &progress)
{
    size_t parts = parts_of(call, size);
    size_t most = SLOT / (type_bytes(call.type) * parts);
    while (progress.elements < call.count) {
        size_t n = std::min(most, call.count - progress.elements);
        if (!progress.posted) {
            for (int r = 0; r < size; r++)
                if (place[r].taken < round)
                    return false;
            post(*this, call, static_cast<const char *>(in), progress.elements, n);
            place[rank].posted = round + 1;
            progress.posted = true;
        }
        for (int r = 0; r < size; r++)
            if (place[r].posted < round + 1)
                return false;
        check_agreement(*this, call);
        take(*this, call, static_cast<char *>(out), progress.elements, n);
        place[rank].taken = ++round;
        progress = {progress.elements + n, false};
    }
    return true;
}
} // namespace emulated
