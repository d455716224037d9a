/* picture.h - whether what a picture shows lies in it and can be read. */
#ifndef TESTS_SUPPORT_PICTURE_H
#define TESTS_SUPPORT_PICTURE_H

/* What is wrong with a picture of chart/svg.h, whose XML is well formed: something beyond the viewBox; two texts that
 * overlap, by svg_text_width; an id. NULL: nothing. In a buffer that the next call overwrites. */
const char *picture_fault(const char *svg);

#endif
