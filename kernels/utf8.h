/* utf8.h - checks the characters of UTF-8 text. */
#ifndef KERNELS_UTF8_H
#define KERNELS_UTF8_H

/* Returns the length in bytes of the UTF-8 character at the start of text, 1 to 4 (RFC 3629: shortest form, no
 * surrogates, up to U+10FFFF); 0 if there is none. */
int utf8_length(const char *text);

/* Like utf8_length, but also returns 0 for characters that printed text and XML must not contain, such as NUL and
 * control characters. */
int utf8_character(const char *text);

#endif
