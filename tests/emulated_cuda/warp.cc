/* warp.cc - products and loads of small matrices by a warp, which the last lane to come does for all; and copies to
 * shared memory that end late. */
#include "cuda/machine.cuh"
#include "emulated.h"

namespace
{
constexpr int WARP = 32;

struct Product {
    float *d;
    const uint32_t *a, *b;
};

struct Load {
    const char *row;
    uint32_t *word;
};

void need_all(int lanes)
{
    if (lanes != WARP)
        emulated_wrong(__FILE__, __LINE__, "a product or load of matrices by a warp of %d lanes; it takes 32", lanes);
}

const Product &product_of(void **of_lane, int lane)
{
    return *static_cast<Product *>(of_lane[lane]);
}

/* Number `half` (0 low, 1 high) of a word of two bfloat16. */
float bf16_of(uint32_t word, int half)
{
    return __uint_as_float(half ? word & 0xffff0000 : word << 16);
}

/* d[16, 8] += a[16, depth] * b[depth, 8], given to and taken from the lanes in fragments of d. */
__attribute__((no_sanitize_address)) void add_product(void **of_lane, const float *a, const float *b, int depth)
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

void multiply_bf16(void **of_lane, int lanes)
{
    need_all(lanes);
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

void multiply_tf32(void **of_lane, int lanes)
{
    need_all(lanes);
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

/* Number `column` of row `row` of matrix i. */
uint32_t number_of(void **of_lane, int i, int row, int column)
{
    uint16_t bits;
    memcpy(&bits, static_cast<Load *>(of_lane[8 * i + row])->row + 2 * column, sizeof bits);
    return bits;
}

void load(void **of_lane, int lanes)
{
    need_all(lanes);
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0, g = lane / 4, t = lane % 4; i < 4; i++)
            static_cast<Load *>(of_lane[lane])->word[i] =
                number_of(of_lane, i, g, 2 * t) | number_of(of_lane, i, g, 2 * t + 1) << 16;
}

void load_transposed(void **of_lane, int lanes)
{
    need_all(lanes);
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0, g = lane / 4, t = lane % 4; i < 4; i++)
            static_cast<Load *>(of_lane[lane])->word[i] =
                number_of(of_lane, i, 2 * t, g) | number_of(of_lane, i, 2 * t + 1, g) << 16;
}

void check_row(const void *row, const char *file, int line)
{
    if (reinterpret_cast<uintptr_t>(row) % 16)
        emulated_wrong(file, line, "a row of a matrix at %p; it must be aligned to 16 bytes", row);
}
} // namespace

void mma_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const char *file, int line)
{
    Product mine = {d, a, b};
    emulated_warp("mma_bf16", &mine, multiply_bf16, file, line);
}

void mma_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const char *file, int line)
{
    Product mine = {d, a, b};
    emulated_warp("mma_tf32", &mine, multiply_tf32, file, line);
}

void load_matrices(uint32_t (&word)[4], const void *row, const char *file, int line)
{
    Load mine = {static_cast<const char *>(row), word};
    check_row(row, file, line);
    emulated_warp("load_matrices", &mine, load, file, line);
}

void load_matrices_transposed(uint32_t (&word)[4], const void *row, const char *file, int line)
{
    Load mine = {static_cast<const char *>(row), word};
    check_row(row, file, line);
    emulated_warp("load_matrices_transposed", &mine, load_transposed, file, line);
}

/* ---- copies beside the arithmetic ---- */

void copy_async(void *shared, const void *global, int valid, const char *file, int line)
{
    int *commits;
    if (valid < 0 || valid > 16)
        emulated_wrong(file, line, "copy_async of %d valid bytes; 0 to 16 are allowed", valid);
    if (reinterpret_cast<uintptr_t>(shared) % 16 || reinterpret_cast<uintptr_t>(global) % 16)
        emulated_wrong(file, line, "copy_async from %p to %p; both must be aligned to 16 bytes", global, shared);
    memset(shared, 0xff, 16);
    std::vector<emulated::Copy> &begun = emulated::copies(&commits);
    begun.push_back({shared, global, valid, *commits});
}

void copy_async_commit()
{
    int *commits;
    emulated::copies(&commits);
    ++*commits;
}

void emulated_copy_wait(int n)
{
    int *commits;
    std::vector<emulated::Copy> later, &begun = emulated::copies(&commits);
    for (const emulated::Copy &copy : begun)
        if (copy.group < *commits - n) {
            auto valid = static_cast<size_t>(copy.valid);
            memcpy(copy.to, copy.from, valid);
            memset(static_cast<char *>(copy.to) + valid, 0, 16 - valid);
        } else {
            later.push_back(copy);
        }
    begun.swap(later);
}
