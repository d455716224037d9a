/* low_rank.h - what ddp_powersgd keeps: the error memory, and the factors of all tensors as they are sent. */
#ifndef DDP_LOW_RANK_H
#define DDP_LOW_RANK_H

#include "ddp/reducer.h"

struct low_rank {
    float *error;   /* [arena] memory from the comm: the error memory */
    float *message; /* all P, then all Q */
    /* Where a tensor's numbers end in `message`, in floats of P and of Q; they begin where those of the next tensor
     * end, as in the arena. */
    struct place {
        size_t p, q;
        long ticket; /* of the last tensor of a bucket: that of the bucket's last collective */
    } end[];         /* [tensors + 1] */
};

#endif
