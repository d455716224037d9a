/* test_diagnosis.c - faults found among made-up members with planted faults, and the course of the search.
 *
 * Simulations have fixed seeds, and a tenth of their repetitions unless TEST_LONG is set. */
#include "isolate/diagnosis.h"

#include "ddp/links.h"
#include "kernels/error.h"
#include "selfbench/members.h"
#include "tests/support/noise.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ROUNDS = 4000 };

static struct diagnosis *diagnosis;
static struct fault *fault;
static size_t faults;
static struct member_times times[8];
static const int *partner;

static void set_up(void)
{
    diagnosis = diagnosis_create(8, 0.05);
}

static void tear_down(void)
{
    diagnosis_destroy(diagnosis);
    free(fault);
    diagnosis = NULL;
    fault = NULL;
}

/* Makes n members with up to 2 planted faults; ratio 0 means no fault. */
static struct members make_members(int n, double noise, struct fault first, struct fault second)
{
    struct members members = {.n = n, .noise = noise, .message = MEMBERS_MESSAGE, .planted = {first, second}};
    members.faults = (first.ratio > 0) + (second.ratio > 0);
    return members;
}

static struct fault planted(enum fault_kind kind, int member, int other, double ratio)
{
    return (struct fault){.kind = kind, .member = member, .other = other, .ratio = ratio};
}

/* Searches, and finds the faults. */
static void search(struct members *members, double resolve)
{
    tear_down();
    diagnosis = members_search(members, resolve, MOST_ROUNDS);
    fault = diagnosis_faults(diagnosis, &faults);
}

static void assert_found(const struct members *members)
{
    char words[1000] = "";
    int at = 0;
    for (size_t i = 0; i < faults && at < 900; i++)
        at += snprintf(words + at, sizeof words - (size_t)at, " %d %s %d", fault[i].member, fault_name[fault[i].kind],
                       fault[i].other);
    ck_assert_msg(members_found(members, fault, faults), "%d members, %s of %d planted; found:%s", members->n,
                  fault_name[members->planted[0].kind], members->planted[0].member, words);
}

/* Returns a ratio for which a fault is clearly slow, and for which a delay does not make messages slow. */
static double clear_ratio(enum fault_kind kind)
{
    return kind == FAULT_ROUND_TRIP || kind == FAULT_PAIR_ROUND_TRIP ? 3 : 1.2;
}

/* Without noise, a fault of kind _i is found with its ratio at every member, and nothing else is found. */
TEST_EACH(every_kind_is_found_at_every_member, FAULT_GROUP)
{
    enum fault_kind kind = (enum fault_kind)_i;
    for (int n = DIAGNOSIS_LEAST; n <= 9; n++)
        for (int m = 0; m < n; m++) {
            int other = kind == FAULT_PAIR || kind == FAULT_PAIR_ROUND_TRIP ? (m + 1) % n : -1;
            int low = kind == FAULT_PAIR_ROUND_TRIP && other < m ? other : m;
            struct members members =
                make_members(n, 0, planted(kind, low, low == m ? other : m, clear_ratio(kind)), (struct fault){0});
            search(&members, 0.05);
            assert_found(&members);
            ck_assert_double_eq_tol(fault[0].ratio, clear_ratio(kind), 1e-3);
            ck_assert_double_eq_tol(fault[0].low, clear_ratio(kind), 1e-3);
            for (int i = 0; i < n; i++)
                ck_assert_int_eq(diagnosis_member(diagnosis, fault, faults, i),
                                 i == low || i == fault[0].other ? MEMBER_SLOW : MEMBER_HEALTHY);
            ck_assert_uint_eq(diagnosis_progress(diagnosis).undecided, 0);
        }
}

TEST(healthy_members_have_no_faults)
{
    for (int n = DIAGNOSIS_LEAST; n <= 9; n++) {
        struct members members = make_members(n, 0, (struct fault){0}, (struct fault){0});
        search(&members, 0.05);
        assert_found(&members);
        ck_assert_int_eq(diagnosis_progress(diagnosis).pairings, links_ring_rounds(n));
    }
}

/* Both neighbours of a member that receives slowly send a slow message, but are not at fault. If one of two neighbours
 * sends slowly and the other receives slowly, far partners tell the two apart. */
