/* regimes.h - watches the figures of a series of nights together, and finds since when and by how much they changed.
 *
 * The joint evidence is 1 - W + the sum of w_j E_j over the figures, with E_j their evidence (evidence.h), w_j weights
 * fixed on a figure's first night (the figures of the first night share 1/2, those that are new on a later night half
 * of what is left), and W their sum. It is evidence again, however the figures depend on each other, so the chance that
 * it ever reaches EVIDENCE_ALARM without any change is at most 5 %. When it does, that night has found a change, and
 * the regime ends: all figures begin anew on the next night. A figure without a value keeps its evidence. All
 * functions are pure, and nights that are appended change nothing of what was found before them. */
#ifndef BENCH_READ_COMPARE_REGIMES_H
#define BENCH_READ_COMPARE_REGIMES_H

#include "compare/evidence.h"
#include "compare/nights.h"

/* How sure a change is: CHANGE_NAMED: evidence_names holds. CHANGE_LIKELY: no figure is named, and this one has the
 * most evidence. CHANGE_ALSO: its evidence is above 1, and by its 95 % interval it moved since the same night
 * as the first of these. */
enum change_kind { CHANGE_NAMED, CHANGE_LIKELY, CHANGE_ALSO };

/* A figure that changed. */
struct change {
    size_t figure, found;    /* index of the figure, and of the night that found the change */
    size_t first, low, high; /* first night of the new level, with its interval (evidence_first_night): nights */
    struct measured shift;   /* of y, from the first night to the night that found it (evidence_shift) */
    enum change_kind kind;
    int accepted; /* 1: a level of the figure that begins after `found` is accepted */
};

/* The state of a figure in the last regime. */
struct level {
    size_t n; /* nights with a value since the level began */
    struct evidence evidence;
    double weight;
    double *y;     /* [n], as in struct night_series, times direction */
    size_t *night; /* [n] */
};

struct regimes {
    const struct nights *nights;
    int direction;         /* 1: figures whose y grew are found; -1: whose y shrank */
    struct change *change; /* [changes], in the order of nights */
    size_t changes;
    double *evidence;      /* [nights] joint evidence after each night */
    unsigned char *begins; /* [nights] 1: a regime begins */
    struct level *level;   /* [figures] */
    double left;           /* 1 - the sum of the weights */
};

/* Watches all nights, which must exist as long as the regimes. begins: [nights] 1: a regime begins, beside those that
 * alarms and accepted changes begin; NULL: none. Release with regimes_destroy. */
void regimes_create(struct regimes *regimes, const struct nights *nights, int direction, const unsigned char *begins);
void regimes_destroy(struct regimes *regimes); /* frees all members, which may be 0 */

#endif
