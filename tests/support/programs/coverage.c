/* coverage.c - simulates rounds, ranks them as the program does, stopping included, and counts how often the printed
 * intervals hold, and how often a row is wrongly called slower. It judges nothing: its exit status is 0.
 *
 * Rows are `none` and k strategies. All k take equally long, or one is ahead, or each takes longer than the strategy
 * before it. A sample is base x level of the round x exp(own noise), with these noises: */
#include "benchmark/ranking.h"
#include "kernels/error.h"
#include "kernels/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 13, MOST_ROUNDS = 150, TRUTHS = 3 };
static const double resolve = 0.02, spread = 0.02;

/* Return the logarithm of a block's noise; *last is what the row keeps from one round to the next. */
static double noise_normal(uint64_t *seed, double *last)
{
    (void)last;
    return spread * random_normal(seed);
}
static double noise_student(uint64_t *seed, double *last)
{
    double squares = 0;
    (void)last;
    for (int i = 0; i < 3; i++)
        squares += pow(random_normal(seed), 2);
    return spread * random_normal(seed) / sqrt(squares / 3);
}
static double noise_lognormal(uint64_t *seed, double *last)
{
    (void)last;
    return log1p(spread * exp(1.5 * random_normal(seed)));
}
static double noise_outliers(uint64_t *seed, double *last)
{
    return noise_normal(seed, last) - (random_uniform(seed) < 0.05 ? 0.2 * log(random_uniform(seed)) : 0);
}
static double noise_dependent(uint64_t *seed, double *last)
{
    *last = 0.5 * *last + spread * sqrt(0.75) * random_normal(seed);
    return *last;
}

static const struct {
    const char *name, *words;
    double (*draw)(uint64_t *seed, double *last);
    double level; /* standard deviation of the logarithm of the rounds' level */
} noises[] = {
    {"normal", "normal, 2 %", noise_normal, 0},
    {"t3", "2 % x Student's t with 3 degrees of freedom", noise_student, 0},
    {"lognormal", "1 + 2 % x a lognormal number, whose logarithm has a standard deviation of 1.5", noise_lognormal, 0},
    {"outliers", "normal, and 5 % of blocks take longer by a factor with an exponential logarithm, mean 0.2",
     noise_outliers, 0},
    {"levels", "normal, and rounds differ by factors: the logarithm of their level has a standard deviation of 0.5",
     noise_normal, 0.5},
    {"AR 0.5", "normal, but each row's noise keeps half of that of the round before: rounds are not independent",
     noise_dependent, 0},
};
enum { NOISES = sizeof noises / sizeof *noises };

/* Returns the logarithm of the ratio of row i's true step to the shortest one. */
static double above(int truth, int i)
{
    return truth == 0 ? 0 : truth == 1 ? (i ? 0.02 : 0) : 0.01 * i;
}

/* Counts over a number of runs. */
struct tally {
    size_t runs, tables, covered, slower, costs, costs_covered, outside, warned, rounds;
};

static int is_outside(const struct estimate *e)
{
    return isfinite(e->ci_low) && e->ci_low < e->ci_high && !(e->ci_low < e->median && e->median < e->ci_high);
}

static void count(struct tally *t, const struct ranking *c, int truth)
{
    const double best = above(truth, c->fastest - 1);
    int covered = 1, slower = 0, warned = 0;
    for (int i = 1; i < c->n; i++) {
        const struct ranking_row *row = &c->row[i];
        const struct estimate to_fastest = row->to_fastest.ratio, *cost = &row->sync_cost;
        double ratio = exp(above(truth, i - 1) - best), none = c->row[0].seconds[FIGURE_STEP].median;
        double to_none = 1.2 * exp(above(truth, i - 1));
        if (i != c->fastest) {
            covered &= !(to_fastest.ci_low > ratio || to_fastest.ci_high < ratio); /* without an interval: covered */
            slower |= row->to_fastest.slower && ratio <= 1;
            warned |= row->to_fastest.dependent > 0;
        }
        t->costs += isfinite(cost->ci_low) != 0;
        t->costs_covered += cost->ci_low <= (to_none - 1) * none && cost->ci_high >= (to_none - 1) * none;
        t->outside += (size_t)(is_outside(&to_fastest) + is_outside(cost) + is_outside(&row->to_ddp) +
                               is_outside(&row->seconds[FIGURE_STEP]) + is_outside(&row->tokens_per_second));
    }
    t->covered += (size_t)covered;
    t->slower += (size_t)slower;
    t->warned += (size_t)warned;
    t->tables++;
}

/* Makes up all rounds of a run. */
static void make_up(const struct measurements *m, int noise, int truth, uint64_t *seed)
{
    double last[MOST_ROWS] = {0};
    for (size_t r = 0; r < MOST_ROUNDS; r++) {
        double level = noises[noise].level * random_normal(seed);
        for (int i = 0; i < m->n; i++) {
            double base = 0.1 * (i ? 1.2 * exp(above(truth, i - 1)) : 1);
            measurements_of(m, i, FIGURE_STEP)[r] = base * exp(level + noises[noise].draw(seed, &last[i]));
        }
    }
}

