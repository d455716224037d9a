/* noise.h - random numbers that are the same in every run of a test, and the number of repetitions of simulations. */
#ifndef TESTS_SUPPORT_NOISE_H
#define TESTS_SUPPORT_NOISE_H

#include <stdint.h>

void noise_start(uint64_t number); /* number: the seed of the sequence */

double noise_uniform(void); /* in (0, 1) */
double noise_normal(void);  /* mean 0, standard deviation 1 */

/* Returns the number of repetitions of a simulation: n if TEST_LONG is set (tests/run.sh --long), otherwise n / 10. */
int noise_repetitions(int n);

/* Returns the tolerance for the frequency of an event of probability p: three binomial standard errors, 3 sqrt(p (1 -
 * p) / repetitions). With a tenth of the repetitions the tolerance is sqrt(10) = 3.2 times as wide. */
double noise_three_errors(double probability, int repetitions);

#endif
