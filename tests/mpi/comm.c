/* comm.c - tests every kind of struct comm, and ddp/job (the control plane), on 1 to 4 ranks: sums, types, large
 * collectives in pieces, many in flight, order relative to the device's work, agreement of ranks. */
#include "ddp/comm.h"
#include "allreduce/payload.h"
#include "ddp/comm_create.h"
#include "ddp/comm_mpi.h"
#include "ddp/comm_nccl.h"
#include "ddp/gpu.h"
#include "ddp/job.h"
#include "ddp/links.h"
#include "kernels/device_cuda.h"
#include "kernels/error.h"
#include "tests/support/delayed_device.h"
#include "tests/support/on_hosts.h"
#include "tests/support/suite.h"
#include "training/training.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static struct job job, placed; /* placed: the job, or the same on made-up hosts */

enum { MOST = 64 };

static const struct comm_progress progresses[] = {
    {PROGRESS_AUTO, 0, 0}, {PROGRESS_POLL, 0, 0}, {PROGRESS_SLEEP, 100, 0}, {PROGRESS_SLEEP, 100, 1}};

/* A combination to test: a device, a communication library, and how MPI's progress is made. */
static struct way {
    const struct device *device;
    enum comm_library library;
    struct comm_progress progress;
} way[10];
static int ways;

static void find_ways(void)
{
    int n = sizeof progresses / sizeof *progresses, index, hides;
    for (int i = 0; i < n; i++)
        way[ways++] = (struct way){device_cpu(1), COMM_MPI, progresses[i]};
    for (int i = 1; i < n; i++)
        way[ways++] = (struct way){delayed_device(), COMM_MPI, progresses[i]};
    const struct accelerator *gpus = accelerator_cuda();
    int lacks = !gpus || gpus->count() <= 0, shares = lacks || gpu_choose(gpus, &job, 0, &index, &hides);
    error_clear();
    if (job_max(&job, lacks) > 0)
        return;
    shares = job_max(&job, shares) > 0;
    const struct device *cuda;
    if (gpu_choose(gpus, &job, 1, &index, &hides) ||
        gpus->open(index, PRECISION_FP32, &(struct gpu_products){0}, &cuda))
        FATAL("%s", error_text());
    way[ways++] = (struct way){cuda, COMM_MPI, progresses[0]};
    if (comm_nccl_version() && !shares)
        way[ways++] = (struct way){cuda, COMM_NCCL, progresses[0]};
}

/* Creates a comm. If groups is 1, the comm has groups, for the ranks of `on`. */
static struct comm *create_on(const struct job *on, int groups, const struct way *w, struct timeline *timeline)
{
    struct comm_options options = {.library = w->library, .progress = w->progress, .groups = groups};
    struct comm *comm = w->library == COMM_NCCL ? comm_nccl_create(on, w->device, timeline, MOST, &options)
                                                : comm_mpi_create(on, w->device, timeline, MOST, &options);
    ck_assert_str_eq(comm->name, comm_library_name[w->library]);
    return comm;
}

static struct comm *create(const struct way *w, struct timeline *timeline)
{
    return create_on(&job, 0, w, timeline);
}

/* Returns a small whole number, so that sums over ranks are exact in any order, also in bfloat16. */
static float value(int rank, size_t i)
{
    return (float)((int)((size_t)rank * 5 + i * 3) % 11 - 5);
}

static float sum_of_ranks(size_t i)
{
    float sum = 0;
    for (int r = 0; r < job.size; r++)
        sum += value(r, i);
    return sum;
}

static uint16_t bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/* put sets element i of a buffer to x; is_equal tests whether element i is x. */
static void put(void *buffer, size_t i, enum comm_dtype dtype, float x)
{
    if (dtype == COMM_BF16)
        ((uint16_t *)buffer)[i] = bf16(x);
    else
        ((float *)buffer)[i] = x;
}

static int is_equal(const void *buffer, size_t i, enum comm_dtype dtype, float x)
{
    return dtype == COMM_BF16 ? ((const uint16_t *)buffer)[i] == bf16(x) : ((const float *)buffer)[i] == x;
}

