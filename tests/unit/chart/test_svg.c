/* test_svg.c - the elements of a picture, colours that all readers can distinguish, and texts that fit. */
#include "chart/svg.h"

#include "base/text.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text; /* what was drawn; NULL: not finished */
static FILE *out;

static void setup(void)
{
    text = NULL;
    out = printing();
}

static void end_text(void)
{
    text = text ? text : printed();
}

static void expect(const char *words)
{
    end_text();
    check_has(text, words);
}

/* ---- elements ---- */

TEST(elements_are_written)
{
    svg_begin(out, 99.5, "a < b", "\"c\"");
    svg_text(out, 1.25, 2, SVG_END, "bold", "<b>\"&'\x01");
    svg_line(out, 1, 2, 3, 4, "grid", SVG_INK);
    svg_rect(out, 1, 2, -3, 4, "area", 3);
    svg_circle(out, 10, 20, 5, "line", SVG_COLOURS + 1);
    svg_end(out);
    expect("</style>\n<rect x=\"0\" y=\"0\" width=\"820\" height=\"100\" class=\"dp-page\"/>\n"
           "<text x=\"1.3\" y=\"2\" text-anchor=\"end\" class=\"dp-text dp-bold\">"
           "&lt;b&gt;&quot;&amp;&#39;?</text>\n"
           "<line x1=\"1\" y1=\"2\" x2=\"3\" y2=\"4\" class=\"dp-grid\"/>\n"
           "<rect x=\"1\" y=\"2\" width=\"0\" height=\"4\" class=\"dp-area dp-c3\"/>\n"
           "<circle cx=\"10\" cy=\"20\" r=\"5\" class=\"dp-line dp-c1\"/>\n"
           "</svg>\n");
    ck_assert_ptr_eq(strstr(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dp\" role=\"img\" "
                                  "viewBox=\"0 0 820 100\" width=\"820\" height=\"100\">\n<title>a &lt; b</title>\n"
                                  "<desc>&quot;c&quot;</desc>\n<style>\n"),
                     text);
}

