/* noise.c - random numbers that are the same in every run of a test. */
#include "noise.h"

#include <math.h>

#define PI 3.14159265358979323846

static uint64_t state;

void noise_start(uint64_t number)
{
    state = number;
}

/* SplitMix64: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014. */
double noise_uniform(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

double noise_normal(void) /* Box and Muller */
{
    double radius = sqrt(-2 * log(noise_uniform()));
    return radius * cos(2 * PI * noise_uniform());
}

double noise_three_errors(double probability, int repetitions)
{
    return 3 * sqrt(probability * (1 - probability) / repetitions);
}