/* Starts n all-reduces, of count[0], count[1], ... elements, without waiting for earlier device work, joins them, and
 * checks elements and guards. */
static void check_sums(const struct way *w, struct comm *comm, const size_t *count, int n, enum comm_dtype dtype)
{
    size_t element = comm_dtype_bytes(dtype);
    void *host[MOST], *buffer[MOST];
    long ticket = 0;
    for (int c = 0; c < n; c++) {
        host[c] = allocate(count[c] + 1, element);
        buffer[c] = comm->allocate(comm, (count[c] + 1) * element);
        for (size_t i = 0; i < count[c]; i++)
            put(host[c], i, dtype, value(job.rank, i));
        put(host[c], count[c], dtype, 42);
    }
    for (int c = 0; c < n; c++) {
        w->device->upload(buffer[c], host[c], (count[c] + 1) * element);
        struct collective collective = {.buffer = buffer[c], .count = count[c], .dtype = dtype, .index = c};
        long next = comm->start(comm, &collective);
        ck_assert(c == 0 || next == ticket + 1);
        ticket = next;
    }
    while (n % 2 && !comm->complete(comm, ticket)) /* once they are complete, there is no need to join them */
        sched_yield();
    if (n % 2 == 0)
        comm->join(comm, ticket);
    for (int c = 0; c < n; c++) {
        size_t wrong = 0; /* counts errors, as an assertion per element is slow */
        w->device->download(host[c], buffer[c], (count[c] + 1) * element);
        for (size_t i = 0; i < count[c]; i++)
            wrong += !is_equal(host[c], i, dtype, sum_of_ranks(i));
        ck_assert_uint_eq(wrong, 0);
        ck_assert(is_equal(host[c], count[c], dtype, 42)); /* the guard after the buffer */
        free(host[c]);
        comm->release(comm, buffer[c]);
    }
}

/* Checks the times of spans, and for NCCL, which runs collectives one after another, that they are in ticket order. */
static void check_spans(const struct way *w, struct timeline *timeline, size_t n)
{
    const struct lane *lane = &timeline->lane[LANE_COMMUNICATION];
    const int64_t clocks_apart_ns = w->device->asynchronous ? 1000000 : 0;
    ck_assert_uint_eq(lane->n, n);
    if (w->library == COMM_NCCL) {
        w->device->stamps_end();
        timeline_settle(timeline, w->device->stamp_ns);
    }
    for (size_t i = 0; i < n; i++) {
        const struct span *s = &lane->span[i];
        ck_assert_str_eq(s->name, "all_reduce");
        ck_assert_int_le(s->queued_ns, s->start_ns + clocks_apart_ns);
        ck_assert_int_le(s->start_ns, s->end_ns);
        if (w->library == COMM_NCCL && i) {
            ck_assert_uint_eq(s->size[SIZE_TICKET], s[-1].size[SIZE_TICKET] + 1);
            ck_assert_int_le(s[-1].end_ns, s->start_ns);
        }
    }
}

TEST_EACH(sums_are_right, ways)
{
    static const size_t count[] = {1, 2, 3, 7, 1000, 65537, 0, 300001};
    int n = sizeof count / sizeof *count;
    const struct way *w = &way[_i];
    struct timeline timeline;
    size_t spans[TIMELINE_LANES] = {1, 1000};
    timeline_create(&timeline, spans);
    struct comm *comm = create(w, &timeline);
    if (w->library == COMM_NCCL)
        w->device->stamps_begin();
    for (int round = 0; round < 3; round++) {
        check_sums(w, comm, count, n, COMM_FLOAT32);
        check_sums(w, comm, count, n, COMM_BF16);
        job_barrier(&job); /* MPI's barrier works between collectives of the comm */
    }
    check_spans(w, &timeline, 6 * (size_t)n);
    comm->destroy(comm);
    timeline_destroy(&timeline);
    ck_assert_int_eq(delayed_device_wrong(), 0);
}