TEST(two_faults_of_neighbours_are_told_apart)
{
    for (int n = 6; n <= 12; n++) {
        struct members members =
            make_members(n, 0, planted(FAULT_SENDS, 2, -1, 1.2), planted(FAULT_RECEIVES, 3, -1, 1.3));
        search(&members, 0.05);
        assert_found(&members);
        ck_assert_double_eq_tol(fault[0].ratio, 1.2, 1e-3);
        ck_assert_double_eq_tol(fault[0].high, 1.2, 1e-3); /* not affected by the messages between the two */
        ck_assert_double_eq_tol(fault[1].ratio, 1.3, 1e-3);
        ck_assert_double_eq_tol(fault[1].high, 1.3, 1e-3);
        ck_assert_int_gt(diagnosis_progress(diagnosis).pairings, diagnosis_progress(diagnosis).ring);
    }
}

/* A delay of 150 us makes short messages 15 % longer, which does not count as another fault. A slow sender that also
 * has slow round trips has two faults. */
TEST(delay_is_not_a_slow_sender)
{
    for (int n = DIAGNOSIS_LEAST; n <= 9; n++) {
        struct members members = make_members(n, 0, planted(FAULT_ROUND_TRIP, 1, -1, 4), (struct fault){0});
        members.message = 1e-3;
        search(&members, 0.05);
        assert_found(&members);
        members.faults = 2;
        members.planted[1] = planted(FAULT_SENDS, 1, -1, 1.5);
        search(&members, 0.05);
        assert_found(&members);
    }
}

TEST(two_slow_pairs_of_a_member_are_not_a_slow_member)
{
    for (int n = 6; n <= 12; n++) {
        struct members members = make_members(n, 0, planted(FAULT_PAIR, 2, 1, 1.2), planted(FAULT_PAIR, 2, 3, 1.2));
        search(&members, 0.05);
        assert_found(&members);
    }
}

/* Searches among 8 members. Member 2 measures its messages only to members `first` and `second`. */
static void search_without_far_messages(struct members *members, int first, int second)
{
    while ((partner = diagnosis_next(diagnosis, 0))) {
        members_measure(members, partner, times);
        if (partner[2] != first && partner[2] != second)
            times[2].send = NAN;
        diagnosis_add(diagnosis, times);
    }
    fault = diagnosis_faults(diagnosis, &faults);
}

/* All known messages of member 2 are slow, but the slow receivers on both sides explain these messages. */
TEST(member_with_most_slow_messages_is_taken_first)
{
    struct members members =
        make_members(8, 0, planted(FAULT_RECEIVES, 1, -1, 1.2), planted(FAULT_RECEIVES, 3, -1, 1.2));
    search_without_far_messages(&members, 1, 3);
    assert_found(&members);
}

TEST(one_slow_message_is_the_fault_of_the_pair)
{
    struct members members = make_members(8, 0, planted(FAULT_PAIR, 2, 3, 1.2), (struct fault){0});
    search_without_far_messages(&members, 3, 3);
    assert_found(&members);
}

TEST(round_trips_may_differ_by_the_way)
{
    struct members members = make_members(8, 0, planted(FAULT_ROUND_TRIP, 2, -1, 1.2), (struct fault){0});
    search(&members, 0.05);
    ck_assert_uint_eq(faults, 0);
}

/* The three suspects (the slow member and its neighbours) each meet two new partners. Each pair has 3 series. */
TEST(only_pairs_with_a_suspect_are_judged_after_the_ring)
{
    struct members members = make_members(16, 0, planted(FAULT_SENDS, 2, -1, 1.2), (struct fault){0});
    search(&members, 0.05);
    ck_assert_int_eq(diagnosis_progress(diagnosis).pairings, 4);
    ck_assert_uint_eq(diagnosis_progress(diagnosis).series, 5 * 16 + 2 * 3 * 3);
}

/* Pairs of the second round have a longer way, as if hosts shared switches in pairs. Member 3 is disturbed whenever it
 * times round trips, but its partners time the same round trips without this. */
