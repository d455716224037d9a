/* support.h - shared by the fuzzed programs: files in memory, and fatal errors that libFuzzer reports. */
#ifndef TESTS_FUZZ_SUPPORT_SUPPORT_H
#define TESTS_FUZZ_SUPPORT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer calls the first function once, and the second for each input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes FATAL crash the program, which libFuzzer reports; changes to the empty directory $FUZZ_SCRATCH, which
 * tests/fuzz/run.sh makes; replaces stderr by a stream that fuzz_was_explained watches. Returns 0, or 1 on failure. */
int fuzz_begin(void);

/* Writes data[size] to the file at a path relative to $FUZZ_SCRATCH; removes the file if data is NULL. */
void fuzz_put_file(const char *path, const uint8_t *data, size_t size);

/* Returns whether an error is pending (error_text), or anything was printed to stderr since the last call. */
int fuzz_was_explained(void);

#endif
