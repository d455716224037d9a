/* json.c - the grammar of RFC 8259, one function for each kind of value. Each moves *at behind what it read and returns
 * 1; or returns 0 with *at where it does not fit. */
#include "tests/support/json.h"

#include <string.h>

static int value(const char **at);

static void space(const char **at)
{
    *at += strspn(*at, " \t\n\r");
}

static int character(const char **at, char c)
{
    if (**at != c)
        return 0;
    ++*at;
    return 1;
}

static int word(const char **at, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(*at, text, n))
        return 0;
    *at += n;
    return 1;
}

static int string(const char **at)
{
    if (!character(at, '"'))
        return 0;
    while (**at != '"') {
        if ((unsigned char)**at < 0x20 || (unsigned char)**at > 0x7e)
            return 0; /* control characters are never allowed; others are, in UTF-8, but we write ASCII */
        if (**at == '\\') {
            ++*at;
            if (**at == 'u' && strspn(*at + 1, "0123456789abcdefABCDEF") >= 4)
                *at += 4;
            else if (!**at || !strchr("\"\\/bfnrt", **at))
                return 0;
        }
        ++*at;
    }
    return character(at, '"');
}

static int digits(const char **at)
{
    size_t n = strspn(*at, "0123456789");
    *at += n;
    return n > 0;
}

static int number(const char **at)
{
    character(at, '-');
    if (!character(at, '0') && !digits(at))
        return 0;
    if (character(at, '.') && !digits(at))
        return 0;
    if (**at == 'e' || **at == 'E') {
        ++*at;
        if (**at == '+' || **at == '-')
            ++*at;
        return digits(at);
    }
    return 1;
}

/* Values, or names with values, between two brackets. */
static int list(const char **at, char close, int named)
{
    ++*at;
    space(at);
    if (character(at, close))
        return 1;
    for (;;) {
        space(at);
        if (named) {
            if (!string(at))
                return 0;
            space(at);
            if (!character(at, ':'))
                return 0;
        }
        if (!value(at))
            return 0;
        if (character(at, close))
            return 1;
        if (!character(at, ','))
            return 0;
    }
}

static int value(const char **at)
{
    int is;
    space(at);
    switch (**at) {
    case '{':
        is = list(at, '}', 1);
        break;
    case '[':
        is = list(at, ']', 0);
        break;
    case '"':
        is = string(at);
        break;
    default:
        is = word(at, "true") || word(at, "false") || word(at, "null") || number(at);
    }
    space(at);
    return is;
}

const char *json_error(const char *text)
{
    const char *at = text;
    return value(&at) && !*at ? NULL : at;
}
