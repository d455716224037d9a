/* test_nominal_share.c - the median message of made-up members as a share of a nominal rate. */
#include "isolate/output.h"

#include "selfbench/members.h"
#include "tests/support/suite.h"

#include <stdio.h>

enum { N = 4, BYTES = 1 << 20 };

static struct figure_list figures;
static cJSON *summary;

/* Searches among members with `per_host` ranks a host, and adds the share of a rate. A message takes 10 ms, except
 * between the pair in `slow`. */
static void judge(const char *rate, int per_host, size_t most, struct fault slow)
{
    static const struct option option = {.name = "nominal"};
    struct nominal nominal;
    struct member member[N];
    struct members members = {.n = N, .message = MEMBERS_MESSAGE, .planted = {slow}, .faults = slow.ratio > 0};
    ck_assert_int_eq(option_nominal.parse(&option, rate, &nominal), 0);
    for (int m = 0; m < N; m++)
        member[m] = (struct member){.rank = m, .host = m / per_host};
    struct diagnosis *diagnosis = members_search(&members, 0.05, most);
    struct outcome outcome = {
        .diagnosis = diagnosis, .member = member, .members = N, .resolve = 0.05, .bytes = BYTES, .complete = 1};
    outcome_create(&outcome);
    summary = results_summary_create("isolate", "", 1, 1, "rounds");
    matrix_add_share(&outcome, &nominal, summary, &figures);
    outcome_destroy(&outcome);
    diagnosis_destroy(diagnosis);
}

static void tear_down(void)
{
    figures_destroy(&figures);
    cJSON_Delete(summary);
}

static const char *note(int i)
{
    return cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(summary, "notes"), i));
}

static double share(void)
{
    const struct figure *figure = figures_find(&figures, "all", "nominal_share", 0);
    return figure ? figure->value : 0;
}

static const struct fault none;

/* 1 MiB in 10 ms are 104.86 MB/s. With a round trip of 50 us, latency leaves t / (50 us + t), t = 1 MiB / rate. */
TEST(a_normal_share)
{
    judge("900mbit", 1, 1000, none);
    ck_assert_str_eq(note(0),
                     "Nominal rate 900mbit: 0.1125 GB/s each way; normal is 85 to 98 %; TCP with packets of 1500 "
                     "bytes usually reaches 94 %.");
    ck_assert_str_eq(note(1), "The median of 8 messages of 1 MiB, which shows if most members are equally slow: 93.2 % "
                              "of 900mbit, normal (85 to 97 %; latency leaves 99.5 %).");
    ck_assert_double_eq_tol(share(), BYTES / MEMBERS_MESSAGE / 112.5e6, 1e-4);
}

TEST(members_that_are_slow_alike)
{
    judge("1gbit", 1, 1000, none);
    ck_assert_str_eq(note(1), "The median of 8 messages of 1 MiB, which shows if most members are equally slow: 83.9 % "
                              "of 1gbit, lower than normal (84 to 97 %; latency leaves 99.4 %).");
}

/* One slow direction of eight does not change the median. */
TEST(a_slow_pair_is_not_the_median)
{
    judge("900mbit", 1, 1000, (struct fault){FAULT_PAIR, 1, 2, .ratio = 2});
    ck_assert_double_eq_tol(share(), BYTES / MEMBERS_MESSAGE / 112.5e6, 1e-4);
}

/* Ranks 0 and 1 share a host, and ranks 2 and 3, so a network joins 1 and 2, and 3 and 0. NVLink may join any ranks. */
TEST(a_network_joins_hosts)
{
    judge("900mbit", 2, 1000, none);
    check_has(note(1), "median of 4 messages ");
}

TEST(a_link_of_gpus_joins_all)
{
    judge("nvlink3", 2, 1000, none);
    check_has(note(1), "median of 8 messages ");
    check_has(note(1), "too small a message to judge the link by");
}

TEST(nothing_measured)
{
    judge("900mbit", 1, 1, none);
    ck_assert_ptr_nonnull(note(0));
    ck_assert_ptr_null(note(1));
    ck_assert_double_eq(share(), 0);
}

SUITE("isolate/nominal_share", NULL, tear_down)
