/* evidence.h - evidence that a figure got worse in a series of nights that is looked at every night. All functions are
 * pure: chance comes from a generator that texts seed, so that the same nights always give the same answer.
 *
 * If the nights of a figure are exchangeable (no change, no trend, no night that depends on the one before), the ranks
 * p_1, p_2, ... of evidence_rank are independent and uniform in (0, 1), whatever the distribution of the values
 * (Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005, chapter 2). Evidence is what a bet on
 * small ranks has made of 1: its expectation is 1 after any night, so the chance that it ever reaches x is at most
 * 1 / x, however often one looks (Ville's inequality). */
#ifndef BENCH_READ_COMPARE_EVIDENCE_H
#define BENCH_READ_COMPARE_EVIDENCE_H

#include "base/stats.h"

#include <stddef.h>

enum { EVIDENCE_BETS = 4, EVIDENCE_PERMUTATIONS = 1000 };
#define EVIDENCE_ALARM 20.0 /* 1 / 5 % */

/* Returns a number in (0, 1), uniform over texts. */
double evidence_uniform(const char *figure, const char *night);

/* Returns the rank from above of y[n - 1] among y[0..n-1], in (0, 1): (a + u (1 + e)) / n with a the number of earlier
 * values that are greater and e of those that are equal; u: uniform in (0, 1). n is at least 1. */
double evidence_rank(const double *y, size_t n, double u);

/* The evidence of one figure; zeroed: before its first night. After n nights it is
 *     E_n = mean over bets of A_n + sum of w_s over s > n, A_n = (A_(n-1) + w_n) eps p_n^(eps - 1), A_0 = 0,
 * with bets eps 0.1, 0.2, 0.3 and 0.5 and weights w_s = 1 / (0.793 (s + 3) ln^2(s + 3)), whose sum is 1 (to 2e-4):
 * a mixture over the night s in which a change begins. */
struct evidence {
    size_t n;
    double bet[EVIDENCE_BETS], begun; /* A_n; the sum of w_s over s <= n */
};
void evidence_add(struct evidence *evidence, double p); /* adds a night of rank p */
double evidence_value(const struct evidence *evidence);

/* Returns whether figure j of n got worse with a chance of at most 5 % for any false name, by closed testing with the
 * evidence E and weights w of the figures: for every set of figures that holds j, the mean of E by w is 20 or more.
 * This holds if w_j (E_j - 20) is at least the sum of w_i (20 - E_i) over all other i with E_i < 20. */
int evidence_names(const double *value, const double *weight, size_t n, size_t j);

/* The first night of a change in y[n], n >= 2, as an index from 1 to n - 1: the k with the greatest standardised
 * difference between the means of y[k..n-1] and y[0..k-1], of values clipped at 3 robust standard deviations. (A rank
 * sum in place of means is right within one night in 86 to 91 % of simulated changes of 2.5 to 12 sd found within 5 to
 * 20 nights, this one in 93 to 100 %.) [low, high] spans all k that a permutation test does not reject at 10 %: D(k) =
 * the greatest difference - that of k; values before k and values from k on are permuted apart, EVIDENCE_PERMUTATIONS
 * times, and k is rejected if D is as great in at most a tenth. seed: in (0, 1). */
struct first_night {
    size_t first, low, high;
};
struct first_night evidence_first_night(const double *y, size_t n, double seed);

/* Returns the shift of after[m] against before[n]: the median of all differences (Hodges and Lehmann 1963), and its
 * 95 % interval, the range of shifts that a two-sided rank sum test does not reject (exact if n + m <= 40, else by the
 * normal approximation); both ends are NAN if n and m are too small for 95 %. */
struct measured evidence_shift(const double *before, size_t n, const double *after, size_t m);

/* Returns the rank correlation of neighbours in y[n] (stats_neighbours) if it is significant at `chance`, otherwise 0.
 * The most likely change of level, up or down, is taken out first, by the shift of evidence_shift: a change is no
 * dependence. */
double evidence_dependence(const double *y, size_t n, double chance);

/* Returns the share of 1,000 simulated series of `nights` equal nights, followed by a slowdown without limit, in which
 * 1 - weight + weight E of the slowed figure reaches EVIDENCE_ALARM within `within` nights. */
double evidence_power(size_t nights, size_t within, double weight);

#endif
