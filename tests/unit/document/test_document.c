/* test_document.c - documents as text, Markdown and HTML: each kind of element, and names that could break them. */
#include "base/json.h"
#include "base/text.h"
#include "document/document.h"
#include "kernels/utf8.h"
#include "tests/support/suite.h"
#include "tests/support/xml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const char *name;
    double seconds, interval[2];
};

#define FIELD(field) offsetof(struct run, field)
static const struct column columns[] = {
    {.key = "name", .heading = "run", .kind = COLUMN_NAME, .offset = FIELD(name), .width = -8},
    {.key = "step", .heading = "step\nms", .kind = COLUMN_REAL, .offset = FIELD(seconds), .scale = 1e3, .decimals = 1},
    {.key = "ci",
     .heading = "95 %",
     .kind = COLUMN_INTERVAL,
     .offset = FIELD(interval),
     .scale = 1e3,
     .width = -1,
     .decimals = 1},
    {.key = "hidden", .kind = COLUMN_REAL, .offset = FIELD(seconds)}};

static const struct run runs[] = {
    {"ddp", 0.0125, {0.012, 0.013}}, {"ddp_flat", NAN, {NAN, NAN}}, {"not shown", 0.1, {NAN, NAN}}};
static const struct table table = {.key = "runs",
                                   .title = "Steps of `ddp`",
                                   TABLE_COLUMNS(columns),
                                   .row = runs,
                                   .rows = 3,
                                   .row_bytes = sizeof *runs,
                                   .shown = 2,
                                   .note = {"*: the best.", "= of `none`."}};

static cJSON *document;

static void create(void)
{
    document = document_create("A title");
}

static void destroy(void)
{
    cJSON_Delete(document);
}

/* Returns the document as `print` writes it. */
static const char *form(void (*print)(FILE *out, const cJSON *document))
{
    print(printing(), document);
    return printed();
}

static void prints(void (*print)(FILE *out, const cJSON *document), const char *expected)
{
    ck_assert_str_eq(form(print), expected);
}

/* Checks the value of a Python expression about the HTML, parsed as XML. Exits if python3 is missing. */
static void html_has(const char *expression, const char *expected)
{
    const char *answer = xml_ask(form(document_print_html), expression);
    if (!answer)
        exit(0);
    ck_assert_str_eq(answer, expected);
}

/* Adds every kind of block to the document. */
static void add_all(void)
{
    document_add_paragraph(document, "Step %d of `%s` [1.0, 2.0] takes %.1f ms.", 1, "ddp", 2.5);
    document_add_heading(document, "Where the time goes");
    document_add_item(document, "%s", "one");
    document_add_item(document, "%s", "two");
    document_add_heading(document, "Part");
    document_add_table(document, &table);
    document_add_picture(document, "step time", "Steps, in ms", strdup("<svg><g/></svg>\n"));
    document_add_heading(document, "Where the time goes");
}

TEST(a_document_as_text)
{
    add_all();
    prints(document_print_text, "A title\n"
                                "=======\n"
                                "\n"
                                "Step 1 of `ddp` [1.0, 2.0] takes 2.5 ms.\n"
                                "\n"
                                "Where the time goes\n"
                                "-------------------\n"
                                "\n"
                                "- one\n"
                                "- two\n"
                                "\n"
                                "Part\n"
                                "----\n"
                                "\n"
                                "Steps of `ddp`\n"
                                "run      step 95 %\n"
                                "           ms\n"
                                "ddp      12.5 [12.0, 13.0]\n"
                                "ddp_flat  N/A\n"
                                "... (1 more in report.json, which --json or --output writes)\n"
                                "*: the best.\n"
                                "= of `none`.\n"
                                "\n"
                                "Where the time goes\n"
                                "-------------------\n");
}