TEST_EACH(a_large_collective_goes_in_pieces, 2)
{
    static const size_t count[] = {1, 99, 100, 101, 12345, 200};
    const struct way w = {_i ? delayed_device() : device_cpu(1), COMM_MPI, progresses[0]};
    struct comm *comm =
        comm_mpi_create_pieces(&job, w.device, NULL, MOST, &(struct comm_options){.progress = w.progress}, 100);
    check_sums(&w, comm, count, sizeof count / sizeof *count, COMM_FLOAT32);
    check_sums(&w, comm, count, sizeof count / sizeof *count, COMM_BF16);
    comm->destroy(comm);
}

/* MOST collectives, the number for which a comm is created, may be in flight at once, and MOST more after a join. */
TEST_EACH(many_may_be_in_flight, ways)
{
    size_t count[MOST];
    for (size_t i = 0; i < MOST; i++)
        count[i] = 1 + i * 37 % 500;
    struct comm *comm = create(&way[_i], NULL);
    for (int round = 0; round < 20; round++)
        check_sums(&way[_i], comm, count, MOST, COMM_FLOAT32);
    comm->destroy(comm);
}

/* A collective sees the writes of device work issued before it, and device work issued after the join does not
 * overwrite its input. The host waits only at the end. */
TEST_EACH(collectives_keep_their_order_with_the_device, ways)
{
    enum { COUNT = 1000, TIMES = 200 };
    const struct way *w = &way[_i];
    float x[COUNT];
    size_t wrong = 0;
    struct comm *comm = create(w, NULL);
    float *in = comm->allocate(comm, sizeof x), *out = comm->allocate(comm, TIMES * sizeof x);
    w->device->download(x, in, sizeof x);
    for (size_t i = 0; i < COUNT; i++)
        wrong += x[i] != 0; /* new memory of a comm is zero */
    for (int t = 0; t < TIMES; t++) {
        struct collective c = {.in = in, .buffer = out + t * COUNT, .count = COUNT, .index = t};
        for (size_t i = 0; i < COUNT; i++)
            x[i] = value(job.rank, i + (size_t)t);
        w->device->upload(in, x, sizeof x);
        if (t % 3)
            comm->run_blocking(comm, &c);
        else
            comm->join(comm, comm->start(comm, &c));
    }
    for (int t = 0; t < TIMES; t++) {
        w->device->download(x, out + t * COUNT, sizeof x);
        for (size_t i = 0; i < COUNT; i++)
            wrong += x[i] != sum_of_ranks(i + (size_t)t);
    }
    ck_assert_uint_eq(wrong, 0);
    comm->release(comm, in);
    comm->release(comm, out);
    comm->destroy(comm);
}

/* Each rank sends messages, of 0, some and many bytes, to the next rank, and receives the previous rank's messages. */
TEST_EACH(a_message_goes_from_rank_to_rank, ways)
{
    static const size_t sizes[] = {0, 8, 100003};
    const struct way *w = &way[_i];
    int next = (job.rank + 1) % job.size, previous = (job.rank + job.size - 1) % job.size;
    struct comm *comm = create(w, NULL);
    unsigned char *host = kept(allocate(100003, 1)), *message = comm->allocate(comm, 100003);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && job.size > 1; s++)
        for (int turn = 0; turn < job.size; turn++) {
            memset(host, 1 + job.rank, sizes[s]);
            w->device->upload(message, host, sizes[s]);
            w->device->synchronize();
            if (job.rank == turn)
                comm->transfer(comm, message, sizes[s], next, 0);
            if (previous == turn)
                comm->transfer(comm, message, sizes[s], previous, 1);
            size_t wrong = 0;
            w->device->download(host, message, sizes[s]);
            for (size_t i = 0; i < sizes[s]; i++)
                wrong += host[i] != 1 + (previous == turn ? previous : job.rank);
            ck_assert_uint_eq(wrong, 0);
        }
    comm->release(comm, message);
    comm->destroy(comm);
}

/* Pairs of ranks time their links; a rank without a partner gets no times. */
TEST_EACH(links_are_timed, ways)
{
    struct comm *comm = create(&way[_i], NULL);
    int partner = job.rank ^ 1;
    struct link_times times;
    void *message = comm->allocate(comm, 10000);
    if (partner >= job.size)
        partner = -1;
    links_time(&job, comm, partner, message, 10000, &times);
    ck_assert_int_eq(times.send > 0 && isfinite(times.send), partner >= 0);
    ck_assert_int_eq(times.round_trip > 0 && isfinite(times.round_trip), partner >= 0);
    comm->release(comm, message);
    comm->destroy(comm);
}

