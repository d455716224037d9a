/* test_comm_staged.c - a staged comm accepts only memory it has allocated; tests/mpi/comm.c tests its collectives. */
#include "ddp/comm_staged.h"
#include "tests/support/delayed_device.h"
#include "tests/support/suite.h"

enum { COUNT = 16 };

static void inner_destroy(void *state)
{
    (void)state;
}

/* A staged transport of one rank. It is static, so that a leak checker finds its memory if a test exits early. */
static struct transport staged;
static struct device device; /* delayed device whose memory a leak checker can see */
static float *memory;
static const struct job alone = {.size = 1, .hosts = 1, .local_size = 1};

static void set_up(void)
{
    device = *delayed_device();
    device.allocate = device.allocate_host;
    device.release = device.release_host;
    staged = comm_staged((struct transport){.destroy = inner_destroy}, &device, &alone, 1);
    memory = staged.allocate(staged.state, COUNT * sizeof *memory);
}

static void tear_down(void)
{
    staged.release(staged.state, memory);
    staged.release(staged.state, NULL);
    staged.destroy(staged.state);
}

/* The delayed device postpones the copy, so that only the check of the memory runs. */
TEST(own_memory_is_accepted)
{
    struct collective c = {.buffer = memory, .count = COUNT};
    staged.queue(staged.state, 0, &c);
}

TEST_RANGE(other_memory_is_fatal, 1, 0, 3)
{
    float other[COUNT];
    const struct collective wrong[] = {{.buffer = memory, .count = COUNT + 1},
                                       {.buffer = memory - 1, .count = 1},
                                       {.buffer = memory, .count = COUNT, .in = other}};
    staged.queue(staged.state, 0, &wrong[_i]);
}

TEST_RANGE(release_of_other_memory_is_fatal, 1, 0, 2)
{
    float other;
    staged.release(staged.state, _i ? &memory[1] : &other);
}

SUITE("staged comm", set_up, tear_down)
