/* noise.c - random numbers that are the same in every run of a test, and the number of repetitions of simulations. */
#include "tests/support/noise.h"

#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>

static uint64_t state;

void noise_start(uint64_t number)
{
    state = number;
}

double noise_uniform(void)
{
    return random_uniform(&state);
}

double noise_normal(void)
{
    return random_normal(&state);
}

int noise_repetitions(int n)
{
    return getenv("TEST_LONG") ? n : n / 10;
}

double noise_three_errors(double probability, int repetitions)
{
    return 3 * sqrt(probability * (1 - probability) / repetitions);
}
