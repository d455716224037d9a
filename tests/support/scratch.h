/* scratch.h - directories for the files of a test. */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

/* Makes a directory below /tmp, at most 16 at a time. Returns its path, which scratch_remove_all makes invalid. */
const char *scratch_make(void);

/* Removes all directories of scratch_make with their contents. */
void scratch_remove_all(void);

#endif
