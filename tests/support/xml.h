/* xml.h - queries an XML text with a real XML parser. */
#ifndef TESTS_SUPPORT_XML_H
#define TESTS_SUPPORT_XML_H

/* Parses the text with python3, and evaluates a Python expression in which `root` is the root element and `each(name)`
 * lists the elements of that name. Returns the printed value without the last newline, until the test ends. Fails the
 * test unless the text is well-formed XML. Returns NULL, after a line "skip - ", if there is no python3. */
char *xml_ask(const char *text, const char *expression);

#endif