TEST(a_document_as_markdown)
{
    add_all();
    prints(document_print_markdown, "# A title\n"
                                    "\n"
                                    "Step 1 of `ddp` [1.0, 2.0] takes 2.5 ms.\n"
                                    "\n"
                                    "## Where the time goes\n"
                                    "\n"
                                    "- one\n"
                                    "- two\n"
                                    "\n"
                                    "## Part\n"
                                    "\n"
                                    "**Steps of `ddp`**\n"
                                    "\n"
                                    "| run | step ms | 95 % |\n"
                                    "|---|---:|---|\n"
                                    "| ddp | 12.5 | [12.0, 13.0] |\n"
                                    "| ddp_flat | N/A |  |\n"
                                    "\n"
                                    "... (1 more in report.json, which --json or --output writes)\n"
                                    "\n"
                                    "\\*: the best.\\\n"
                                    "\\= of `none`.\n"
                                    "\n"
                                    "![Steps, in ms](pictures/step%20time.svg)\n"
                                    "\n"
                                    "## Where the time goes\n");
}

TEST(a_document_as_html)
{
    add_all();
    html_has("[e.text for e in each('title') + each('h1') + each('h2')]",
             "['A title', 'A title', 'Where the time goes', 'Part', 'Where the time goes']");
    html_has("root.get('lang'), [e.get('charset') for e in each('meta')][0]", "('en', 'utf-8')");
    html_has("[''.join(e.itertext()) for e in each('li')]",
             "['Where the time goes', 'Part', 'Where the time goes', 'one', 'two']");
    html_has("[e.get('href') for e in each('a')] == ['#' + e.get('id') for e in each('h2')]", "True");
    html_has("len({e.get('id') for e in each('h2')})", "3"); /* though two headings have the same words */
    html_has("[e.text for e in each('code')]", "['ddp', 'ddp', 'none']");
    html_has("[' '.join(e.itertext()) for e in each('th')]", "['run', 'step ms', '95 %']");
    html_has("[e.text or '' for e in each('td')]", "['ddp', '12.5', '[12.0, 13.0]', 'ddp_flat', 'N/A', '']");
    html_has("[e.get('class') for e in each('td')][:3]", "['left', None, 'left']");
    html_has("[''.join(e.itertext()) for e in each('p')][1:]",
             "['... (1 more in report.json, which --json or --output writes)', '*: the best.', '= of none.']");
    html_has("[[child.tag for child in e] for e in each('div')]", "[['table'], ['svg']]");
    html_has("[e.text for e in each('figcaption') if e.get('class') == 'narrow']", "['Steps, in ms']");
    html_has("[[child.tag for child in e] for e in each('figure')]",
             "[['figcaption', 'div', 'p', 'p', 'p'], ['figcaption', 'div']]");
}

TEST(a_list_may_be_last)
{
    document_add_item(document, "last");
    prints(document_print_text, "A title\n=======\n\n- last\n");
    prints(document_print_markdown, "# A title\n\n- last\n");
    html_has("[e.text for e in root[1].find('main').find('ul')]", "['last']");
    html_has("len(each('nav'))", "0"); /* no sections to navigate to */
}

/* The HTML loads and runs nothing: no element does so, the style sheet has no URL, and a security policy forbids it. */
TEST(html_needs_nothing_else)
{
    add_all();
    html_has("sorted({e.tag for e in root.iter()})",
             "['a', 'body', 'code', 'div', 'figcaption', 'figure', 'footer', 'g', 'h1', 'h2', 'head', "
             "'html', 'li', 'main', 'meta', 'nav', 'p', 'style', 'svg', 'table', 'tbody', 'td', 'th', 'thead', "
             "'title', 'tr', 'ul']");
    html_has("[key for e in root.iter() for key in e.keys() if key in ('src', 'href') and e.tag != 'a']", "[]");
    html_has("[word in each('style')[0].text for word in ('url', '@import', ':root')]", "[False, False, True]");
    html_has("[e.get('content') for e in each('meta')][1]", "default-src 'none'; style-src 'unsafe-inline'");
}

/* ---- names that try to break the formats ---- */

