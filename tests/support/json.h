/* json.h - whether text is JSON, to the letter: parsers that forgive would hide what others refuse. */
#ifndef TESTS_SUPPORT_JSON_H
#define TESTS_SUPPORT_JSON_H

/* Returns NULL if the text is one JSON value by RFC 8259 with nothing but white space around it; or where it is not. */
const char *json_error(const char *text);

#endif
