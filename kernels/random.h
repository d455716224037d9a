/* random.h - random bits computed from a counter, the same on every machine. */
#ifndef KERNELS_RANDOM_H
#define KERNELS_RANDOM_H

#include <math.h>
#include <stdint.h>

/* Returns 64 random bits for a number, by the finaliser of SplitMix64. Source: Steele, Lea and Flood, Fast Splittable
 * Pseudorandom Number Generators, OOPSLA 2014. */
static inline uint64_t random_bits(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* The increment of the counter between two draws: odd, with irregular bits. */
#define RANDOM_STEP 0x9e3779b97f4a7c15u

/* Return the next random number of a counter, and advance it: uniform in (0, 1), or standard normal, by the Box-Muller
 * transform. */
static inline double random_uniform(uint64_t *counter)
{
    *counter += RANDOM_STEP;
    return ((double)(random_bits(*counter) >> 11) + 0.5) * 0x1p-53;
}
static inline double random_normal(uint64_t *counter)
{
    double radius = sqrt(-2 * log(random_uniform(counter)));
    return radius * cos(6.283185307179586 * random_uniform(counter));
}

#endif