static const struct {
    const char *name, *seen; /* seen: the name as shown to a reader; NULL: unchanged */
    const char *markdown;    /* the name as a cell of a table */
    const char *item;        /* the name as an item of a list, if different */
} nasty[] = {
    {"<script>alert(1)</script>", NULL, "&lt;script&gt;alert(1)&lt;/script&gt;", NULL},
    {"a | b |", NULL, "a \\| b \\|", NULL},
    {"\\| \\", NULL, "\\\\\\| \\\\", NULL},
    {"`<img src=x>` and ` alone", NULL, "\\`&lt;img src=x&gt;\\` and \\` alone", "`<img src=x>` and \\` alone"},
    {"![x](http://x) [x]: y", NULL, "\\![x\\](http\\://x) [x\\]: y", NULL},
    {"[x]: y", NULL, "[x\\]: y", "\\[x\\]: y"},
    {"</td></table> &amp; <!-- ]]>", NULL, "&lt;/td&gt;&lt;/table&gt; &amp;amp; &lt;\\!-- ]]&gt;", NULL},
    {"\"quoted\" and 'quoted' onload=x", NULL, "\"quoted\" and 'quoted' onload=x", NULL},
    {"\x1b[2J\x01\x7f\xc2\x9b", "?[2J????", "?[2J????", NULL},
    {"one\n\n## two\n<b>", "one  ## two <b>", "one  \\#\\# two &lt;b&gt;", NULL},
    {"\xff\xc3 \xe2\x82", "?? ??", "?? ??", NULL},
    {"**a** _b_ c_d", NULL, "\\*\\*a\\*\\* \\_b\\_ c_d", NULL},
    {"~~c~~ $d$ #1 @user @ 2 www.x.org", NULL, "\\~\\~c\\~\\~ \\$d\\$ \\#1 @<!-- -->user @ 2 www\\.x.org", NULL},
    {"- a", NULL, "- a", "\\- a"},
    {"12. a", NULL, "12. a", "12\\. a"}};
enum { NASTY = sizeof nasty / sizeof *nasty };

/* Adds blocks with this name in every place, without cleaning it by json_text: as in a file edited by hand. */
static void add_nasty(const char *name)
{
    static const char *const kinds[] = {"heading", "paragraph", "item"};
    const struct run two[] = {{"x", 1, {0.9, 1.1}}, {"x", 1, {NAN, NAN}}};
    struct table one = table;
    one.row = two;
    one.rows = 2;
    one.shown = 1;
    document_add_table(document, &one);
    cJSON *blocks = cJSON_GetObjectItem(document, "blocks"), *json = cJSON_GetObjectItem(blocks->child->prev, "table");
    cJSON_ReplaceItemInObject(json, "title", cJSON_CreateString(name));
    cJSON_AddItemToArray(cJSON_GetObjectItem(json, "notes"), cJSON_CreateString(name));
    cJSON_ReplaceItemInObject(json, "rest", cJSON_CreateString(name));
    cJSON_ReplaceItemInObject(cJSON_GetObjectItem(json, "columns")->child, "heading", cJSON_CreateString(name));
    cJSON_ReplaceItemInObject(cJSON_GetObjectItem(json, "rows")->child, "name", cJSON_CreateString(name));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        cJSON *block = json_add_row(blocks);
        json_add_text(block, "kind", kinds[i]);
        cJSON_AddStringToObject(block, "text", name);
    }
    document_add_picture(document, name, name, strdup("<svg/>"));
}

TEST(names_cannot_break_html)
{
    FILE *out = printing();
    for (int i = 0; i < NASTY; i++) {
        add_nasty(nasty[i].name);
        fprintf(out, "%s%s", i ? "\n" : "", nasty[i].seen ? nasty[i].seen : nasty[i].name);
    }
    const char *seen = printed();
    cJSON_ReplaceItemInObject(document, "title", cJSON_CreateString(nasty[0].name));
    html_has("sorted({e.tag for e in root.iter()})",
             "['a', 'body', 'code', 'div', 'figcaption', 'figure', 'footer', 'h1', 'h2', 'head', 'html', 'li', "
             "'main', 'meta', 'nav', 'p', 'style', 'svg', 'table', 'tbody', 'td', 'th', 'thead', 'title', "
             "'tr', 'ul']");
    html_has("sorted({key for e in root.iter() for key in e.keys()})",
             "['aria-label', 'charset', 'class', 'content', 'href', 'http-equiv', 'id', 'lang', 'name', 'scope']");
    html_has("{c for e in each('h2') for c in e.get('id') if not c in 'abcdefghijklmnopqrstuvwxyz0123456789-'}",
             "set()");
    html_has("'\\n'.join(e.text for e in each('td')[::3])", seen);
    html_has("'\\n'.join(e.text for e in each('h2'))", seen);
    html_has("'\\n'.join(''.join(e.itertext()) for e in each('li')).replace('`', '') == "
             "'\\n'.join(2 * [e.text.replace('`', '') for e in each('h2')])",
             "True");
}