TEST(rounds_may_differ)
{
    while ((partner = diagnosis_next(diagnosis, 0))) {
        float far = partner[0] == 1 ? 1 : 2;
        for (int m = 0; m < 8; m++)
            times[m] = (struct member_times){far, m == 3 ? 5 * far : far, 1, 1};
        diagnosis_add(diagnosis, times);
    }
    fault = diagnosis_faults(diagnosis, &faults);
    ck_assert_uint_eq(faults, 0);
}

TEST(what_is_not_measured_is_not_judged)
{
    while ((partner = diagnosis_next(diagnosis, 0))) {
        for (int m = 0; m < 8; m++)
            times[m] = (struct member_times){partner[m] >= 0 ? 1 : NAN, partner[m] >= 0 ? 1 : NAN, NAN, NAN};
        diagnosis_add(diagnosis, times);
    }
    ck_assert_uint_eq(diagnosis_progress(diagnosis).undecided, 0);
    ck_assert_uint_eq(diagnosis_typical(diagnosis, FAULT_COMPUTES, 0, -1).n, 0);
    ck_assert_uint_eq(diagnosis_typical(diagnosis, FAULT_SENDS, 0, 2).n, 0); /* never paired */
    ck_assert_double_nan(diagnosis_typical(diagnosis, FAULT_SENDS, 0, 2).ratio);
    ck_assert_double_eq_tol(diagnosis_typical(diagnosis, FAULT_SENDS, 0, 1).seconds, 1, 1e-6);
}

TEST(typical_times_of_a_member)
{
    struct members members = make_members(6, 0, planted(FAULT_RECEIVES, 2, -1, 1.5), (struct fault){0});
    search(&members, 0.05);
    struct fault receives = diagnosis_typical(diagnosis, FAULT_RECEIVES, 2, -1);
    ck_assert_double_eq_tol(receives.ratio, 1.5, 1e-3);
    ck_assert_double_eq_tol(receives.seconds, 1.5 * MEMBERS_MESSAGE, 1e-5);
    ck_assert_double_eq_tol(diagnosis_typical(diagnosis, FAULT_SENDS, 1, 2).ratio, 1.5, 1e-3);
    ck_assert_double_eq_tol(diagnosis_typical(diagnosis, FAULT_RECEIVES, 2, 1).ratio, 1.5, 1e-3);
    ck_assert_double_eq_tol(diagnosis_typical(diagnosis, FAULT_SENDS, 2, 1).ratio, 1, 1e-3);
    ck_assert_double_eq_tol(diagnosis_typical(diagnosis, FAULT_ROUND_TRIP, 2, 1).seconds, MEMBERS_ROUND_TRIP, 1e-8);
    ck_assert_double_eq_tol(diagnosis_typical(diagnosis, FAULT_COPIES, 2, -1).seconds, MEMBERS_COPY, 1e-6);
}

/* One repetition is too few to decide anything. When time is short, suspects are paired before the ring is decided. */
TEST(few_rounds_leave_members_undecided)
{
    struct members members = make_members(8, 0, planted(FAULT_SENDS, 3, -1, 1.2), (struct fault){0});
    for (int round = 0; round < 2; round++) {
        members_measure(&members, diagnosis_next(diagnosis, 1), times);
        diagnosis_add(diagnosis, times);
    }
    ck_assert_int_eq(diagnosis_member(diagnosis, NULL, 0, 3), MEMBER_UNDECIDED);
    ck_assert_uint_eq(diagnosis_progress(diagnosis).undecided, 8 * 5);
    ck_assert_ptr_nonnull(diagnosis_next(diagnosis, 1));
}

TEST(suspects_are_paired_when_time_is_short)
{
    struct members members = make_members(8, 0, planted(FAULT_SENDS, 3, -1, 1.2), (struct fault){0});
    for (int round = 0; round < 200; round++) {
        partner = diagnosis_next(diagnosis, round >= 100);
        members_measure(&members, partner, times);
        times[6].product = round / 2 % 2 ? 1.0f : 1e-3f; /* can never be decided */
        diagnosis_add(diagnosis, times);
        ck_assert_int_eq(diagnosis_progress(diagnosis).pairings > 2, round >= 100);
    }
    ck_assert_int_eq(diagnosis_member(diagnosis, NULL, 0, 6), MEMBER_UNDECIDED);
    ck_assert_int_eq(diagnosis_partner(diagnosis, 2, diagnosis_partner(diagnosis, 2, 3)), 3);
}