/* Every host gets a send rate, a receive rate, and the number of its first rank. */
TEST_EACH(hosts_get_rates, PLACINGS)
{
    struct job on = on_hosts(&job, _i);
    struct comm *comm = create(&way[0], NULL);
    struct link_rates *rates = kept(allocate((size_t)on.hosts, sizeof *rates));
    if (on.hosts > 1) {
        links_measure(&on, comm, rates);
        for (int h = 0; h < on.hosts; h++) {
            ck_assert(rates[h].send > 0 && isfinite(rates[h].send));
            ck_assert(rates[h].receive > 0 && isfinite(rates[h].receive));
        }
        ck_assert(on.local_rank > 0 || rates[on.host].rank == on.rank);
    }
    comm->destroy(comm);
}

/* Rank 0 gathers a number from each rank, and sends each rank another. */
TEST_EACH(rank_0_gathers_and_scatters, 2)
{
    int *all = job.rank ? NULL : kept(allocate((size_t)job.size, sizeof *all)), mine = 3 * job.rank;
    job_set_crowded(&job, _i);
    job_gather_first(&job, &mine, sizeof mine, all);
    for (int r = 0; r < job.size && all; r++) {
        ck_assert_int_eq(all[r], 3 * r);
        all[r] += 5;
    }
    job_scatter_first(&job, all, sizeof mine, &mine);
    ck_assert_int_eq(mine, 3 * job.rank + 5);
    job_set_crowded(&job, 0);
}

TEST(progress_is_recorded)
{
    static const struct {
        struct comm_options options;
        const char *words;
    } rows[] = {{{.progress = {PROGRESS_AUTO, 0, 0}, .core_to_spare = 0}, "sleep:500"},
                {{.progress = {PROGRESS_AUTO, 0, 0}, .core_to_spare = 1}, "poll"},
                {{.progress = {PROGRESS_SLEEP, 70, 0}, .core_to_spare = 1}, "sleep:70"}};
    for (int i = 0; i < 3; i++) {
        struct comm *comm = comm_mpi_create(&job, device_cpu(1), NULL, 1, &rows[i].options);
        ck_assert_str_eq(comm->progress, rows[i].words);
        comm->destroy(comm);
    }
}

/* Every rank knows the job's ranks, hosts and machines, also when ranks share cores (crowded). */
TEST_EACH(the_job_knows_its_ranks, 2)
{
    ck_assert_int_eq(job_set_crowded(&job, _i && job.rank == job.size - 1), _i);
    ck_assert_double_gt(job.cores, 0);
    int *rank = kept(allocate((size_t)job.size, sizeof *rank));
    job_gather(&job, &job.rank, sizeof job.rank, rank);
    for (int r = 0; r < job.size; r++)
        ck_assert_int_eq(rank[r], r);
    struct job *all = kept(allocate((size_t)job.size, sizeof *all));
    job_gather(&job, &job, sizeof job, all);
    int neighbours = 0, before = 0, last_host = 0, on_machine = 0;
    for (int r = 0; r < job.size; r++) {
        neighbours += all[r].host == job.host;
        before += r < job.rank && all[r].host == job.host;
        on_machine += all[r].machine == job.machine;
        last_host = all[r].host > last_host ? all[r].host : last_host;
    }
    ck_assert_int_eq(job.hosts, last_host + 1);
    ck_assert_int_eq(job.local_size, neighbours);
    ck_assert_int_eq(job.local_rank, before);
    ck_assert_double_eq(job_max(&job, job.rank), job.size - 1);
    ck_assert_int_eq(job.machine_size, on_machine);
    ck_assert_double_eq(job_sum_machine(&job, 1), on_machine);
    ck_assert_int_ge(job.machine_size, job.local_size); /* all ranks of a host are on one machine */
}

TEST(ranks_agree_on_a_failure)
{
    ck_assert_int_eq(job_agree(&job, 0), 0);
    int status = job.rank == job.size - 1 ? error_report("a made-up failure, to be printed once") : 0;
    ck_assert_int_eq(job_agree(&job, status), -1);
    ck_assert_str_eq(error_text(), "");
    ck_assert_int_eq(job_agree(&job, 0), 0);
}

