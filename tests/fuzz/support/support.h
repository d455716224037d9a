/* support.h - what the fuzzed programs share: files in memory, and ends of the program that must not pass unseen. */
#ifndef TESTS_FUZZ_SUPPORT_SUPPORT_H
#define TESTS_FUZZ_SUPPORT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

/* Called by libFuzzer once, and for each input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes FATAL a crash, which libFuzzer reports with its input, goes to the directory $FUZZ_SCRATCH, an empty one in
 * memory (tests/fuzz/run.sh makes it), and returns 0. */
int fuzz_begin(void);

/* Puts a file there, by a relative path; or removes it, where data is NULL. */
void fuzz_put_file(const char *path, const uint8_t *data, size_t size);

/* Whether there is an error that was reported, or a line that was printed to stderr since the last question. */
int fuzz_was_explained(void);

#endif