/* The ring is decided even if a series of suspects is never decided. */
TEST(ring_takes_turns_with_suspects)
{
    struct members members = make_members(8, 0, planted(FAULT_SENDS, 3, -1, 1.2), (struct fault){0});
    for (int round = 0; round < 600 && (partner = diagnosis_next(diagnosis, round >= 100)); round++) {
        members_measure(&members, partner, times);
        if (partner[0] != 1 && partner[0] != 7)
            times[3].send = round % 2 ? 1.0f : 1e-3f;
        else if (round < 150)
            times[6].product = round / 2 % 2 ? 1.0f : 1e-3f;
        diagnosis_add(diagnosis, times);
    }
    ck_assert_int_eq(diagnosis_member(diagnosis, NULL, 0, 3), MEMBER_UNDECIDED);
    ck_assert_int_eq(diagnosis_member(diagnosis, NULL, 0, 6), MEMBER_HEALTHY);
}

/* Member 3's messages to member 2 are slow. Its messages to others vary for 200 rounds, so that it is open whether
 * member 3 itself is slow. If _i is 1, its messages to member 4 are healthy, so that it is not slow. */
TEST_EACH(slow_message_is_open_while_others_are_undecided, 2)
{
    struct members members = make_members(8, 0, planted(FAULT_PAIR, 3, 2, 1.2), (struct fault){0});
    for (int round = 0; round < 1200 && (partner = diagnosis_next(diagnosis, 0)); round++) {
        members_measure(&members, partner, times);
        if (partner[3] != 2 && !(_i && partner[3] == 4) && round < 200)
            times[3].send *= round / 2 % 2 ? 1.3f : 0.9f;
        diagnosis_add(diagnosis, times);
        if (round == 199)
            fault = diagnosis_faults(diagnosis, &faults);
    }
    ck_assert_uint_eq(faults, 1);
    ck_assert_int_eq(fault->open, !_i);
    ck_assert_int_eq(diagnosis_member(diagnosis, fault, 1, 2), _i ? MEMBER_SLOW : MEMBER_UNDECIDED);
    free(fault);
    fault = diagnosis_faults(diagnosis, &faults);
    assert_found(&members);
    ck_assert_int_eq(fault->open, 0);
    ck_assert_int_eq(diagnosis_member(diagnosis, fault, 1, 2), MEMBER_SLOW);
}

/* ---- noise ---- */

/* Searches with the faults of a scenario at random members. Returns whether the planted faults were found. */
static int finds(int scenario, int n, uint64_t seed, double noise)
{
    struct members members = make_members(n, noise, (struct fault){0}, (struct fault){0});
    members.seed = seed;
    members.drift = 0.1;
    members.outlier_every = 100;
    members_plant(&members, (enum members_scenario)scenario, 1.11);
    search(&members, 0.05);
    return members_found(&members, fault, faults);
}

static const int sizes[] = {4, 8, 16};

/* Scenario _i has 5 % of noise, drift that all share, and outliers. At least 95 % of searches find faults of 11 %, and
 * at most 5 % raise a false alarm if there is no fault. */
TEST_EACH(faults_are_found_in_noise, MEMBERS_SCENARIOS)
{
    int repetitions = noise_repetitions(20), right = 0, runs = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int seed = 0; seed < repetitions; seed++, runs++)
            right += finds(_i, sizes[i], 1000 * (uint64_t)_i + (uint64_t)seed, 0.05);
    ck_assert_msg(right >= 0.95 * runs, "%s: %d of %d", members_scenario_name[_i], right, runs);
}

TEST(no_false_alarms_in_much_noise)
{
    int repetitions = noise_repetitions(100), right = 0;
    for (int seed = 0; seed < repetitions; seed++)
        right += finds(MEMBERS_NO_FAULT, 4 + seed % 5, (uint64_t)seed, 0.15);
    ck_assert_msg(right >= 0.95 * repetitions, "%d of %d", right, repetitions);
}

SUITE("diagnosis", set_up, tear_down)