/* Text output has no control characters, which could move a terminal's cursor or change what is shown. */
TEST(names_cannot_break_text)
{
    for (int i = 0; i < NASTY; i++) {
        add_nasty(nasty[i].name);
        const char *text = form(document_print_text);
        for (const char *c = text; *c; c += utf8_character(c) ? utf8_character(c) : 1)
            ck_assert_msg(utf8_character(c) || *c == '\n', "%s: byte %d", text, *c);
        destroy();
        create();
    }
}

TEST(columns_without_anything_are_left_out)
{
    const struct run none[] = {{"", NAN, {NAN, NAN}}, {"", 2, {NAN, NAN}}, {"x", 1, {0.9, 1.1}}};
    struct table one = table; /* a copy of the table that shows two rows */
    one.row = none;
    document_add_table(document, &one);
    prints(document_print_text, "A title\n=======\n\nSteps of `ddp`\n  step\n    ms\n   N/A\n2000.0\n"
                                "... (1 more in report.json, which --json or --output writes)\n"
                                "*: the best.\n= of `none`.\n");
}

/* Checks that the text has a line that consists of `begin`, `line` and `end`. */
static void has_line(const char *text, const char *begin, const char *line, const char *end)
{
    char whole[400];
    snprintf(whole, sizeof whole, "\n%s%s%s", begin, line, end);
    check_has(text, whole);
}

TEST(names_cannot_break_markdown)
{
    for (int i = 0; i < NASTY; i++) {
        const char *cell = nasty[i].markdown, *item = nasty[i].item ? nasty[i].item : cell;
        add_nasty(nasty[i].name);
        const char *text = form(document_print_markdown);
        has_line(text, "| ", cell, " | step ms | 95 % |\n|---|---:|---|\n");
        has_line(text, "| ", cell, " | 1000.0 | [900.0, 1100.0] |\n");
        has_line(text, "- ", item, "\n");
        has_line(text, "## ", cell, "\n");
        has_line(text, "... (1 more in ", cell, ")\n");
        for (const char *c = text; *c; c++)
            ck_assert_msg(!utf8_character(c) == (*c == '\n' || *c & 0x80), "%s", text);
        destroy();
        create();
    }
}

/* No backquote ends code early, and no bracket ends the title of a picture early. */
TEST(code_and_pictures_stay_closed)
{
    document_add_paragraph(document, "a `` b ``c`` `d\ne`");
    document_add_picture(document, "../a b)(`", "a ] [ b", strdup("<svg/>\n"));
    prints(document_print_markdown, "# A title\n\n"
                                    "a \\`\\` b \\`\\`c\\`\\` `d e`\n\n"
                                    "![a \\] \\[ b](pictures/..%2Fa%20b%29%28%60.svg)\n");
    html_has("[e.text for e in each('code')]", "['d e']");
}

/* A saved table is copied into the document; JSON that is not a table prints nothing. */
TEST(saved_tables)
{
    cJSON *saved = table_json(&table), *none = cJSON_CreateObject();
    document_add_saved_table(document, saved);
    document_add_saved_table(document, none);
    cJSON_Delete(saved);
    cJSON_Delete(none);
    const char *text = form(document_print_text), *markdown = form(document_print_markdown);
    check_has(text, "... (1 more in summary.json)\n");
    check_has(markdown, "... (1 more in summary.json)\n");
    html_has("len(each('table')), len(each('figure'))", "(1, 1)");
}

SUITE("document", create, destroy)
