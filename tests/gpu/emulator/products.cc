/* products.cc - shuffles and products of small matrices by a warp; the last lane to arrive computes them for all lanes.
 *
 * This file uses only values of lanes, no memory, so it is built without AddressSanitizer. */
#include "kernels/cuda/machine.cuh"

namespace
{
constexpr int WARP = 32;

struct Shuffle {
    uint64_t value, result;
    int from;
};

void shuffle(void **of_lane, int lanes)
{
    for (int i = 0; i < lanes; i++) {
        auto *to = static_cast<Shuffle *>(of_lane[i]);
        to->result = to->from < lanes ? static_cast<Shuffle *>(of_lane[to->from])->value : UINT64_MAX;
    }
}

struct Product {
    float *d;
    const uint32_t *a, *b;
};

const Product &product_of(void **of_lane, int lane)
{
    return *static_cast<Product *>(of_lane[lane]);
}

/* Returns one of the two bfloat16 numbers in a word: half 0 is the lower, 1 the upper. */
float bf16_of(uint32_t word, int half)
{
    return __uint_as_float(half ? word & 0xffff0000 : word << 16);
}

/* Computes d[16, 8] += a[16, depth] * b[depth, 8]; d consists of the lanes' fragments of 4 numbers each. */
void add_product(void **of_lane, const float *a, const float *b, int depth)
{
    double d[16][8] = {};
    for (int row = 0; row < 16; row++)
        for (int k = 0; k < depth; k++)
            for (int column = 0; column < 8; column++)
                d[row][column] += static_cast<double>(a[row * depth + k]) * b[k * 8 + column];
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0; i < 4; i++) {
            float &sum = product_of(of_lane, lane).d[i];
            sum = static_cast<float>(sum + d[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]);
        }
}

void multiply_bf16(void **of_lane, int)
{
    float a[16 * 16], b[16 * 8];
    for (int lane = 0; lane < WARP; lane++) {
        const Product &mine = product_of(of_lane, lane);
        int g = lane / 4, t = lane % 4;
        for (int half = 0; half < 2; half++) {
            for (int i = 0; i < 4; i++)
                a[(g + i % 2 * 8) * 16 + 2 * t + i / 2 * 8 + half] = bf16_of(mine.a[i], half);
            for (int i = 0; i < 2; i++)
                b[(2 * t + i * 8 + half) * 8 + g] = bf16_of(mine.b[i], half);
        }
    }
    add_product(of_lane, a, b, 16);
}

void multiply_tf32(void **of_lane, int)
{
    float a[16 * 8], b[8 * 8];
    constexpr uint32_t kept = 0xffffe000;
    for (int lane = 0; lane < WARP; lane++) {
        const Product &mine = product_of(of_lane, lane);
        int g = lane / 4, t = lane % 4;
        for (int i = 0; i < 4; i++)
            a[(g + i % 2 * 8) * 8 + t + i / 2 * 4] = __uint_as_float(mine.a[i] & kept);
        for (int i = 0; i < 2; i++)
            b[(t + i * 4) * 8 + g] = __uint_as_float(mine.b[i] & kept);
    }
    add_product(of_lane, a, b, 8);
}
} // namespace

void mma_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const char *file, int line)
{
    Product mine = {d, a, b};
    emulated_full_warp("mma_bf16", &mine, multiply_bf16, file, line);
}

void mma_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const char *file, int line)
{
    Product mine = {d, a, b};
    emulated_full_warp("mma_tf32", &mine, multiply_tf32, file, line);
}

uint64_t emulated_shuffle(uint64_t value, int from, const char *call, const char *file, int line)
{
    Shuffle mine = {value, value, from};
    emulated_warp(call, &mine, shuffle, file, line);
    return mine.result;
}
