/* traced.h - tells a tracer (CUPTI) about calls, and about the work that calls have queued, once the work is done. */
#ifndef TRACED_H
#define TRACED_H

#include "emulated.h"

namespace emulated
{
/* A call of the runtime or the driver, which lasts as long as this object; a nested call is part of the outer call. */
class Traced
{
  public:
    enum Work { NOTHING, KERNEL, COPY, FILL };

    explicit Traced(const char *call, Work queues = NOTHING, const char *kernel = "", bool by_driver = false);
    ~Traced();
    Traced(const Traced &) = delete;
    Traced &operator=(const Traced &) = delete;

    /* marks: reports that the call records an event in a stream. waits: reports that the call is a wait, with CUPTI's
     * number for the kind of wait, and CUPTI's ids of the stream and the event (UINT32_MAX: none). */
    void marks(uint32_t stream, uint32_t event);
    void waits(uint32_t type, uint32_t stream, uint32_t event);
    void asks(uint32_t event, bool done); /* a query of an event: recorded as a wait that takes no time */

    dim3 grid, block;
    size_t bytes = 0; /* bytes of a kernel's shared memory, of a copy or of a fill */
    Kind from = DEVICE, to = DEVICE;

  private:
    friend std::function<bool()> traced(uint32_t stream, std::function<bool()> work);
    const char *call;
    Work queues;
    const char *kernel;
    bool by_driver, within;
    uint32_t correlation, wait_type = 0, wait_stream = 0, wait_event = 0;
    uint64_t start = 0;
};

/* Returns the call in progress in this thread, or NULL. */
Traced *traced_call();

/* Returns a function for the call in progress to queue: it does the work, and once done makes a record of the work. */
std::function<bool()> traced(uint32_t stream, std::function<bool()> work);
} // namespace emulated

#endif