/* Compares losses of strategies that must agree: equal, slightly different, wrong, and NaN in one strategy. */
TEST(losses_are_compared)
{
    double mine[] = {3 + job.rank, 2, 1, 1}; /* the first loss may differ between ranks */
    double mean = 3 + (job.size - 1) / 2.0;
    struct losses l;
    losses_create(&l, 4, 1);
    losses_add(&l, &job, mine, 1);
    ck_assert_double_eq_tol(l.mean[0], mean, 1e-12);
    ck_assert_double_nan(l.difference); /* no other losses to compare with */
    losses_add(&l, &job, mine, 1);
    ck_assert_double_eq(l.difference, 0);
    mine[1] = 4;
    losses_add(&l, &job, mine, 0); /* losses of `none` may differ */
    ck_assert_double_eq(l.difference, 0);
    mine[1] = 2;
    mine[3] = 1.5; /* late steps may differ, since rounding errors accumulate */
    losses_add(&l, &job, mine, 1);
    ck_assert_double_eq(l.difference, 0.5);
    ck_assert(l.wrong <= 1e-3);
    mine[1] = 2.01;
    mine[3] = 1;
    losses_add(&l, &job, mine, 1);
    ck_assert_double_eq(l.difference, 0.5); /* the largest difference so far */
    ck_assert(l.wrong > 1e-3);
    losses_destroy(&l);

    losses_create(&l, 4, 1);
    mine[1] = mine[3] = 1;
    losses_add(&l, &job, mine, 1);
    mine[1] = job.rank == job.size - 1 ? NAN : 1;
    losses_add(&l, &job, mine, 1);
    mine[1] = 1;
    losses_add(&l, &job, mine, 1); /* the NaN of the previous losses still counts */
    ck_assert(l.not_a_number && l.wrong > 1e-3);
    losses_destroy(&l);
}

/* Checks one collective: if blocking, by the library's blocking call, otherwise by start and join. */
static void check_exact(const struct way *w, struct comm *comm, struct collective c, int in_place, int blocking)
{
    const int rank[COMM_GROUPS] = {placed.rank, placed.local_rank, placed.host};
    int ranks = comm_group_ranks(c.group, comm->ranks, comm->local_size);
    size_t most = c.count * (size_t)ranks, size = comm_dtype_bytes(c.dtype), bytes = (most + 1) * size;
    char *host_in = allocate(most, size), *host = allocate(most + 1, size);
    void *in = comm->allocate(comm, most * size);
    struct payload payload = {.collective = c,
                              .rank = rank[c.group],
                              .ranks = ranks,
                              .rounds_average = comm->rounds_average,
                              .round = (unsigned)blocking};
    c.in = in_place ? NULL : in;
    c.buffer = comm->allocate(comm, bytes);
    memset(host + most * size, 0x5a, size);
    payload_fill(&payload, in_place ? NULL : host_in, host);
    w->device->upload(in, host_in, most * size);
    w->device->upload(c.buffer, host, bytes);
    if (blocking) {
        w->device->synchronize();
        comm->call(comm, &c, 1);
    } else
        comm->join(comm, comm->start(comm, &c));
    w->device->download(host, c.buffer, bytes);
    size_t result = (size_t)((char *)comm_result(comm, &c) - (char *)c.buffer);
    ck_assert_uint_eq(payload_wrong(&payload, host + result), 0);
    for (size_t b = 0; b < size; b++) /* the guard after the buffer */
        ck_assert_int_eq(host[most * size + b], 0x5a);
    comm->release(comm, in);
    comm->release(comm, c.buffer);
    free(host_in);
    free(host);
}

