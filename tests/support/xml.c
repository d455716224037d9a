/* xml.c - queries an XML text with a real XML parser. */
#include "tests/support/xml.h"

#include "base/text.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Python script that parses the file argv[1] and prints the value of the expression argv[2], or an error. */
static const char script[] = "import sys, xml.etree.ElementTree as tree\n"
                             "root = tree.parse(sys.argv[1]).getroot()\n"
                             "def each(name): return list(root.iter(name))\n"
                             "print(eval(sys.argv[2]))\n";

char *xml_ask(const char *text, const char *expression)
{
    char path[] = "/tmp/test_xml_XXXXXX", answer[65536];
    if (system("command -v python3 >/dev/null")) {
        printf("skip - no python3 to parse XML\n");
        return NULL;
    }
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    FILE *words = printing();
    fprintf(words, "PYTHONIOENCODING=utf-8 python3 -c");
    text_print_word(words, script);
    text_print_word(words, path);
    text_print_word(words, expression);
    fprintf(words, " 2>&1");
    FILE *python = popen(printed(), "r");
    ck_assert_ptr_nonnull(python);
    size_t length = fread(answer, 1, sizeof answer - 1, python);
    answer[length ? length - 1 : 0] = 0;
    int status = pclose(python);
    unlink(path);
    ck_assert_msg(status == 0, "%.1000s\n%.3000s", answer, text);
    return kept(strdup(answer));
}