/* Adds a run of `rounds` rounds. If rounds is 0, it has --resolve and stops by itself, after at most MOST_ROUNDS. */
static void run(struct tally *t, struct measurements *m, const struct implementation *row, size_t rounds, int truth)
{
    struct ranking c;
    m->rounds = rounds;
    if (!rounds)
        for (m->rounds = 6; m->rounds < MOST_ROUNDS; m->rounds += 1 + m->rounds / 20)
            if (ranking_rounds_needed(m, row, resolve) <= (double)m->rounds)
                break;
    m->rounds = m->rounds < MOST_ROUNDS ? m->rounds : MOST_ROUNDS;
    ranking_create(&c, m, row, 2, 1000, NULL, rounds ? 0 : resolve);
    count(t, &c, truth);
    t->rounds += m->rounds;
    t->runs++;
}

static double percent(size_t part, size_t whole)
{
    return whole ? 100 * (double)part / (double)whole : NAN;
}

/* Simulates a line of the table: `runs` runs of each truth. Returns how many estimates are not inside their interval.
 */
static size_t add_line(int noise, int k, size_t rounds, int runs, size_t *tables)
{
    struct implementation row[MOST_ROWS] = {{.label = "none", .strategy = &strategy_none}};
    struct measurements m;
    struct tally tally[TRUTHS] = {{0}}, all = {0};
    uint64_t seed = (uint64_t)(noise * 1000003 + k * 1009) + rounds;
    for (int i = 1; i <= k; i++) {
        row[i].strategy = &strategy_ddp;
        snprintf(row[i].label, sizeof row[i].label, "row %d", i);
    }
    measurements_create(&m, k + 1, MOST_ROUNDS);
    for (int truth = 0; truth < TRUTHS; truth++) {
        for (int i = 0; i < runs; i++) {
            make_up(&m, noise, truth, &seed);
            run(&tally[truth], &m, row, rounds, truth);
        }
        all.costs += tally[truth].costs;
        all.costs_covered += tally[truth].costs_covered;
        all.outside += tally[truth].outside;
        all.rounds += tally[truth].rounds;
        all.runs += tally[truth].runs;
    }
    measurements_destroy(&m);
    char words[40];
    snprintf(words, sizeof words, rounds ? "%zu" : "resolve", rounds);
    printf("%-10s %3d %8s %7.0f ", noises[noise].name, k, words, (double)all.rounds / (double)all.runs);
    for (int truth = 0; truth < TRUTHS; truth++)
        printf(" %8.1f %6.1f", percent(tally[truth].covered, tally[truth].tables),
               percent(tally[truth].slower, tally[truth].tables));
    printf("  %8.1f %7.1f\n", percent(all.costs_covered, all.costs), percent(tally[0].warned, tally[0].tables));
    fflush(stdout);
    *tables += all.runs;
    return all.outside;
}

int main(int argc, char *argv[])
{
    static const int compared[] = {2, 6, 12};
    static const size_t rounds[] = {6, 12, 30, 150, 0};
    int runs = argc > 1 ? atoi(argv[1]) : 2000;
    size_t tables = 0, outside = 0;
    if (runs < 1 || argc > 2) {
        fprintf(stderr, "Usage: %s [RUNS]: how many runs a line of the table has of each truth (2000)\n", argv[0]);
        return 2;
    }
    printf("Made-up rounds of `none` and k strategies; %d runs of each kind. covered: runs in which all intervals of "
           "the\nverdict hold together, in %%; false: runs in which a strategy is called slower that is not, in %%. "
           "resolve: with\n--resolve 2 %%, until no strategy is undecided, at most %d rounds. cost: ratios to `none` "
           "in their "
           "intervals, in %%; warned:\nruns with the warning that rounds depend on each other, in %%. Noises:\n",
           runs, MOST_ROUNDS);
    for (int i = 0; i < NOISES; i++)
        printf("  %-10s %s\n", noises[i].name, noises[i].words);
    printf("\n%40s %15s %15s\n%-10s %3s %8s %7s ", "all equal", "one 2 % ahead", "1 % apart", "noise", "k", "rounds",
           "mean");
    for (int truth = 0; truth < TRUTHS; truth++)
        printf(" %8s %6s", "covered", "false");
    printf("  %8s %7s\n", "cost", "warned");
    for (int noise = 0; noise < NOISES; noise++)
        for (size_t s = 0; s < sizeof compared / sizeof *compared; s++)
            for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++)
                outside += add_line(noise, compared[s], rounds[r], runs, &tables);
    printf("\nEstimates on or outside the end of their interval: %zu in %zu tables.\n", outside, tables);
    return 0;
}
