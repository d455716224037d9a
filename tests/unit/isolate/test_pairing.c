/* test_pairing.c - each member meets two partners in the ring; suspects meet new partners that are not suspected. */
#include "isolate/search.h"

#include "ddp/links.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };

static void assert_is_pairing(const int *partner, int members)
{
    for (int m = 0; m < members; m++) {
        ck_assert_int_ge(partner[m], -1);
        ck_assert_int_lt(partner[m], members);
        ck_assert_int_ne(partner[m], m);
        if (partner[m] >= 0)
            ck_assert_int_eq(partner[partner[m]], m);
    }
}

/* Writes the rounds of the ring; returns their number. */
static int make_ring(int members, int partner[][MOST], int **earlier)
{
    for (int round = 0; round < links_ring_rounds(members); round++) {
        for (int m = 0; m < members; m++)
            partner[round][m] = links_ring_partner(members, round, m);
        earlier[round] = partner[round];
    }
    return links_ring_rounds(members);
}

/* Returns in how many rounds a and b are paired. */
static int meetings(int *const *partner, int rounds, int a, int b)
{
    int n = 0;
    for (int round = 0; round < rounds; round++)
        n += partner[round][a] == b;
    return n;
}

TEST(neighbours_meet_in_the_ring_and_no_others)
{
    for (int members = DIAGNOSIS_LEAST; members <= MOST; members++) {
        int partner[3][MOST], *rounds[3], n = make_ring(members, partner, rounds);
        ck_assert_int_eq(n, members % 2 ? 3 : 2);
        for (int round = 0; round < n; round++)
            assert_is_pairing(partner[round], members);
        for (int a = 0; a < members; a++)
            for (int b = 0; b < members; b++) {
                int are_neighbours = (a + 1) % members == b || (b + 1) % members == a;
                ck_assert_int_eq(meetings(rounds, n, a, b) > 0, are_neighbours);
            }
    }
}

TEST(third_round_keeps_the_network_as_busy)
{
    for (int members = 5; members <= MOST; members += 2) {
        int partner[3][MOST], *rounds[3], rest = 0;
        make_ring(members, partner, rounds);
        for (int m = 0; m < members; m++)
            rest += partner[2][m] < 0;
        ck_assert_int_eq(rest, 1);
    }
}

TEST(suspects_meet_new_members_far_away)
{
    for (int members = 8; members <= MOST; members++) {
        int partner[4][MOST], *rounds[4], n = make_ring(members, partner, rounds);
        char suspect[MOST] = {0};
        suspect[1] = suspect[2] = 1;
        for (int next = n; next < n + 1; next++) {
            ck_assert_int_eq(pairing_suspects(members, suspect, rounds, next, partner[next]), 2);
            assert_is_pairing(partner[next], members);
            for (int s = 1; s <= 2; s++) {
                int p = partner[next][s], apart = abs(p - s);
                ck_assert_int_eq(suspect[p], 0);
                ck_assert_int_eq(meetings(rounds, next, s, p), 0);
                ck_assert_int_ge(apart < members - apart ? apart : members - apart, members / 2 - 1);
            }
            int rest = 0;
            for (int m = 0; m < members; m++)
                rest += partner[next][m] < 0;
            ck_assert_int_eq(rest, members % 2);
        }
    }
}

TEST(no_pair_of_suspects_meets_twice_until_all_have_met)
{
    int partner[MOST][MOST], *rounds[MOST], members = 8, n = make_ring(members, partner, rounds);
    char suspect[MOST];
    memset(suspect, 1, sizeof suspect);
    suspect[5] = 0;
    for (int paired; (paired = pairing_suspects(members, suspect, rounds, n, partner[n])) > 0;) {
        int new = 0;
        rounds[n] = partner[n];
        for (int m = 0; m < members; m++)
            new += suspect[m] && partner[n][m] >= 0 && !meetings(rounds, n, m, partner[n][m]);
        ck_assert_int_eq(paired, new);
        ck_assert_int_lt(++n, MOST);
    }
    for (int a = 0; a < members; a++)
        for (int b = 0; b < members; b++)
            ck_assert_int_eq(meetings(rounds, n, a, b) > 0, a != b);
}

TEST(three_members_have_met_in_the_ring)
{
    int partner[4][MOST], *rounds[4], n = make_ring(3, partner, rounds);
    ck_assert_int_eq(pairing_suspects(3, (char[]){1, 1, 1}, rounds, n, partner[n]), 0);
    int four[4][MOST], *of_four[4], of = make_ring(4, four, of_four);
    ck_assert_int_eq(pairing_suspects(4, (char[]){1, 1, 0, 1}, of_four, of, four[of]), 3);
    ck_assert_int_eq(four[of][0], 2);
    ck_assert_int_eq(four[of][1], 3);
}

SUITE("pairing", NULL, NULL)
