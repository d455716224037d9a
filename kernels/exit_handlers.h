/* exit_handlers.h - when a signal or a fatal error ends the process: prints one line and the results so far, and
 * removes temporary files. */
#ifndef KERNELS_EXIT_HANDLERS_H
#define KERNELS_EXIT_HANDLERS_H

/* Handles SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM and SIGXCPU: prints a line on stderr that names the
 * signal, then lets the signal end the process with its usual status. If the launcher or the terminal sends the signal
 * to all ranks, only rank 0 prints. A signal that was ignored at the start, as by nohup, stays ignored. Ignores
 * SIGXFSZ, so that exceeding the limit on file sizes makes a write fail, as a full disk does. */
void exit_handlers_install(int rank);

/* Sets the text (printf's format) at the end of the line printed for a signal, for example the results' directory. */
void exit_handlers_set_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* exit_handlers_set_results sets the text that is printed on stdout after the line; NULL: none. The text must come from
 * malloc, and this module frees it. Only one thread may call it. exit_handlers_print_results prints the text if it was
 * not yet printed; it is safe in a signal handler. The process must end afterwards, because the printed text is never
 * freed. */
void exit_handlers_set_results(char *text);
void exit_handlers_print_results(void);

/* Registers a file, before it is made, to be removed if a signal or a fatal error ends the process before
 * exit_handlers_keep_file(path). At most 8 files can be registered at once; further ones are not removed. Once a signal
 * ends the process this function does not return. */
void exit_handlers_remove_file(const char *path);
void exit_handlers_keep_file(const char *path);

/* Removes the registered files. Safe in a signal handler. */
void exit_handlers_remove_files(void);

#endif
