/* low_rank.h - what ddp_powersgd keeps, for strategy_powersgd.c and its tests: the error memory, and the factors of all
 * tensors as they are sent. */
#ifndef DDP_LOW_RANK_H
#define DDP_LOW_RANK_H

#include "ddp/reducer.h"

struct low_rank {
    float *error;   /* [arena] memory from the comm: the error memory */
    float *message; /* all P, then all Q */
    /* Where a tensor's P and Q end in `message`, in floats from the first P and from the first Q. They begin where the
     * P and Q of the next tensor end, as in the arena. */
    struct place {
        size_t p, q;
        long ticket; /* for the last tensor of a bucket: ticket of the bucket's last collective */
    } end[];         /* [tensors + 1] */
};

#endif
