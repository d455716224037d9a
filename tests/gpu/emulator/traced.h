/* traced.h - reports to a tracer the calls in progress and, once it is done, the work that they have queued. */
#ifndef TRACED_H
#define TRACED_H

#include "emulated.h"

namespace emulated
{
/* A call of the runtime or the driver, for the lifetime of this object; a nested call is part of the outer call. */
class Traced
{
  public:
    enum Work { NOTHING, KERNEL, COPY, FILL };

    explicit Traced(const char *call, Work queues = NOTHING, const char *kernel = "", bool by_driver = false);
    ~Traced();
    Traced(const Traced &) = delete;
    Traced &operator=(const Traced &) = delete;

    /* marks: reports that a stream has recorded an event. waits: reports that the host or a stream waits for an event
     * (UINT32_MAX: for none). Ids are CUPTI's. */
    void marks(uint32_t stream, uint32_t event);
    void waits(uint32_t type, uint32_t stream, uint32_t event);
    void asks(uint32_t event, bool done); /* a query of an event: recorded as a wait that takes no time */

    dim3 grid, block;
    size_t bytes = 0; /* bytes of a kernel's shared memory, or of a copy */
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

/* Returns work that, once done, also makes a record with the call in progress, which queues the work. */
std::function<bool()> traced(uint32_t stream, std::function<bool()> work);
} // namespace emulated

#endif
