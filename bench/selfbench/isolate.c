/* isolate.c - simulates the search of `ddpbench isolate` among up to 10,000 made-up members, beside two other methods
 * on the same faults. The program judges nothing: its exit status is 0.
 *
 * The other methods compare the median of 64 messages with a limit; `isolate` needs about 64 messages of a pair, too:
 * - all pairs, as ClusterKit does: the circle method meets each pair once, in n - 1 rounds. A direction of a pair is
 *   slow if it is twice below 93 % of the highest rate of all pairs. A member sends (receives) slowly if more than half
 *   of its messages to (from) others are slow; any other slow message is a fault of its pair.
 * - groups, as NVIDIA's cluster-readiness-engine does: sqrt n groups, each of which sends around a ring; a group below
 *   93 % of the nominal rate, which is known, is halved; members of a group of 2 or 3 are tested with a member of a
 *   good group. */
#include "kernels/error.h"
#include "kernels/random.h"
#include "selfbench/members.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGES = 64, MOST_ROUNDS = 20000, OUTLIER_EVERY = 100 };
static const double limit = 0.93, noise = 0.05, ratio = 1.11;
static const enum members_scenario scenario[] = {MEMBERS_NO_FAULT,   MEMBERS_SENDS, MEMBERS_RECEIVES,
                                                 MEMBERS_NEIGHBOURS, MEMBERS_TWO,   MEMBERS_ANY_PAIR};
enum { SCENARIOS = sizeof scenario / sizeof *scenario };

/* What a search cost, and whether it was right. */
struct cost {
    double pairings, rounds, messages;
    int right;
};

/* ---- isolate ---- */

static struct cost isolate(struct members *m)
{
    struct diagnosis *diagnosis = members_search(m, 0.05, MOST_ROUNDS);
    struct diagnosis_progress progress = diagnosis_progress(diagnosis);
    size_t n;
    struct fault *fault = diagnosis_faults(diagnosis, &n);
    struct cost cost = {progress.pairings, (double)progress.rounds, (double)progress.rounds * (m->n - m->n % 2),
                        members_found(m, fault, n)};
    free(fault);
    diagnosis_destroy(diagnosis);
    return cost;
}

/* ---- all pairs ---- */

/* Returns the median seconds of MESSAGES from a member to another, the same in each call with the same `time`. The
 * median of n normal numbers has 1.25 / sqrt(n) times their standard deviation. */
static double typical(const struct members *m, int from, int to, uint64_t time)
{
    uint64_t pair = (uint64_t)from * (uint64_t)m->n + (uint64_t)to;
    struct members copy = {.seed = random_bits(m->seed + time) ^ random_bits(pair + RANDOM_STEP)};
    return members_message(m, from, to) * exp(1.25 / sqrt(MESSAGES) * m->noise * random_normal(&copy.seed));
}

struct message {
    int from, to;
};

/* Returns the list of slow messages, of which there are *n: `most` or fewer. */
static struct message *slow_messages(const struct members *m, size_t most, size_t *n)
{
    struct message *slow = allocate(most, sizeof *slow);
    double least = INFINITY;
    for (int from = 0; from < m->n; from++)
        for (int to = 0; to < m->n; to++)
            least = from == to ? least : fmin(least, typical(m, from, to, 0));
    *n = 0;
    for (int from = 0; from < m->n; from++)
        for (int to = 0; to < m->n && *n < most; to++)
            if (from != to && typical(m, from, to, 0) > least / limit && typical(m, from, to, 1) > least / limit)
                slow[(*n)++] = (struct message){from, to};
    return slow;
}

static struct cost all_pairs(struct members *m)
{
    size_t most = 8 * (size_t)m->n, n, found = 0; /* with more, the result is wrong in any case */
    int *sent = allocate(2 * (size_t)m->n, sizeof *sent), *received = sent + m->n;
    struct message *slow = slow_messages(m, most, &n);
    struct fault *fault = allocate(n + 2 * (size_t)m->n, sizeof *fault);
    for (size_t i = 0; i < n; i++) {
        sent[slow[i].from]++;
        received[slow[i].to]++;
    }
    for (int i = 0; i < m->n; i++) {
        if (2 * sent[i] > m->n - 1)
            fault[found++] = (struct fault){.kind = FAULT_SENDS, .member = i, .other = -1};
        if (2 * received[i] > m->n - 1)
            fault[found++] = (struct fault){.kind = FAULT_RECEIVES, .member = i, .other = -1};
    }
    for (size_t i = 0; i < n; i++)
        if (2 * sent[slow[i].from] <= m->n - 1 && 2 * received[slow[i].to] <= m->n - 1)
            fault[found++] = (struct fault){.kind = FAULT_PAIR, .member = slow[i].from, .other = slow[i].to};
    double pairings = m->n - 1 + m->n % 2, rounds = MESSAGES * pairings;
    struct cost cost = {pairings, rounds, rounds * (m->n - m->n % 2), n < most && members_found(m, fault, found)};
    free(sent);
    free(slow);
    free(fault);
    return cost;
}

/* ---- groups ---- */

