/* forms.c - writes what a command shows in other formats. */
#include "document/document.h"

#include "base/text.h"
#include "kernels/error.h"

#include <stdlib.h>
#include <string.h>

void forms_print_text(FILE *out, const void *shown)
{
    document_print_text(out, *(cJSON *const *)shown);
}

void forms_print_markdown(FILE *out, const void *shown)
{
    document_print_markdown(out, *(cJSON *const *)shown);
}

void forms_print_html(FILE *out, const void *shown)
{
    document_print_html(out, *(cJSON *const *)shown);
}

static int is_printed(const char *path)
{
    return !strcmp(path, "-");
}

int forms_check_printed(const struct form *form, const char *const *path, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (is_printed(path[i]) && is_printed(path[k]))
                return error_report("--%s and --%s: only one can be printed", form[k].option, form[i].option);
    return 0;
}

int forms_check(const struct form *form, const char *const *path, size_t n, const struct named_path *more, size_t m)
{
    struct named_path *all = allocate(n + m, sizeof *all);
    for (size_t i = 0; i < n + m; i++)
        all[i] = i < n ? (struct named_path){form[i].option, path[i], form[i].mark} : more[i - n];
    int status = files_check_named(all, n + m);
    free(all);
    return status;
}

int forms_write(const struct form *form, const char *const *path, size_t n, const void *shown)
{
    int status = 0;
    for (size_t i = 0; i < n && !status; i++) {
        char *text;
        size_t length;
        if (!*path[i] || is_printed(path[i]))
            continue;
        FILE *out = text_begin(&text, &length);
        form[i].print(out, shown);
        text_end(out);
        status = files_replace_named((struct named_path){form[i].option, path[i], form[i].mark}, text);
        free(text);
    }
    return status;
}

int forms_print(const struct form *form, const char *const *path, size_t n, const void *shown,
                void (*print_text)(FILE *out, const void *shown))
{
    void (*print)(FILE * out, const void *shown) = print_text;
    for (size_t i = 0; i < n; i++)
        print = is_printed(path[i]) ? form[i].print : print;
    print(stdout, shown);
    return files_flush_stdout();
}
