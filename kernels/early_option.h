/* early_option.h - the value of an option before the command line is read, which is after MPI has started. */
#ifndef KERNELS_EARLY_OPTION_H
#define KERNELS_EARLY_OPTION_H

/* The text of the last `--name value`, `--name=value`, or `-l value`, `-lvalue` (letter 0: it has none), as it stands
 * there, in argv; NULL where the option is not given. What else the command line holds is not looked at. */
const char *early_option(int argc, char *const argv[], const char *name, char letter);

#endif
