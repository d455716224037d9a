/* test_library.c - loading a library's functions at run time. */
#include "kernels/library.h"
#include "tests/support/suite.h"

#include <string.h>

struct table {
    double (*first)(double);
    void *optional;
};

/* Opens a library with two functions, the second one optional if needed is 0. */
static const char *open_two(struct table *table, const char *file, const char *first, const char *second, int needed)
{
    const struct library_function functions[] = {{first, offsetof(struct table, first), 1},
                                                 {second, offsetof(struct table, optional), needed}};
    memset(table, 1, sizeof *table);
    return library_open(table, functions, 2, file);
}

TEST(functions_are_found)
{
    struct table table;
    ck_assert_ptr_null(open_two(&table, "libm.so.6", "sqrt", "no_such_function", 0));
    ck_assert_double_eq(table.first(16), 4);
    ck_assert_ptr_null(table.optional);
}

TEST(the_process_itself_is_searched_first)
{
    struct table table;
    ck_assert_ptr_null(open_two(&table, "libabsent.so.7", "malloc", "free", 1));
    ck_assert_ptr_nonnull(table.optional);
}

TEST(reasons_name_what_is_missing)
{
    struct table table;
    const char *why = open_two(&table, "libabsent.so.7", "no_function", "free", 1);
    ck_assert_msg(why && !strncmp(why, "libabsent.so.7: ", 16), "%s", why);
    why = open_two(&table, "libm.so.6", "sqrt", "no_such_function", 1);
    ck_assert_str_eq(why, "libm.so.6 has no no_such_function: it is too old");
}

SUITE("library", NULL, NULL)
