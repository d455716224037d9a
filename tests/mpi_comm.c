/* mpi_comm.c - MPI's comm and the control plane, on 1 to 4 ranks: sums, types, pieces, many in flight, agreement. */
#include "comm.h"
#include "device.h"
#include "error.h"
#include "job.h"
#include "losses.h"
#include "payload.h"
#include "suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct job job;

enum { MOST = 64 };

static const struct comm_progress progresses[] = {{PROGRESS_AUTO, 0}, {PROGRESS_POLL, 0}, {PROGRESS_SLEEP, 100}};

/* Small whole numbers, whose sum is exact in any order and also in bfloat16. */
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

/* Element i of a buffer becomes x, or is compared with it. */
static void put(void *buffer, size_t i, enum comm_dtype dtype, float x)
{
    if (dtype == COMM_BF16)
        ((uint16_t *)buffer)[i] = bf16(x);
    else
        ((float *)buffer)[i] = x;
}

static int is(const void *buffer, size_t i, enum comm_dtype dtype, float x)
{
    return dtype == COMM_BF16 ? ((const uint16_t *)buffer)[i] == bf16(x) : ((const float *)buffer)[i] == x;
}

/* Starts collectives of these sizes at once, joins them, and compares every element and the guards. */
static void check_sums(struct comm *comm, const size_t *count, int n, enum comm_dtype dtype)
{
    size_t element = comm_dtype_bytes(dtype);
    void *buffer[MOST];
    long ticket = 0;
    for (int c = 0; c < n; c++) {
        buffer[c] = allocate(count[c] + 1, element);
        for (size_t i = 0; i < count[c]; i++)
            put(buffer[c], i, dtype, value(job.rank, i));
        put(buffer[c], count[c], dtype, 42);
        struct collective collective = {.buffer = buffer[c], .count = count[c], .dtype = dtype, .index = c};
        ticket = comm->start(comm, &collective);
    }
    comm->join(comm, ticket);
    for (int c = 0; c < n; c++) {
        size_t wrong = 0; /* counted, since a check of its own for each element would take longer than the reduction */
        for (size_t i = 0; i < count[c]; i++)
            wrong += !is(buffer[c], i, dtype, sum_of_ranks(i));
        ck_assert_uint_eq(wrong, 0);
        ck_assert(is(buffer[c], count[c], dtype, 42)); /* the guard behind it */
        free(buffer[c]);
    }
}

START_TEST(sums_are_right)
{
    static const size_t count[] = {1, 2, 3, 7, 1000, 65537, 0, 300001};
    int n = sizeof count / sizeof *count;
    struct timeline timeline;
    size_t spans[TIMELINE_LANES] = {1, 1000};
    timeline_create(&timeline, spans);
    struct comm *comm =
        comm_mpi_create(&job, device_cpu(1), &timeline, MOST, &(struct comm_options){.progress = progresses[_i]});
    for (int round = 0; round < 3; round++) {
        check_sums(comm, count, n, COMM_FLOAT32);
        check_sums(comm, count, n, COMM_BF16);
        job_barrier(&job); /* the control plane works between collectives */
    }
    ck_assert_uint_eq(timeline.lane[LANE_COMMUNICATION].n, 6 * (size_t)n);
    comm->destroy(comm);
    timeline_destroy(&timeline);
}
END_TEST

START_TEST(a_large_collective_goes_in_pieces)
{
    static const size_t count[] = {1, 99, 100, 101, 12345, 200};
    struct timeline timeline;
    size_t spans[TIMELINE_LANES] = {1, 100};
    timeline_create(&timeline, spans);
    struct comm *comm = comm_mpi_create_pieces(&job, device_cpu(1), &timeline, MOST,
                                               &(struct comm_options){.progress = progresses[0]}, 100);
    check_sums(comm, count, sizeof count / sizeof *count, COMM_FLOAT32);
    check_sums(comm, count, sizeof count / sizeof *count, COMM_BF16);
    comm->destroy(comm);
    timeline_destroy(&timeline);
}
END_TEST

