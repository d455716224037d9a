/* picture.h - checks that all elements of a picture lie inside it, and that its texts do not overlap. */
#ifndef TESTS_SUPPORT_PICTURE_H
#define TESTS_SUPPORT_PICTURE_H

/* Returns a description of the first fault in a picture made by chart/svg.h: no size, an id, an element outside the
 * picture, overlapping texts (by svg_text_width); NULL without a fault. The next call overwrites the description. */
const char *picture_fault(const char *svg);

#endif
