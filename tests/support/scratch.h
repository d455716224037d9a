/* scratch.h - directories for the files of a test. */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

/* A new directory below /tmp, at most 16 at a time. */
const char *scratch_make(void);

/* Removes all of them, with what they hold. */
void scratch_remove_all(void);

#endif
