/* test_activity.c - a tracer's records: order, dropped records, what a wait waits for, kernels of operations. */
#include "kernels/activity.h"
#include "tests/support/suite.h"

#include <stdlib.h>

static struct activities all;

static void setup(void)
{
    activities_create(&all, 8, 8);
}

static void teardown(void)
{
    activities_destroy(&all);
}

static void add(enum activity_kind kind, uint32_t correlation, int64_t start_ns, int64_t end_ns)
{
    activities_add(&all, &(struct activity){.kind = kind,
                                            .correlation = correlation,
                                            .start_ns = start_ns,
                                            .end_ns = end_ns,
                                            .context = 1,
                                            .call = {.marks = kind == ACTIVITY_CALL}});
}

static void add_wait(uint32_t correlation, uint32_t context, uint32_t event)
{
    activities_add(&all, &(struct activity){.kind = ACTIVITY_WAIT,
                                            .correlation = correlation,
                                            .start_ns = 1000 + correlation,
                                            .end_ns = 1000 + correlation,
                                            .context = context,
                                            .wait = {event, ACTIVITY_NONE, ACTIVITY_NONE}});
}

static const struct activity *with(uint32_t correlation)
{
    for (size_t i = 0; i < all.n; i++)
        if (all.of[i].correlation == correlation)
            return &all.of[i];
    ck_abort_msg("no activity with correlation %u", correlation);
}

TEST(order_is_by_time)
{
    static const uint32_t want[] = {3, 2, 4, 1};
    add(ACTIVITY_KERNEL, 1, 300, 310);
    add(ACTIVITY_KERNEL, 2, 200, 300);
    add(ACTIVITY_KERNEL, 3, 100, 110);
    add(ACTIVITY_KERNEL, 4, 200, 250); /* kernel 4 starts together with kernel 2 and ends earlier */
    activities_settle(&all);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(all.of[i].correlation, want[i]);
}

TEST(records_without_room_are_counted)
{
    for (uint32_t i = 0; i < 11; i++)
        add(ACTIVITY_KERNEL, i, 10 + i, 20 + i);
    for (uint32_t i = 0; i < 10; i++)
        activities_add_mark(&all, &(struct activity_mark){i, 1, 7, 5});
    ck_assert_uint_eq(all.n, 8);
    ck_assert_uint_eq(all.marks, 8);
    ck_assert_uint_eq(all.dropped, 5);
    struct activities_mark place = {3, 2};
    activities_rewind(&all, &place);
    place = activities_mark(&all);
    ck_assert_uint_eq(place.n, 3);
    ck_assert_uint_eq(place.marks, 2);
    add(ACTIVITY_KERNEL, 99, 10, 20);
    ck_assert_uint_eq(all.n, 4);
    ck_assert_uint_eq(all.of[3].correlation, 99);
}

/* A wait is for the last recording of its event before the wait. The tracer's records may arrive in another order. */
TEST(a_wait_is_for_the_last_record_before_it)
{
    static const uint32_t recorded[] = {50, 10, 30}, waits[] = {9, 11, 29, 31, 60},
                          want[] = {ACTIVITY_NONE, 10, 10, 30, 50};
    for (size_t i = 0; i < 5; i++)
        add_wait(waits[i], 1, 5);
    for (size_t i = 0; i < 3; i++)
        activities_add_mark(&all, &(struct activity_mark){recorded[i], 1, 7 + recorded[i], 5});
    activities_add_mark(&all, &(struct activity_mark){28, 1, 99, 6}); /* a recording of another event */
    activities_add_mark(&all, &(struct activity_mark){28, 2, 99, 5}); /* a recording in another context */
    activities_settle(&all);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(with(waits[i])->wait.correlation, want[i]);
        ck_assert_uint_eq(with(waits[i])->wait.stream, want[i] == ACTIVITY_NONE ? ACTIVITY_NONE : 7 + want[i]);
    }
}

TEST(calls_know_that_they_are_waited_for)
{
    add(ACTIVITY_CALL, 10, 10, 20);
    add(ACTIVITY_CALL, 20, 30, 40);
    activities_add_mark(&all, &(struct activity_mark){10, 1, 7, 5});
    activities_add_mark(&all, &(struct activity_mark){20, 1, 7, 6});
    activities_settle(&all);
    ck_assert_int_eq(with(10)->call.waited + with(20)->call.waited, 0);
    add_wait(30, 1, 6); /* the record of a wait may arrive later */
    activities_settle(&all);
    ck_assert_int_eq(with(10)->call.waited, 0);
    ck_assert_int_eq(with(20)->call.waited, 1);
}

