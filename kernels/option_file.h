/* option_file.h - the file of --config, whose options are needed before MPI starts and the command line is parsed. It
 * has an option on each line, as on a command line, also without its dashes: `bucket-size-mb 0.5,1,4` or `rounds = 20`.
 * A # that begins a line or follows a blank begins a comment. */
#ifndef KERNELS_OPTION_FILE_H
#define KERNELS_OPTION_FILE_H

/* Makes the options of the file the last words of *argv, each as one word. Call it at most once; the words stay valid.
 * Returns 0; or -1, reported, if the file cannot be read. */
int option_file_append(const char *path, int *argc, char ***argv);

/* Returns where the file has a word of argv, as FILE:LINE; NULL: the word is not from the file. */
const char *option_file_place(const char *word);

#endif
