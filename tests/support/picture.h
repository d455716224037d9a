/* picture.h - checks that the elements of a picture lie inside it and can be read. */
#ifndef TESTS_SUPPORT_PICTURE_H
#define TESTS_SUPPORT_PICTURE_H

/* Returns a description of a fault in well-formed XML from chart/svg.h: an element outside the viewBox, two texts that
 * overlap (by svg_text_width), or an id; NULL if it has no fault. The next call overwrites it. */
const char *picture_fault(const char *svg);

#endif