/* Checks combination i of a collective, type and operation, in place and not, blocking and not, with odd counts. */
static void check_kinds(const struct way *w, struct comm *comm, enum comm_group group, int i)
{
    static const size_t counts[] = {1, 5, 4099};
    struct collective c = {.kind = (enum comm_kind)(i / (COMM_DTYPES * COMM_OPS)),
                           .dtype = (enum comm_dtype)(i % COMM_DTYPES),
                           .op = (enum comm_op)(i / COMM_DTYPES % COMM_OPS),
                           .root = comm_group_ranks(group, comm->ranks, comm->local_size) - 1,
                           .group = group};
    int whole =
        c.kind == COMM_ALL_TO_ALL ||
        (group != COMM_ALL && (c.kind == COMM_REDUCE_SCATTER || c.kind == COMM_ALL_GATHER)); /* never in place */
    if (c.op && !comm_reduces(c.kind))
        return; /* these collectives compute nothing */
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
        for (int in_place = c.kind == COMM_BROADCAST; in_place < 2 - whole; in_place++)
            for (int blocking = 0; blocking < 2; blocking++) {
                c.count = counts[n];
                check_exact(w, comm, c, in_place, blocking);
            }
}

enum { EXACT = COMM_KINDS * COMM_DTYPES * COMM_OPS };

TEST_EACH(every_collective_is_exact, ways)
{
    if (_i && way[_i].device == way[_i - 1].device && way[_i].library == way[_i - 1].library)
        return; /* how progress is made does not change results */
    struct comm *comm = create(&way[_i], NULL);
    for (int i = 0; i < EXACT; i++)
        check_kinds(&way[_i], comm, COMM_ALL, i);
    comm->destroy(comm);
    ck_assert_int_eq(delayed_device_wrong(), 0);
}

TEST_EACH(every_collective_of_a_group_is_exact, ways *PLACINGS)
{
    const struct way *w = &way[_i / PLACINGS];
    if (w > way && w->device == w[-1].device && w->library == w[-1].library)
        return;
    placed = on_hosts(&job, _i % PLACINGS);
    struct comm *comm = create_on(&placed, 1, w, NULL);
    for (int group = COMM_HOST; group < COMM_GROUPS; group++)
        for (int i = COMM_BF16; i < EXACT; i += COMM_DTYPES)
            check_kinds(w, comm, (enum comm_group)group, i);
    comm->destroy(comm);
    placed = job;
}

CASE(groups) /* also on more ranks, with an emulated GPU */

/* Returns 1, having placed the ranks on hosts, if the ranks of a way can do something else in two groups at a time. */
static int has_two_levels(const struct way *w)
{
    if (w->library != COMM_NCCL || job.size < 4 || job.size % 2)
        return 0;
    placed = on_hosts(&job, 0);
    return 1;
}

/* While rank 0's collective across hosts waits for another rank, rank 0 takes part in a collective of its host. */
TEST_EACH(groups_do_not_wait_for_each_other, ways)
{
    const double give_up_s = 20;
    const struct way *w = &way[_i];
    if (!has_two_levels(w))
        return;
    struct comm *comm = create_on(&placed, 1, w, NULL);
    float *x = comm->allocate(comm, 2 * sizeof *x);
    struct collective across = {.group = COMM_ACROSS, .buffer = x, .count = 1},
                      within = {.group = COMM_HOST, .buffer = x + 1, .count = 1};
    long ticket = 0;
    if (job.rank == 0)
        comm->start(comm, &across);
    if (job.rank <= 1)
        ticket = comm->start(comm, &within);
    int64_t begin = clock_now_ns();
    while (job.rank == 1 && !comm->complete(comm, ticket) && clock_seconds_since(begin) < give_up_s)
        sched_yield();
    int waited = job_max(&job, job.rank == 1 && !comm->complete(comm, ticket)) > 0;
    if (job.rank)
        ticket = comm->start(comm, &across);
    if (job.rank > 1)
        ticket = comm->start(comm, &within);
    comm->join(comm, ticket);
    w->device->synchronize();
    comm->release(comm, x);
    comm->destroy(comm);
    placed = job;
    ck_assert_int_eq(waited, 0);
}

/* A join waits for rank 0's collective with rank 1, which starts it late, though rank 0 has since started collectives
 * in another group: one, or more than the comm remembers. On a slow machine a wrong join may pass. */