START_TEST(many_may_be_in_flight)
{
    size_t count[MOST];
    for (size_t i = 0; i < MOST; i++)
        count[i] = 1 + i * 37 % 500;
    struct timeline timeline;
    size_t spans[TIMELINE_LANES] = {1, 10000};
    timeline_create(&timeline, spans);
    struct comm *comm =
        comm_mpi_create(&job, device_cpu(1), &timeline, MOST, &(struct comm_options){.progress = progresses[_i]});
    for (int round = 0; round < 20; round++)
        check_sums(comm, count, MOST, COMM_FLOAT32);
    comm->destroy(comm);
    timeline_destroy(&timeline);
}
END_TEST

START_TEST(progress_is_recorded)
{
    struct timeline timeline;
    size_t spans[TIMELINE_LANES] = {1, 1};
    timeline_create(&timeline, spans);
    struct comm *comm = comm_mpi_create(
        &job, device_cpu(1), &timeline, 1,
        &(struct comm_options){.progress = (struct comm_progress){PROGRESS_AUTO, 0}, .core_to_spare = 0});
    ck_assert_str_eq(comm->progress, "sleep:500");
    comm->destroy(comm);
    comm = comm_mpi_create(
        &job, device_cpu(1), &timeline, 1,
        &(struct comm_options){.progress = (struct comm_progress){PROGRESS_AUTO, 0}, .core_to_spare = 1});
    ck_assert_str_eq(comm->progress, "poll");
    comm->destroy(comm);
    comm = comm_mpi_create(
        &job, device_cpu(1), &timeline, 1,
        &(struct comm_options){.progress = (struct comm_progress){PROGRESS_SLEEP, 70}, .core_to_spare = 1});
    ck_assert_str_eq(comm->progress, "sleep:70");
    comm->destroy(comm);
    timeline_destroy(&timeline);
}
END_TEST

START_TEST(the_job_knows_its_ranks)
{
    int *rank = allocate((size_t)job.size, sizeof *rank);
    job_gather(&job, &job.rank, sizeof job.rank, rank);
    for (int r = 0; r < job.size; r++)
        ck_assert_int_eq(rank[r], r);
    free(rank);
    struct job *all = allocate((size_t)job.size, sizeof *all);
    job_gather(&job, &job, sizeof job, all);
    int neighbours = 0, before = 0, last_host = 0, on_machine = 0;
    for (int r = 0; r < job.size; r++) {
        neighbours += all[r].host == job.host;
        before += r < job.rank && all[r].host == job.host;
        on_machine += all[r].machine == job.machine;
        last_host = all[r].host > last_host ? all[r].host : last_host;
    }
    free(all);
    ck_assert_int_eq(job.hosts, last_host + 1);
    ck_assert_int_eq(job.local_size, neighbours);
    ck_assert_int_eq(job.local_rank, before);
    ck_assert_double_eq(job_max(&job, job.rank), job.size - 1);
    ck_assert_int_eq(job.machine_size, on_machine);
    ck_assert_double_eq(job_sum_machine(&job, 1), on_machine);
    ck_assert_int_ge(job.machine_size, job.local_size); /* a host is on one machine */
}
END_TEST

START_TEST(one_failure_is_everybodys)
{
    ck_assert_int_eq(job_agree(&job, 0), 0);
    int status = job.rank == job.size - 1 ? report("a made-up failure, to be printed once") : 0;
    ck_assert_int_eq(job_agree(&job, status), -1);
    ck_assert_str_eq(report_text(), "");
    ck_assert_int_eq(job_agree(&job, 0), 0);
}
END_TEST

