/* loads.cc - loads of small matrices by a warp, which the last lane to arrive does for all; and asynchronous copies to
 * shared memory, done as late as possible. */
#include "emulated.h"
#include "kernels/cuda/machine.cuh"

namespace
{
constexpr int WARP = 32;

struct Load {
    const char *row;
    uint32_t *word;
};

/* Returns the 16-bit number at a row and column of matrix i; the lanes' Loads have the addresses of the rows. */
uint32_t number_of(void **of_lane, int i, int row, int column)
{
    uint16_t bits;
    memcpy(&bits, static_cast<Load *>(of_lane[8 * i + row])->row + 2 * column, sizeof bits);
    return bits;
}

template <bool transposed> void load(void **of_lane, int)
{
    auto number = [&](int i, int row, int column) {
        return transposed ? number_of(of_lane, i, column, row) : number_of(of_lane, i, row, column);
    };
    for (int lane = 0; lane < WARP; lane++)
        for (int i = 0, g = lane / 4, t = lane % 4; i < 4; i++)
            static_cast<Load *>(of_lane[lane])->word[i] = number(i, g, 2 * t) | number(i, g, 2 * t + 1) << 16;
}

template <bool transposed>
void load_by_warp(const char *call, uint32_t (&word)[4], const void *row, const char *file, int line)
{
    Load mine = {static_cast<const char *>(row), word};
    if (reinterpret_cast<uintptr_t>(row) % 16)
        emulated_wrong(file, line, "a row of a matrix at %p; it must be aligned to 16 bytes", row);
    emulated_full_warp(call, &mine, load<transposed>, file, line);
}
} // namespace

void load_matrices(uint32_t (&word)[4], const void *row, const char *file, int line)
{
    load_by_warp<false>("load_matrices", word, row, file, line);
}

void load_matrices_transposed(uint32_t (&word)[4], const void *row, const char *file, int line)
{
    load_by_warp<true>("load_matrices_transposed", word, row, file, line);
}

/* ---- asynchronous copies ---- */

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
