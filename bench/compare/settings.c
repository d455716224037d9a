/* settings.c - with what runs were made, and in what they differ. */
#include "compare/settings.h"

#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
    char *own = strdup(text);
    if (!own)
        FATAL("no memory to copy a string");
    return own;
}

static int same_key(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!a[i] || (a[i] == '-' ? '_' : a[i]) != (b[i] == '-' ? '_' : b[i]))
            return 0;
    return !a[length];
}

static struct setting *find(const struct settings *settings, const char *key, size_t length)
{
    for (size_t i = 0; i < settings->n; i++)
        if (same_key(settings->item[i].key, key, length))
            return &settings->item[i];
    return NULL;
}

void settings_add(struct settings *settings, const char *key, const char *value, int environment)
{
    struct setting *old = find(settings, key, strlen(key));
    if (old) {
        free(old->value);
        old->value = copy(value);
        return;
    }
    settings->item = realloc(settings->item, (settings->n + 1) * sizeof *settings->item);
    if (!settings->item)
        FATAL("no memory for %zu settings", settings->n + 1);
    settings->item[settings->n++] = (struct setting){copy(key), copy(value), environment};
}

const char *settings_value(const struct settings *settings, const char *key)
{
    const struct setting *setting = find(settings, key, strlen(key));
    return setting ? setting->value : NULL;
}

void settings_destroy(struct settings *settings)
{
    for (size_t i = 0; i < settings->n; i++) {
        free(settings->item[i].key);
        free(settings->item[i].value);
    }
    free(settings->item);
    *settings = (struct settings){0};
}

static int same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void add(struct differences *differences, struct difference new)
{
    if (same_text(new.baseline, new.other))
        return;
    new.environment = new.environment || !new.baseline || !new.other;
    for (size_t i = 0; i < differences->n; i++) {
        const struct difference *d = &differences->item[i];
        if (!strcmp(d->key, new.key) && same_text(d->other, new.other) && !strcmp(d->whose, new.whose))
            return;
    }
    differences->item = realloc(differences->item, (differences->n + 1) * sizeof *differences->item);
    if (!differences->item)
        FATAL("no memory for %zu differences", differences->n + 1);
    differences->item[differences->n++] = new;
}

void differences_add(struct differences *differences, const struct settings *baseline, const struct settings *other,
                     const char *whose)
{
    for (size_t i = 0; i < baseline->n; i++) {
        const struct setting *s = &baseline->item[i];
        add(differences,
            (struct difference){s->key, s->value, settings_value(other, s->key), whose, s->environment, 0});
    }
    for (size_t i = 0; i < other->n; i++) {
        const struct setting *s = &other->item[i];
        if (!settings_value(baseline, s->key))
            add(differences, (struct difference){s->key, NULL, s->value, whose, s->environment, 0});
    }
}

static int allow(struct differences *differences, const char *word, size_t length, const struct settings *baseline)
{
    int all = same_key("all", word, length), known = all || find(baseline, word, length);
    for (size_t i = 0; i < differences->n; i++)
        if (all || same_key(differences->item[i].key, word, length))
            differences->item[i].allowed = known = 1;
    if (known)
        return 0;
    char keys[900] = "";
    size_t at = 0;
    for (size_t i = 0; i < baseline->n && at < sizeof keys; i++)
        if (!baseline->item[i].environment)
            at += (size_t)snprintf(keys + at, sizeof keys - at, " %s", baseline->item[i].key);
    return error_report("--allow '%.*s': the runs have no such setting; known: all%s", (int)length, word, keys);
}

int differences_allow(struct differences *differences, const char *list, const struct settings *baseline)
{
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ",");
        if (*list && allow(differences, word, length, baseline))
            return -1;
        word += length;
        if (!*word)
            return 0;
    }
}

size_t differences_refused(const struct differences *differences)
{
    size_t refused = 0;
    for (size_t i = 0; i < differences->n; i++)
        refused += !differences->item[i].allowed && !differences->item[i].environment;
    return refused;
}

void differences_destroy(struct differences *differences)
{
    free(differences->item);
    *differences = (struct differences){0};
}
