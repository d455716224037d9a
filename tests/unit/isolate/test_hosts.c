/* test_hosts.c - which hosts are left out, from made-up faults of members that are otherwise healthy. */
#include "isolate/output.h"

#include "kernels/error.h"
#include "selfbench/members.h"
#include "tests/support/suite.h"

enum { N = 8, MOST = 3 };

#define FAULT(kind, member, other)                                                                                     \
    {                                                                                                                  \
        FAULT_##kind, member, other, .ratio = 2                                                                        \
    }

/* Members 2 i and 2 i + 1 are ranks of host i if per_host is 2. left_out has a digit for each host. */
static const struct {
    struct fault fault[MOST];
    size_t faults;
    int per_host;
    const char *left_out;
} known[] = {
    {{FAULT(SENDS, 3, -1)}, 1, 1, "00010000"},
    {{FAULT(COPIES, 3, -1)}, 1, 2, "0100"},
    {{FAULT(PAIR, 3, 4)}, 1, 1, "00001000"},
    {{FAULT(PAIR, 4, 3)}, 1, 1, "00010000"},
    /* both directions, and the round trips, are one pair */
    {{FAULT(PAIR, 3, 4), FAULT(PAIR, 4, 3), FAULT(PAIR_ROUND_TRIP, 3, 4)}, 3, 1, "00001000"},
    /* 3 is in both pairs, as the first or as the second */
    {{FAULT(PAIR, 3, 4), FAULT(PAIR, 3, 5)}, 2, 1, "00010000"},
    {{FAULT(PAIR, 2, 3), FAULT(PAIR, 3, 4)}, 2, 1, "00010000"},
    {{FAULT(PAIR, 3, 4), FAULT(PAIR, 4, 5)}, 2, 1, "00001000"},
    /* a host that is left out anyway is enough, even if its fault comes last */
    {{FAULT(PAIR, 3, 4), FAULT(COMPUTES, 3, -1)}, 2, 1, "00010000"},
    {{FAULT(PAIR, 3, 4), FAULT(COMPUTES, 4, -1)}, 2, 1, "00001000"},
    /* pairs without a common host */
    {{FAULT(PAIR, 0, 1), FAULT(PAIR_ROUND_TRIP, 5, 6)}, 2, 1, "01000010"},
    /* an open fault leaves out no host */
    {{{FAULT_PAIR, 3, 4, .open = 1, .ratio = 2}}, 1, 1, "00000000"},
    /* a pair within a host */
    {{FAULT(PAIR, 2, 3)}, 1, 2, "0100"},
    {{FAULT(PAIR, 1, 2)}, 1, 2, "0100"},
};

/* Fills an outcome with these faults; the search ended after `most` rounds. */
static struct diagnosis *make(struct outcome *o, struct member member[N], size_t i, size_t most)
{
    struct members members = {.n = N, .message = MEMBERS_MESSAGE};
    struct diagnosis *diagnosis = members_search(&members, 0.05, most);
    for (int m = 0; m < N; m++)
        member[m] = (struct member){.rank = m, .host = m / known[i].per_host};
    *o = (struct outcome){.diagnosis = diagnosis, .member = member, .members = N, .faults = known[i].faults};
    o->fault = kept(allocate(MOST, sizeof *o->fault));
    for (size_t k = 0; k < o->faults; k++)
        o->fault[k] = known[i].fault[k];
    return diagnosis;
}

TEST_EACH(hosts_are_left_out, sizeof known / sizeof *known)
{
    for (size_t most = 1; most <= 1000; most += 999) { /* after one round all members are equally undecided */
        struct outcome o;
        struct member member[N];
        struct diagnosis *diagnosis = make(&o, member, (size_t)_i, most);
        const char *left_out = kept(hosts_leave_out(&o));
        for (int host = 0; host < N; host++)
            ck_assert_msg(left_out[host] == (host < N / known[_i].per_host ? known[_i].left_out[host] - '0' : 0),
                          "row %d, %zu rounds: host %d is %d", _i, most, host, left_out[host]);
        diagnosis_destroy(diagnosis);
    }
}

/* Host 0 has members 0 to 2, every other host has one. The host of a pair with more undecided members is left out. */
TEST(undecided_members_count)
{
    for (size_t most = 1; most <= 1000; most += 999) {
        struct outcome o;
        struct member member[N];
        struct diagnosis *diagnosis = make(&o, member, 2, most);
        for (int m = 0; m < N; m++)
            member[m].host = m < 3 ? 0 : m - 2;
        o.fault[0].member = 2;
        o.fault[0].other = 3;
        const char *left_out = kept(hosts_leave_out(&o));
        ck_assert_int_eq(left_out[0], most == 1);
        ck_assert_int_eq(left_out[1], most != 1);
        diagnosis_destroy(diagnosis);
    }
}

SUITE("isolate/hosts", NULL, NULL)
