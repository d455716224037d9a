/* noise.h - random numbers that are the same in every run of a test. */
#ifndef TESTS_SUPPORT_NOISE_H
#define TESTS_SUPPORT_NOISE_H

#include <stdint.h>

void noise_start(uint64_t number); /* another number, another sequence */

double noise_uniform(void); /* in (0, 1) */
double noise_normal(void);  /* mean 0, standard deviation 1 */

/* Three standard errors of how often something of this probability happens in so many repetitions. */
double noise_three_errors(double probability, int repetitions);

#endif
