/* early_option.h - the value of an option that is needed before MPI starts, when the command line is not read yet. */
#ifndef KERNELS_EARLY_OPTION_H
#define KERNELS_EARLY_OPTION_H

/* The value of the last `--name value`, `--name=value`, `-l value` or `-lvalue` in argv, unchecked; NULL if the option
 * is missing. letter 0: the option has none. */
const char *early_option(int argc, char *const argv[], const char *name, char letter);

#endif