TEST_EACH(a_join_waits_for_all_groups, 2 * ways)
{
    const double long_s = 0.5; /* time for the devices to do what does not wait */
    const int many = _i % 2 ? 4 * MOST + 5 : 1;
    const struct way *w = &way[_i / 2];
    if (!has_two_levels(w))
        return;
    struct comm *comm = create_on(&placed, 1, w, NULL);
    float x[] = {1, 0, 0}, *memory = comm->allocate(comm, sizeof x);
    struct collective within = {.group = COMM_HOST, .buffer = memory, .count = 1},
                      more = {.buffer = memory + 2, .count = 1};
    long ticket = 0;
    w->device->upload(memory, x, sizeof x);
    if (job.rank != 1)
        comm->start(comm, &within);
    for (int i = 0; i < many; i++)
        ticket = comm->start(comm, &more);
    if (job.rank != 1) { /* what rank 1 starts later comes after the joins before it */
        comm->join(comm, ticket);
        w->device->copy(memory + 1, memory, 1);
    }
    int64_t begin = clock_now_ns();
    while (!comm->complete(comm, ticket) && clock_seconds_since(begin) < long_s)
        sched_yield();
    job_barrier(&job);
    if (job.rank == 1) {
        comm->join(comm, comm->start(comm, &within));
        w->device->copy(memory + 1, memory, 1);
    }
    w->device->download(x, memory, sizeof x);
    comm->release(comm, memory);
    comm->destroy(comm);
    ck_assert_float_eq(x[1], (float)placed.local_size);
    placed = job;
}

/* Collectives of ranks that are grouped anew, twice, are exact. */
TEST_EACH(ranks_are_regrouped, ways)
{
    const struct way *w = &way[_i];
    if (w > way && w->device == w[-1].device && w->library == w[-1].library)
        return;
    struct comm *comm = create(w, NULL);
    void *memory = comm->allocate(comm, 64);
    for (int round = 0; round < 2; round++) {
        int size = 0, colour = round ? job.rank / 2 : job.rank % 2;
        for (int r = 0; r < job.size; r++) {
            placed.local_rank = r == job.rank ? size : placed.local_rank;
            size += (round ? r / 2 : r % 2) == colour;
        }
        comm->regroup(comm, colour, size);
        ck_assert_int_eq(comm->local_size, size);
        for (int kind = 0; kind < COMM_KINDS; kind++)
            check_kinds(w, comm, COMM_HOST, kind * COMM_DTYPES * COMM_OPS);
        ck_assert(w->library != COMM_NCCL || !strstr(comm->progress, " in part")); /* buffers are registered anew */
    }
    comm->release(comm, memory);
    comm->destroy(comm);
    placed = job;
}

/* A call may write at once to new memory: it is zero before. */
TEST_EACH(new_memory_is_zero_before_a_call, ways)
{
    enum { TIMES = 100 };
    const struct way *w = &way[_i];
    float x = 1, sum;
    int wrong = 0;
    struct comm *comm = create(w, NULL);
    float *in = comm->allocate(comm, sizeof x);
    w->device->upload(in, &x, sizeof x);
    w->device->synchronize();
    for (int i = 0; i < TIMES; i++) {
        struct collective c = {.in = in, .buffer = comm->allocate(comm, sizeof x), .count = 1};
        comm->call(comm, &c, 1);
        w->device->download(&sum, c.buffer, sizeof sum);
        comm->release(comm, c.buffer);
        wrong += sum != (float)job.size;
    }
    comm->release(comm, in);
    comm->destroy(comm);
    ck_assert_int_eq(wrong, 0);
}

/* Sums over all ranks in three stages are exact even if the stages are started without waiting. Each stage reads the
 * result of the stage before. The memory is reused at once. The last stage may also come after all earlier ones. */