/* ---- attribution to operations and collectives ---- */

enum { TRAINS = 7, OTHER = 8 }; /* ids of the training thread and of another thread */
static struct timeline timeline;
static struct lane work;

static void asked(enum timeline_lane lane, int64_t queued, int64_t returned, int64_t start, int64_t end)
{
    timeline_add(
        &timeline, lane,
        (struct span){.name = "asked", .queued_ns = queued, .returned_ns = returned, .start_ns = start, .end_ns = end});
}

/* Adds a kernel and the call that launched it. */
static void launched(uint32_t thread, int64_t called, const char *name, int64_t start, int64_t end)
{
    uint32_t correlation = (uint32_t)all.n;
    activities_add(
        &all, &(struct activity){
                  .kind = ACTIVITY_KERNEL, .correlation = correlation, .name = name, .start_ns = start, .end_ns = end});
    activities_add(&all, &(struct activity){.kind = ACTIVITY_CALL,
                                            .correlation = correlation,
                                            .name = "launch",
                                            .start_ns = called,
                                            .end_ns = called + 1,
                                            .thread = thread});
}

static void attribute(void)
{
    activities_settle(&all);
    activities_attribute(&all, &timeline, &work);
}

static void check_times(enum timeline_lane lane, size_t i, int64_t start, int64_t end)
{
    const struct span *s = &timeline.lane[lane].span[i];
    ck_assert_msg(s->start_ns == start && s->end_ns == end, "span %zu of lane %d: %lld to %lld, not %lld to %lld", i,
                  (int)lane, (long long)s->start_ns, (long long)s->end_ns, (long long)start, (long long)end);
}

/* An operation lasts from the start of its first kernel to the end of its last; gaps between kernels are not work. */
TEST(operations_are_timed_by_their_kernels)
{
    size_t room[TIMELINE_LANES] = {9, 9, 9, 9};
    activities_destroy(&all);
    activities_create(&all, 99, 9);
    all.thread = TRAINS;
    timeline_create(&timeline, room);
    timeline.step = 3;
    asked(LANE_COMPUTE, 100, 120, 0, 0); /* an operation with two kernels */
    asked(LANE_COMPUTE, 130, 140, 0, 0); /* an operation without a kernel: the record was lost, or there is no work */
    asked(LANE_COMPUTE, 160, 170, 0, 0); /* an operation with one kernel */
    asked(LANE_COMMUNICATION, 140, 160, 480, 1900);
    asked(LANE_COMMUNICATION, 180, 190, 2000, 2100); /* a collective without a kernel */
    asked(LANE_HOST, 90, 135, 0, 0);                 /* a range around the first two operations */
    asked(LANE_HOST, 90, 200, 450, 1450);            /* a phase with time stamps */
    asked(LANE_HOST, 200, 210, 0, 0);                /* an empty range */
    launched(TRAINS, 100, "a", 500, 600);
    launched(TRAINS, 119, "b", 700, 800);
    launched(TRAINS, 120, "behind the first", 850, 860);
    launched(OTHER, 110, "of another thread", 10, 2000);
    launched(TRAINS, 160, "c", 1000, 1400);
    launched(OTHER, 150, "ncclDevKernel_AllReduce", 900, 1800); /* launched by a thread of NCCL */
    attribute();
    for (int again = 0; again < 2; again++) {
        check_times(LANE_COMPUTE, 0, 500, 800);
        check_times(LANE_COMPUTE, 1, 800, 800);
        check_times(LANE_COMPUTE, 2, 1000, 1400);
        check_times(LANE_COMMUNICATION, 0, 900, 1800);
        check_times(LANE_COMMUNICATION, 1, 2000, 2100);
        check_times(LANE_HOST, 0, 500, 800);
        check_times(LANE_HOST, 1, 450, 1450);
        check_times(LANE_HOST, 2, 200, 200);
        ck_assert_uint_eq(work.n, 3);
        ck_assert(work.span[0].end_ns == 600 && work.span[1].start_ns == 700 && work.span[2].step == 3);
        attribute(); /* a second call, as after more records, changes nothing */
    }
    for (size_t i = 0; i < all.n; i++) { /* a call belongs to the operation of the kernel that it launched */
        const struct activity *a = &all.of[i];
        int operation = a->correlation == 0 || a->correlation == 2 ? 0 : a->correlation == 8 ? 2 : -1;
        ck_assert_int_eq(a->operation, operation);
        ck_assert_int_eq(a->collective, a->correlation == 10 ? 0 : -1);
    }
    timeline_destroy(&timeline);
    free(work.span);
}

SUITE("activity", setup, teardown)
