/* noise.c - random numbers that are the same in every run of a test, and the number of repetitions of simulations. */
#include "tests/support/noise.h"

#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

static uint64_t state;

void noise_start(uint64_t number)
{
    state = number;
}

double noise_uniform(void)
{
    return ((double)(random_bits(state += RANDOM_STEP) >> 11) + 0.5) * 0x1p-53;
}

double noise_normal(void) /* by the Box-Muller transform */
{
    double radius = sqrt(-2 * log(noise_uniform()));
    return radius * cos(2 * PI * noise_uniform());
}

int noise_repetitions(int n)
{
    return getenv("TEST_LONG") ? n : n / 10;
}

double noise_three_errors(double probability, int repetitions)
{
    return 3 * sqrt(probability * (1 - probability) / repetitions);
}
