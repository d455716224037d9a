/* xml.h - what a real XML parser says of a text. */
#ifndef TESTS_SUPPORT_XML_H
#define TESTS_SUPPORT_XML_H

/* Gives the text to python3's parser, which takes no XML that is not well formed, and prints an expression of Python in
 * which `root` is the root element and `each(name)` lists the elements of that name. Returns what it printed, without
 * the last newline; the caller frees it. A test fails where the text is no XML. NULL where there is no python3,
 * after a line "skip - ". */
char *xml_ask(const char *text, const char *expression);

#endif