TEST(numbers_have_one_decimal)
{
    static const struct {
        double value;
        const char *words;
    } known[] = {{0, "0"},   {-0.04, "0"},    {-0.0, "0"},      {0.05, "0.1"},      {12.34, "12.3"}, {-7.96, "-8"},
                 {NAN, "0"}, {INFINITY, "0"}, {1e300, "99999"}, {-1e300, "-99999"}, {819.96, "820"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        setup();
        svg_number(out, known[i].value);
        end_text();
        ck_assert_str_eq(text, known[i].words);
    }
}

/* ---- the style sheet ---- */

struct rgb {
    double of[3]; /* linear red, green and blue */
};

/* Returns the colour after the n-th occurrence (from 0) of `before` in the style sheet. */
static struct rgb colour(const char *before, int n)
{
    const char *found = svg_style;
    unsigned value = 0;
    struct rgb rgb;
    for (int i = 0; i <= n; i++) {
        found = strstr(found, before);
        ck_assert_msg(found != NULL, "%s", before);
        found += strlen(before);
    }
    ck_assert_int_eq(sscanf(strchr(found - 1, '#'), "#%6x", &value), 1);
    for (int i = 0; i < 3; i++) {
        double c = (value >> (16 - 8 * i) & 255) / 255.0;
        rgb.of[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    return rgb;
}

/* Returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.1, 1.4.3). */
static double contrast(struct rgb a, struct rgb b)
{
    double x = 0.2126 * a.of[0] + 0.7152 * a.of[1] + 0.0722 * a.of[2];
    double y = 0.2126 * b.of[0] + 0.7152 * b.of[1] + 0.0722 * b.of[2];
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

TEST(colours_stand_out)
{
    static const char *const dark_on[] = {".dp-on1,.dp-on2,.dp-on8,.dp-on9{",
                                          ".dp-on0,.dp-on1,.dp-on2,.dp-on3,.dp-on5,.dp-on7{"};
    static const char *const light_on[] = {".dp-on0,.dp-on3,.dp-on4,.dp-on5,.dp-on6,.dp-on7{",
                                           ".dp-on4,.dp-on6,.dp-on8,.dp-on9{"};
    end_text();
    for (int dark = 0; dark < 2; dark++) {
        struct rgb page = colour(".dp-page{fill:", dark);
        ck_assert_double_ge(contrast(page, colour(".dp-text{", dark)), 7);
        ck_assert_double_ge(contrast(page, colour(".dp-muted{", dark)), 4.5);
        for (int i = 0; i < SVG_COLOURS; i++) {
            char name[32], on[32];
            snprintf(name, sizeof name, ".dp-c%d{", i);
            snprintf(on, sizeof on, ".dp-on%d", i);
            struct rgb area = colour(name, dark);
            const char *place = strstr(dark_on[dark], on), *other = strstr(light_on[dark], on);
            ck_assert_msg(!place != !other, "colour %d needs either dark or light text", i);
            ck_assert_msg(contrast(page, area) >= 3, "%s (dark %d) is too close to the page", name, dark);
            ck_assert_msg(contrast(area, colour(place ? dark_on[dark] : light_on[dark], 0)) >= 4.5, "%s %d", on, dark);
        }
    }
}

/* Converts linear RGB to Oklab times 100 (Ottosson, A perceptual color space for image processing, 2020). */
static void perceived(const double rgb[3], double lab[3])
{
    static const double first[3][3] = {{0.4122214708, 0.5363325363, 0.0514459929},
                                       {0.2119034982, 0.6806995451, 0.1073969566},
                                       {0.0883024619, 0.2817188376, 0.6299787005}};
    static const double second[3][3] = {{0.2104542553, 0.7936177850, -0.0040720468},
                                        {1.9779984951, -2.4285922050, 0.4505937099},
                                        {0.0259040371, 0.7827717662, -0.8086757660}};
    double cone[3];
    for (int i = 0; i < 3; i++)
        cone[i] = cbrt(first[i][0] * rgb[0] + first[i][1] * rgb[1] + first[i][2] * rgb[2]);
    for (int i = 0; i < 3; i++)
        lab[i] = 100 * (second[i][0] * cone[0] + second[i][1] * cone[1] + second[i][2] * cone[2]);
}

/* Checks that colours first to first + n - 1 are at least that far apart in Oklab times 100, for normal vision and for
 * eyes without red, green or blue cones (Machado, Oliveira and Fernandes, IEEE TVCG 15 (2009) 1291-1298, severity 1); a
 * just noticeable difference is 2. */
static void check_distances(int first, int n, double least)
{
    static const double eye[4][3][3] = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
        {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
        {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};
    for (int dark = 0; dark < 2; dark++)
        for (int e = 0; e < 4; e++) {
            double lab[SVG_COLOURS][3];
            for (int i = 0; i < n; i++) {
                char name[32];
                double seen[3];
                snprintf(name, sizeof name, ".dp-c%d{", first + i);
                struct rgb c = colour(name, dark);
                for (int k = 0; k < 3; k++)
                    seen[k] =
                        fmax(0, fmin(1, eye[e][k][0] * c.of[0] + eye[e][k][1] * c.of[1] + eye[e][k][2] * c.of[2]));
                perceived(seen, lab[i]);
                for (int j = 0; j < i; j++) {
                    double d = hypot(hypot(lab[i][0] - lab[j][0], lab[i][1] - lab[j][1]), lab[i][2] - lab[j][2]);
                    ck_assert_msg(d >= least, "colours %d and %d, dark %d, eye %d: %.1f", j, i, dark, e, d);
                }
            }
        }
}

/* Colours of heat may be closer to their neighbours: they form a scale, and most have a number beside them. */
TEST(colours_differ_for_everyone)
{
    end_text();
    check_distances(0, SVG_COLOURS, 9);
    check_distances(SVG_HEAT, 8, 4);
}

TEST(numbers_on_heat_are_readable)
{
    static const char *const dark_on[] = {".dp-on100,.dp-on101,.dp-on102,.dp-on103,.dp-on104,.dp-on105{",
                                          ".dp-on105,.dp-on106{"};
    static const char *const light_on[] = {".dp-on106{", ".dp-on100,.dp-on101,.dp-on102,.dp-on103,.dp-on104{"};
    end_text();
    for (int dark = 0; dark < 2; dark++)
        for (int i = SVG_HEAT; i < SVG_HEAT + 7; i++) {
            char name[32], on[32];
            snprintf(name, sizeof name, ".dp-c%d{", i);
            snprintf(on, sizeof on, ".dp-on%d", i);
            const char *text_on = strstr(dark_on[dark], on) ? dark_on[dark] : light_on[dark];
            check_has(text_on, on);
            ck_assert_msg(contrast(colour(name, dark), colour(text_on, 0)) >= 4.5, "%s %d", on, dark);
        }
}

/* Every rule of the style sheet applies to pictures only, since the page around them has rules of its own. */
TEST(rules_are_of_pictures_alone)
{
    end_text();
    for (const char *c = svg_style; *c; c = strchr(c, '\n') + 1) {
        const char *end = strchr(c, '{');
        if (!strncmp(c, "@media (prefers-color-scheme:dark){\n", 36) || *c == '}')
            continue;
        ck_assert_ptr_nonnull(end);
        for (const char *name = c; name < end; name = strpbrk(name, ",{") + 1)
            ck_assert_msg(!strncmp(name, ".dp-", 4) || !strncmp(name, ".dp{", 4), "%.40s", name);
    }
    ck_assert_ptr_null(strpbrk(svg_style, "<&"));
    check_lacks(svg_style, "url(");
}

/* ---- texts ---- */

TEST(paragraphs_are_wrapped)
{
    double end = svg_paragraph(out, 10, 20, 100, SVG_TEXT, "muted", "aaaa bbbb cccc dddd");
    end_text();
    ck_assert_str_eq(text, "<text x=\"10\" y=\"20\" class=\"dp-text dp-muted\">aaaa bbbb</text>\n"
                           "<text x=\"10\" y=\"41\" class=\"dp-text dp-muted\">cccc dddd</text>\n");
    ck_assert_double_eq(end, 62);
}

/* For any words, lines of a paragraph fit the width, only spaces are dropped, and no character is cut. */
TEST(no_line_is_too_wide)
{
    static const char *const hostile[] = {"wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
                                          "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
                                          "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",
                                          "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80",
                                          "     a     ",
                                          ""};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        size_t letters = 0, shown = 0;
        setup();
        svg_paragraph(out, 0, 20, 60, SVG_TEXT, "", hostile[i]);
        end_text();
        for (const char *c = hostile[i]; *c; c++)
            letters += *c != ' ';
        for (const char *line = text; (line = strchr(line, '>')); line = strchr(line, '\n')) {
            char words[200];
            snprintf(words, sizeof words, "%.*s", (int)strcspn(line + 1, "<"), line + 1);
            ck_assert_double_le(svg_text_width(words, SVG_TEXT), 60);
            ck_assert_uint_eq(text_make_utf8(words), 0);
            for (const char *c = words; *c; c++)
                shown += *c != ' ';
        }
        ck_assert_uint_eq(shown, letters);
    }
}

TEST(labels_are_shortened)
{
    char label[SVG_LABEL], many[1000];
    end_text();
    ck_assert_str_eq(svg_shorten(label, "short", SVG_TEXT, 100), "short");
    ck_assert_str_eq(svg_shorten(label, NULL, SVG_TEXT, 100), "");
    ck_assert_str_eq(svg_shorten(label, "aaaaaaaaaaaaaaaa", SVG_TEXT, 60), "aaaa\xe2\x80\xa6");
    for (size_t i = 0; i < sizeof many - 1; i++)
        many[i] = i % 2 ? '\xa9' : '\xc3';
    many[sizeof many - 1] = 0;
    svg_shorten(label, many, SVG_TEXT, 1e9);
    ck_assert_uint_lt(strlen(label), sizeof label);
    ck_assert_uint_eq(text_make_utf8(label), 0);
    ck_assert_double_le(svg_text_width(svg_shorten(label, many, SVG_TEXT, 100), SVG_TEXT), 100 + SVG_TEXT);
}

SUITE("svg", setup, NULL)
