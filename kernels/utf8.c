/* utf8.c - classifies the characters of a text in UTF-8. */
#include "kernels/utf8.h"

int utf8_length(const char *text)
{
    static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *c = (const unsigned char *)text;
    int more = *c < 0x80 ? 0 : *c < 0xe0 ? 1 : *c < 0xf0 ? 2 : 3;
    unsigned code = more ? *c & (0x3fu >> more) : *c;
    if ((*c >= 0x80 && *c < 0xc0) || *c >= 0xf8)
        return 0;
    for (int i = 1; i <= more; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3f);
    }
    return code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : more + 1;
}

int utf8_character(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    /* 0xc2 and a byte below 0xa0 are U+0080 to U+009F, which are control characters, too */
    int control = *c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0);
    int none = control || (*c == 0xef && c[1] == 0xbf && c[2] >= 0xbe); /* the noncharacters U+FFFE and U+FFFF */
    return none ? 0 : utf8_length(text);
}
