/* rendezvous.h - how the ranks of an emulated communicator meet: numbers pass through memory that processes share. */
#ifndef RENDEZVOUS_H
#define RENDEZVOUS_H

#include "nccl.h"

#include <cstdint>

namespace emulated
{
enum CallKind { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST };

/* What the ranks must agree on. `count` is of one rank where a buffer holds as many for each. */
struct Call {
    CallKind kind;
    ncclDataType_t type;
    ncclRedOp_t op;
    int root;
    size_t count;
};

/* How far a rank has come with a collective. */
struct Progress {
    size_t elements = 0;
    bool posted = false;
};

size_t type_bytes(ncclDataType_t type); /* 0: a type that isn't emulated */

struct Rendezvous {
    int size, rank, device;
    struct Place *place = nullptr; /* [size], shared with the other ranks */
    uint64_t round = 0;            /* pieces exchanged so far; the same on all ranks */

    Rendezvous() = default;
    Rendezvous(const Rendezvous &) = delete;
    Rendezvous &operator=(const Rendezvous &) = delete;
    ~Rendezvous();
    /* Opens the memory of that name as this rank. Returns false if the system won't. */
    bool attach(const char *name, int size, int rank, int device);
    /* Whether all ranks have attached. */
    bool all_here();
    /* Whether two ranks use one GPU. All are here. */
    bool same_device() const;
    /* Does what can be done of a collective without waiting. Returns whether it is done. */
    bool advance(const Call &call, const void *in, void *out, Progress &progress);

    char name[NCCL_UNIQUE_ID_BYTES];
};
} // namespace emulated

#endif
