/* traced.h - what the emulation tells a tracer: calls while they go on, and the work that they queue when it is done.
 */
#ifndef TRACED_H
#define TRACED_H

#include "emulated.h"

namespace emulated
{
/* A call of the runtime, or of the driver, while this exists; one that is made within another is a part of it. */
class Traced
{
  public:
    enum Work { NOTHING, KERNEL, COPY, FILL };

    explicit Traced(const char *call, Work queues = NOTHING, const char *kernel = "", bool by_driver = false);
    ~Traced();
    Traced(const Traced &) = delete;
    Traced &operator=(const Traced &) = delete;

    /* A stream has recorded an event; the host or a stream waits for one (0: for none), as CUPTI numbers such waits. */
    void marks(uint32_t stream, uint32_t event);
    void waits(uint32_t type, uint32_t stream, uint32_t event);
    void asks(uint32_t event, bool done); /* whether one has come: it is recorded as a wait that takes no time */

    dim3 grid, block;
    size_t bytes = 0; /* of shared memory, or copied */
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

/* The call that goes on in this thread; NULL if there is none. */
Traced *traced_call();

/* The same work, of which a record is made when it is done: it is what the call that goes on queues. */
std::function<bool()> traced(uint32_t stream, std::function<bool()> work);
} // namespace emulated

#endif
