/* ending.h - what a process leaves when a signal or a fatal error ends it: one line of words, and no half-written file
 * under a temporary name. */
#ifndef KERNELS_ENDING_H
#define KERNELS_ENDING_H

/* From now on SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGXCPU still end the process, by the same status, but after a line
 * on stderr that names the signal. Of several ranks which the launcher or the terminal ends together, rank 0 says it. A
 * signal that is ignored already, as by nohup, stays ignored. SIGXFSZ is ignored, so that a limit on the size of files
 * is an error of a write, like a full disk. */
void ending_install(int rank);

/* What the line says beside the signal, such as where results are (printf's format). */
void ending_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Has the file removed if the process ends before ending_keep_file(path). Of more than 8 files at once the rest stays.
 */
void ending_remove_file(const char *path);
void ending_keep_file(const char *path);

/* Removes the files; safe in a signal's handler. */
void ending_remove_files(void);

#endif