TEST_EACH(stages_in_groups_follow_each_other, ways *PLACINGS)
{
    enum { BUCKETS = 7, COUNT = 1001, ROUNDS = 5 };
    const struct way *w = &way[_i / PLACINGS];
    placed = on_hosts(&job, _i % PLACINGS);
    struct comm *comm = create_on(&placed, 1, w, NULL);
    size_t whole = COUNT * (size_t)placed.local_size, wrong = 0, bytes = BUCKETS * whole * sizeof(float);
    float *x = kept(allocate(BUCKETS * whole, sizeof *x)), *gradient = comm->allocate(comm, bytes),
          *part = comm->allocate(comm, bytes);
    for (int round = 0; round < ROUNDS; round++) {
        long ticket = 0;
        for (size_t b = 0; b < BUCKETS; b++) {
            for (size_t i = 0; i < whole; i++)
                x[i] = value(job.rank, i + b + (size_t)round);
            w->device->upload(gradient + b * whole, x, whole * sizeof *x);
            struct collective c = {.kind = COMM_REDUCE_SCATTER,
                                   .group = COMM_HOST,
                                   .in = gradient + b * whole,
                                   .buffer = part + b * COUNT,
                                   .count = COUNT,
                                   .index = (int)b};
            ticket = comm->start(comm, &c);
            c = (struct collective){
                .group = COMM_ACROSS, .buffer = part + b * COUNT, .count = COUNT, .index = (int)b, .after = ticket};
            ticket = comm->start(comm, &c);
            c = (struct collective){.kind = COMM_ALL_GATHER,
                                    .group = COMM_HOST,
                                    .in = part + b * COUNT,
                                    .buffer = gradient + b * whole,
                                    .count = COUNT,
                                    .index = (int)b,
                                    .after_earlier = comm->on_device && round % 2,
                                    .after = comm->on_device && round % 2 ? 0 : ticket};
            ticket = comm->start(comm, &c);
        }
        comm->join(comm, ticket);
        w->device->download(x, gradient, bytes);
        for (size_t i = 0; i < BUCKETS * whole; i++)
            wrong += x[i] != sum_of_ranks(i % whole + i / whole + (size_t)round);
    }
    ck_assert_uint_eq(wrong, 0);
    comm->release(comm, gradient);
    comm->release(comm, part);
    comm->destroy(comm);
    placed = job;
}

CASE(others)

/* Repeated in place, a call sums the result of the call before, so each call multiplies by the number of ranks. */
TEST_EACH(a_call_is_repeated, ways)
{
    enum { COUNT = 1000, TIMES = 3 };
    const struct way *w = &way[_i];
    float x[COUNT];
    size_t wrong = 0;
    struct comm *comm = create(w, NULL);
    struct collective c = {.buffer = comm->allocate(comm, sizeof x), .count = COUNT};
    for (size_t i = 0; i < COUNT; i++)
        x[i] = (float)i;
    w->device->upload(c.buffer, x, sizeof x);
    w->device->synchronize();
    comm->call(comm, &c, TIMES);
    w->device->download(x, c.buffer, sizeof x);
    for (size_t i = 0; i < COUNT; i++)
        wrong += x[i] != (float)i * (float)(job.size * job.size * job.size);
    ck_assert_uint_eq(wrong, 0);
    comm->release(comm, c.buffer);
    comm->destroy(comm);
}

/* comm_create chooses the comm: on the CPU, MPI for several ranks, and for a single rank one that sends nothing. */
TEST(a_job_finds_its_comm)
{
    const struct way w = {device_cpu(1), COMM_AUTO, progresses[0]};
    struct comm_options options = {.progress = w.progress};
    struct comm *comm = comm_create(&job, w.device, NULL, MOST, &options);
    ck_assert_str_eq(comm->name, job.size > 1 ? "mpi" : "self");
    for (int i = 0; i < (job.size > 1 ? 1 : EXACT); i++) /* every_collective_is_exact tests MPI's collectives */
        check_kinds(&w, comm, COMM_ALL, i);
    comm->destroy(comm);
    options.library = COMM_NCCL;
    ck_assert_ptr_null(comm_create(&job, w.device, NULL, MOST, &options)); /* NCCL needs GPUs */
    options.library = COMM_MPI;
    comm = comm_create(&job, delayed_device(), NULL, MOST, &options);
    ck_assert_str_eq(comm->name, "mpi"); /* MPI is used even on one rank, to measure copies */
    check_has(comm->progress, "staged");
    comm->destroy(comm);
}

int main(void)
{
    if (job_begin(&job, 0, NULL, NULL))
        return 1;
    placed = job;
    find_ways();
    return suite_run_ranks(suite_of_tests("comm", NULL, NULL), &job);
}
