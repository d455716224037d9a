/* utf8.h - the characters of a text in UTF-8. */
#ifndef KERNELS_UTF8_H
#define KERNELS_UTF8_H

/* The bytes of the UTF-8 character at the begin of text, 1 to 4 (RFC 3629: of the shortest form, no surrogates, up to
 * U+10FFFF); 0 where there is none. */
int utf8_length(const char *text);

/* The same; 0 also where it is one that no text for people or XML should hold, such as the end or a control character.
 */
int utf8_character(const char *text);

#endif