/* Losses of strategies that must agree: equal, a little apart, wrong, and not a number in one alone. */
START_TEST(losses_are_compared)
{
    double mine[] = {3 + job.rank, 2, 1, 1}; /* the first differs between ranks, which is fine */
    double mean = 3 + (job.size - 1) / 2.0;
    struct losses l;
    losses_create(&l, 4, 1, job.size);
    losses_add(&l, &job, mine, 1);
    ck_assert_double_eq_tol(l.mean[0], mean, 1e-12);
    ck_assert_double_nan(l.difference); /* nothing to compare with yet */
    losses_add(&l, &job, mine, 1);
    ck_assert_double_eq(l.difference, 0);
    mine[1] = 4;
    losses_add(&l, &job, mine, 0); /* `none` may differ */
    ck_assert_double_eq(l.difference, 0);
    mine[1] = 2;
    mine[3] = 1.5; /* late: rounding may have grown */
    losses_add(&l, &job, mine, 1);
    ck_assert_double_eq(l.difference, 0.5);
    ck_assert(!losses_are_wrong(&l));
    mine[1] = 2.01;
    mine[3] = 1;
    losses_add(&l, &job, mine, 1);
    ck_assert_double_eq(l.difference, 0.5); /* the largest so far */
    ck_assert(losses_are_wrong(&l));
    losses_destroy(&l);

    losses_create(&l, 4, 1, job.size);
    mine[1] = mine[3] = 1;
    losses_add(&l, &job, mine, 1);
    mine[1] = job.rank == job.size - 1 ? NAN : 1;
    losses_add(&l, &job, mine, 1);
    mine[1] = 1;
    losses_add(&l, &job, mine, 1); /* and it is not forgotten */
    ck_assert(l.not_a_number && losses_are_wrong(&l));
    losses_destroy(&l);
}
END_TEST

/* Every collective, type, operation, in place and not, by tickets and by the library's own call; odd counts. */
START_TEST(every_collective_is_exact)
{
    static const size_t counts[] = {1, 5, 1000, 20011};
    struct timeline timeline;
    size_t spans[TIMELINE_LANES] = {1, 1000};
    timeline_create(&timeline, spans);
    struct comm *comm =
        comm_create(&job, device_cpu(1), &timeline, MOST, &(struct comm_options){.progress = progresses[0]});
    struct collective c = {.kind = (enum comm_kind)(_i / (COMM_DTYPES * COMM_OPS)),
                           .dtype = (enum comm_dtype)(_i % COMM_DTYPES),
                           .op = (enum comm_op)(_i / COMM_DTYPES % COMM_OPS),
                           .root = job.size - 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int in_place = c.kind == COMM_BROADCAST; in_place < 2; in_place++)
            for (int blocking = 0; blocking < 2; blocking++) {
                c.count = counts[i];
                size_t most = c.count * (size_t)job.size, size = comm_dtype_bytes(c.dtype);
                void *in = allocate(most, size);
                c.in = in_place ? NULL : in;
                c.buffer = allocate(most + 1, size);
                memset((char *)c.buffer + most * size, 0x5a, size);
                struct payload payload = {c, job.rank, job.size, comm->rounds_average, (unsigned)blocking};
                payload_fill(&payload, in_place ? NULL : in, c.buffer);
                if (blocking)
                    comm->call(comm, &c);
                else
                    comm->join(comm, comm->start(comm, &c));
                ck_assert_uint_eq(payload_wrong(&payload, comm_result(comm, &c)), 0);
                for (size_t b = 0; b < size; b++) /* the guard behind it */
                    ck_assert_int_eq(((char *)c.buffer)[most * size + b], 0x5a);
                free(in);
                free(c.buffer);
            }
    comm->destroy(comm);
    timeline_destroy(&timeline);
}
END_TEST

int main(void)
{
    if (job_begin(&job))
        return 1;
    Suite *suite = suite_create("comm");
    TCase *tests = tcase_create("comm");
    int n = sizeof progresses / sizeof *progresses;
    tcase_add_loop_test(tests, sums_are_right, 0, n);
    tcase_add_test(tests, a_large_collective_goes_in_pieces);
    tcase_add_loop_test(tests, every_collective_is_exact, 0, COMM_KINDS * COMM_DTYPES * COMM_OPS);
    tcase_add_loop_test(tests, many_may_be_in_flight, 0, n);
    tcase_add_test(tests, progress_is_recorded);
    tcase_add_test(tests, the_job_knows_its_ranks);
    tcase_add_test(tests, one_failure_is_everybodys);
    tcase_add_test(tests, losses_are_compared);
    suite_add_tcase(suite, tests);
    return suite_run_ranks(suite, &job);
}
