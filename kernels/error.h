/* error.h - the two kinds of error: one that a person can correct (error_report) and one that ends the job (fatal).
 *
 * error_report() keeps the message until one place prints it (job_agree), so that an error of every rank is printed
 * once. fatal() prints immediately and ends every rank. */
#ifndef KERNELS_ERROR_H
#define KERNELS_ERROR_H

#include <stddef.h>

/* Keeps the message (printf's format: what was wrong, what is allowed) and returns -1, for `return error_report(...)`.
 * It is kept as one line of printable UTF-8: other characters are escaped as \n or \x1b, and a long message is
 * shortened in the middle. The first message is kept until error_clear; later ones are dropped. May be called from any
 * thread. */
int error_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Puts a place, such as FILE:LINE, before the kept message. place NULL: changes nothing. Returns -1. */
int error_place(const char *place);

/* error_text returns the message kept by error_report, or ""; it is valid until error_clear forgets the message. */
const char *error_text(void);
void error_clear(void);

/* Prints the kept message, if any, as a line on stderr after the program's name, and forgets it. */
void error_print(void);

/* Prints "rank R: file:line: message" on stderr and ends the job on every rank with status 1. file NULL: omits file and
 * line, for an error that the user can correct. */
#define FATAL(...) fatal(__FILE__, __LINE__, __VA_ARGS__)
void fatal(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));

/* Like fatal, with the message that there is no memory for n elements of the given size; n and size are 0 if the amount
 * is unknown. */
void fatal_no_memory(size_t n, size_t size) __attribute__((noreturn));

/* Sets the rank that fatal prints, and the function that ends the whole job (NULL: fatal ends only this process). */
void fatal_set_job(int rank, void (*end_job)(int status));

/* Allocates zeroed host memory for n elements of the given size; fatal when memory runs out. Release with free. */
void *allocate(size_t n, size_t size);

/* Returns a list of n elements of the given size, enlarged by one element, which is not zeroed. The list must be NULL
 * (empty) or come from this function; its capacity is a power of two. Fatal when memory runs out. Release with free. */
void *allocate_more(void *list, size_t n, size_t size);

#endif
