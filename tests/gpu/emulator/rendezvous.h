/* rendezvous.h - lets the ranks of an emulated communicator exchange data in shared memory. */
#ifndef RENDEZVOUS_H
#define RENDEZVOUS_H

#include "nccl.h"

#include <cstdint>

namespace emulated
{
enum CallKind { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, ALL_TO_ALL };

/* A collective's parameters, equal on all ranks. If a buffer has a part for each rank, `count` is that of one part. */
struct Call {
    CallKind kind;
    ncclDataType_t type;
    ncclRedOp_t op;
    int root;
    size_t count;
};

/* The progress of a rank in a collective. */
struct Progress {
    size_t elements = 0; /* elements that the rank has exchanged */
    bool posted = false; /* whether the rank has posted the next piece */
};

size_t type_bytes(ncclDataType_t type); /* 0 if the type is not emulated */

struct Rendezvous {
    int size, rank, device;
    struct Place *place = nullptr; /* array of `size`, shared with the other ranks */
    uint64_t round = 0;            /* pieces that this rank has exchanged so far */

    Rendezvous() = default;
    Rendezvous(const Rendezvous &) = delete;
    Rendezvous &operator=(const Rendezvous &) = delete;
    ~Rendezvous();
    /* Opens the shared memory with this name, as rank `rank` on GPU `device`. Returns false if the system refuses. */
    bool attach(const char *name, int size, int rank, int device);
    /* Returns whether all ranks have attached. */
    bool all_here();
    /* Returns whether two ranks use the same GPU. Must be called when all ranks have attached. */
    bool same_device() const;
    /* Advances a collective as far as possible without waiting. Returns whether the collective is done. */
    bool advance(const Call &call, const void *in, void *out, Progress &progress);

    char name[NCCL_UNIQUE_ID_BYTES];
};
} // namespace emulated

#endif
