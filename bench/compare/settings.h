/* settings.h - with what runs were made, as keys and values, and in what they differ. */
#ifndef BENCH_COMPARE_SETTINGS_H
#define BENCH_COMPARE_SETTINGS_H

#include <stddef.h>

struct setting {
    char *key, *value;
    int environment; /* a difference is listed; others make runs incomparable unless they are allowed */
};
struct settings {
    struct setting *item;
    size_t n;
};

/* Appends a copy; a key that is there already (- and _ are the same in keys) takes the new value. */
void settings_add(struct settings *settings, const char *key, const char *value, int environment);
/* NULL if there is no such key. */
const char *settings_value(const struct settings *settings, const char *key);
void settings_destroy(struct settings *settings); /* zeroed ones are fine */

/* What the first baseline has, and what another has instead; NULL where one does not have the key. Points to what it
 * was made from. */
struct difference {
    const char *key, *baseline, *other;
    const char *whose; /* the other is, such as "candidate" */
    int environment; /* listed only; also a key that one side lacks: another version of the program has other options */
    int allowed;
};
struct differences {
    struct difference *item;
    size_t n;
};

/* Appends in what another differs from the first baseline, except for what was listed of one like it before. */
void differences_add(struct differences *differences, const struct settings *baseline, const struct settings *other,
                     const char *whose);

/* Marks as allowed the keys of a comma list, in which `all` stands for every key. Returns 0; or -1, reported: a word
 * that is no key of the baseline nor of a difference. */
int differences_allow(struct differences *differences, const char *list, const struct settings *baseline);

/* How many are neither allowed nor of the environment. */
size_t differences_refused(const struct differences *differences);

void differences_destroy(struct differences *differences); /* zeroed ones are fine */

#endif
