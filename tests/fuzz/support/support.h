/* support.h - shared by the fuzzed programs: files in memory, and fatal errors that libFuzzer reports. */
#ifndef TESTS_FUZZ_SUPPORT_SUPPORT_H
#define TESTS_FUZZ_SUPPORT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer calls the first function once, and the second for each input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes FATAL a crash, which libFuzzer reports with its input, and changes to the directory $FUZZ_SCRATCH, which
 * tests/fuzz/run.sh creates empty and in memory. Returns 0. */
int fuzz_begin(void);

/* Writes a file at a path relative to $FUZZ_SCRATCH, or removes it if data is NULL. */
void fuzz_put_file(const char *path, const uint8_t *data, size_t size);

/* Returns whether an error was reported, or anything was printed to stderr, since the last call. */
int fuzz_was_explained(void);

#endif