struct groups {
    struct members *members;
    struct cost cost;
    int level;        /* the most tests of a group and its halves in succession */
    int named[8], n;  /* members that failed with a good member */
    int pairs, in[2]; /* groups that failed, unlike their members; first and last member of the last one */
    uint64_t time;
};

static int is_slow(struct groups *g, int from, int to)
{
    g->cost.messages += MESSAGES;
    return typical(g->members, from, to, g->time++) > MEMBERS_MESSAGE / limit;
}

/* Returns whether a group of members [first, end) is slow, each of which sends to the next one. */
static int group_is_slow(struct groups *g, int first, int end)
{
    int slow = 0;
    for (int i = first; i < end; i++) {
        int next = i + 1 < end ? i + 1 : first;
        slow |= is_slow(g, i, next);
    }
    return slow;
}

/* Tests each member of a group with a good member: the one half way round. */
static void confirm(struct groups *g, int first, int end)
{
    int n = g->members->n, before = g->n;
    for (int i = first; i < end; i++) {
        int good = (i + n / 2) % n, slow = is_slow(g, i, good) + is_slow(g, good, i);
        if (slow && g->n < 8)
            g->named[g->n++] = i;
    }
    if (g->n == before) {
        g->pairs++;
        g->in[0] = first;
        g->in[1] = end - 1;
    }
}

static void halve(struct groups *g, int first, int end, int level)
{
    g->level = level > g->level ? level : g->level;
    if (!group_is_slow(g, first, end))
        return;
    if (end - first <= 3) {
        confirm(g, first, end);
        return;
    }
    int middle = first + (end - first) / 2;
    halve(g, first, middle, level + 1);
    halve(g, middle, end, level + 1);
}

/* Returns whether the members named are those with a planted fault, in whatever direction. */
static int named_right(const struct groups *g)
{
    const struct members *m = g->members;
    const struct fault *planted = m->planted;
    int is_pair = m->faults == 1 && planted->kind == FAULT_PAIR, found = 0;
    for (int i = 0; i < g->n; i++)
        for (int f = 0; f < m->faults; f++)
            found += planted[f].member == g->named[i];
    if (is_pair)
        return g->n == 0 && g->pairs == 1 && planted->member >= g->in[0] && planted->member <= g->in[1] &&
               planted->other >= g->in[0] && planted->other <= g->in[1];
    return found == g->n && g->n == m->faults && !g->pairs;
}

static struct cost groups(struct members *m)
{
    struct groups g = {.members = m, .time = 1};
    int size = (int)ceil(sqrt(m->n));
    for (int first = 0; first < m->n; first += size)
        halve(&g, first, first + size < m->n ? first + size : m->n, 1);
    g.cost.pairings = g.level + (g.n || g.pairs);
    g.cost.rounds = MESSAGES * g.cost.pairings;
    g.cost.right = named_right(&g);
    return g.cost;
}

/* ---- the table ---- */

/* Prints a line: the mean cost of a method over all scenarios, and how often it was right in each. */
static void print_line(const char *name, struct cost (*method)(struct members *), int n, int seeds)
{
    struct cost sum = {0};
    int right[SCENARIOS] = {0}, runs = SCENARIOS * seeds;
    for (int run = 0; run < runs; run++) {
        int s = run / seeds;
        struct members m = {
            .n = n, .noise = noise, .message = MEMBERS_MESSAGE, .outlier_every = OUTLIER_EVERY, .seed = (uint64_t)run};
        members_plant(&m, scenario[s], ratio);
        struct cost cost = method(&m);
        right[s] += cost.right;
        sum.pairings += cost.pairings / runs;
        sum.rounds += cost.rounds / runs;
        sum.messages += cost.messages / runs;
    }
    printf("%7d  %-9s %8.1f %8.0f %12.0f %9.2f ", n, name, sum.pairings, sum.rounds, sum.messages,
           2 * sum.rounds * MEMBERS_MESSAGE);
    for (int s = 0; s < SCENARIOS; s++)
        printf(" %7d/%-2d", right[s], seeds);
    printf("\n");
    fflush(stdout);
}

int main(void)
{
    static const struct {
        int members, seeds;
    } size[] = {{4, 20}, {8, 20}, {16, 20}, {64, 20}, {232, 20}, {1000, 10}, {10000, 1}};
    printf("Made-up members. A message takes 10 ms, with a noise of %.0f %%; one in %d takes 3 times as long. A fault "
           "makes it\n"
           "%.2f times as long. In a round all pairs send a message each way. seconds: of the messages alone. Costs "
           "are means\n"
           "over all searches; the columns at the right count right answers by planted fault.\n",
           100 * noise, OUTLIER_EVERY, ratio);
    printf("\n%7s  %-9s %8s %8s %12s %9s ", "members", "method", "pairings", "rounds", "messages", "seconds");
    for (int s = 0; s < SCENARIOS; s++)
        printf(" %10s", members_scenario_name[scenario[s]]);
    printf("\n");
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        print_line("isolate", isolate, size[i].members, size[i].seeds);
        print_line("all pairs", all_pairs, size[i].members, size[i].seeds);
        print_line("groups", groups, size[i].members, size[i].seeds);
    }
    return 0;
}
