/* pairing.c - new partners for suspects. */
#include "isolate/search.h"

#include "kernels/error.h"

#include <stdlib.h>

int pairing_met(int *const *partner, int rounds, int member, int other)
{
    while (rounds-- > 0)
        if (partner[rounds][member] == other)
            return 1;
    return 0;
}

struct choice {
    int members, rounds;
    const char *suspect;
    int *const *earlier, *partner;
};

/* Returns the free member with this value of suspect[] that is farthest from m in the ring and new to m; -1: none. */
static int farthest(const struct choice *c, int m, char suspect)
{
    for (int distance = c->members / 2; distance > 0; distance--)
        for (int side = 0; side < 2; side++) {
            int p = (m + (side ? c->members - distance : distance)) % c->members;
            if (c->partner[p] < 0 && c->suspect[p] == suspect && !pairing_met(c->earlier, c->rounds, m, p))
                return p;
        }
    return -1;
}

/* Pairs free suspects with members that have this value of suspect[]. Returns the number of suspects paired. */
static int pair_with(const struct choice *c, char suspect)
{
    int paired = 0;
    for (int m = 0; m < c->members; m++) {
        int p = c->suspect[m] && c->partner[m] < 0 ? farthest(c, m, suspect) : -1;
        if (p < 0)
            continue;
        c->partner[m] = p;
        c->partner[p] = m;
        paired += 1 + suspect;
    }
    return paired;
}

int pairing_suspects(int members, const char *suspect, int *const *earlier, int rounds, int *partner)
{
    struct choice c = {members, rounds, suspect, earlier, partner};
    int *left = allocate((size_t)members, sizeof *left), n = 0, paired;
    for (int m = 0; m < members; m++)
        partner[m] = -1;
    paired = pair_with(&c, 0);
    paired += pair_with(&c, 1);
    for (int m = 0; m < members; m++)
        if (partner[m] < 0)
            left[n++] = m;
    for (int i = 0; i < n / 2; i++) {
        partner[left[i]] = left[i + n / 2];
        partner[left[i + n / 2]] = left[i];
    }
    free(left);
    return paired;
}
