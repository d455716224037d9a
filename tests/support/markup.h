/* markup.h - whether a text is well-formed XML, and whether what a picture shows lies in it and can be read. */
#ifndef TESTS_SUPPORT_MARKUP_H
#define TESTS_SUPPORT_MARKUP_H

/* What is wrong with a text as XML of one element, of the kind that the program writes (no comments, no CDATA, no
 * declaration but a leading <?xml ?>); NULL: nothing. In a buffer that the next call overwrites, as below. */
const char *markup_fault(const char *text);

/* What is wrong with a picture of chart/svg.h: no XML; something beyond the viewBox; two texts that overlap, by
 * svg_text_width; an id. */
const char *picture_fault(const char *svg);

#endif
