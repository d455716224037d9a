/* picture.h - checks that the elements of a picture lie inside it and can be read. */
#ifndef TESTS_SUPPORT_PICTURE_H
#define TESTS_SUPPORT_PICTURE_H

/* Returns the fault of a picture of chart/svg.h with well-formed XML: an element outside the viewBox; two texts that
 * overlap, by svg_text_width; an id; NULL if there is none. The next call overwrites the text. */
const char *picture_fault(const char *svg);

#endif
