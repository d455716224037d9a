/* early_option.h - finds the value of an option that is needed before MPI starts and the command line is parsed. */
#ifndef KERNELS_EARLY_OPTION_H
#define KERNELS_EARLY_OPTION_H

/* Returns the value of `--name value`, `--name=value`, `-l value` or `-lvalue` in argv, unchecked; NULL if the option
 * or its value is missing. If the option occurs twice, the first occurrence counts, and the second is refused later.
 * letter 0: the option has no letter. */
const char *early_option(int argc, char *const argv[], const char *name, char letter);

#endif
