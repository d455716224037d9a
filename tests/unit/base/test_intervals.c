/* test_intervals.c - differences with intervals as text: scale, marks, cut ends, words. */
#include "base/intervals.h"

#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct intervals all;

static void setup(void)
{
    all = (struct intervals){.what = "Difference to a in %", .band = "within 2 %", .within = 0.02};
    intervals_add(&all, "none", "control", '+', (struct measured){0.95, 0.94, 0.96});
    intervals_add(&all, "a", "best", '*', (struct measured){1, NAN, NAN});
    intervals_add(&all, "ddp_bucketed:4", "tie", '=', (struct measured){1.004, 0.996, 1.012});
    intervals_add(&all, "ddp", "undecided", 'o', (struct measured){1.01, 0.985, 1.04});
    intervals_add(&all, "ddp_flat", "slower", 'x', (struct measured){1.13, 1.1, 1.15});
}

static void teardown(void)
{
    free(all.row);
}

static const char *text(size_t most)
{
    intervals_scale(&all);
    intervals_print(printing(), &all, most);
    return printed();
}

/* The scale is -6.3 % to 15.75 %, in 53 columns: each number begins, and each mark and end stands, in the column of its
 * value. A line has 80 columns with the longest word. */
TEST(rows_stand_below_one_scale)
{
    ck_assert_str_eq(text(9), "\nDifference to a in %; between the colons: within 2 %\n"
                              "                  -5         0          +5         +10        +15 %\n"
                              "none            [-+--]   :   |    :                               control\n"
                              "a                        :   *    :                               best\n"
                              "ddp_bucketed:4           :  [-=-] :                               tie\n"
                              "ddp                      :[----o------]                           undecided\n"
                              "ddp_flat                 :   |    :                [------x---]   slower\n");
}

/* A row far away is cut at 3 times the median row's end, or at 10 times the band, so that others keep room. */
TEST(a_row_far_away_is_cut)
{
    intervals_add(&all, "far", "slower", 'x', (struct measured){9, 5, 40});
    intervals_add(&all, "wide", "undecided", 'o', (struct measured){1.1, 0.5, 3});
    const char *now = text(9);
    ck_assert(all.low >= -20 && all.low <= -19.9 && all.high <= 20 && all.high >= 19.9);
    check_has(now, ">  slower\n");
    check_has(now, "\nwide            <---");
    check_has(now, "--->  undecided\n");
    ck_assert_uint_eq(count_of(now, "x"), 1); /* a mark beyond the scale is not drawn elsewhere */
    check_has(text(6), "slower\n... (1 more)\n");
    for (const char *line = now; *line; line += strcspn(line, "\n") + 1)
        ck_assert_uint_le(strcspn(line, "\n"), 80);
}

TEST(without_intervals_nothing_is_printed)
{
    free(all.row);
    all = (struct intervals){.within = 0.02};
    intervals_add(&all, "a", "best", '*', (struct measured){1, NAN, NAN});
    intervals_add(&all, "b", "undecided", 'o', (struct measured){1.1, NAN, NAN});
    intervals_add(&all, "unknown", "undecided", 'o', (struct measured){NAN, NAN, NAN});
    ck_assert_uint_eq(all.n, 2);
    ck_assert_str_eq(text(9), "");
}

TEST(the_finding_is_in_words)
{
    char words[300];
    ck_assert_str_eq(intervals_finding(words, sizeof words, &all, 9),
                     "a is the best; ddp_bucketed:4 is a tie; ddp is undecided; ddp_flat (+13.0 %) is slower");
    ck_assert_str_eq(intervals_finding(words, sizeof words, &all, 1),
                     "a is the best; ddp_bucketed:4 is a tie; ddp is undecided; ddp_flat (+13.0 %) is slower");
    intervals_add(&all, "b", "slower", 'x', (struct measured){1.2, NAN, NAN});
    intervals_add(&all, "c", "tie", '=', (struct measured){1, NAN, NAN});
    intervals_add(&all, "d", "slower", 'x', (struct measured){1.3, NAN, NAN});
    intervals_add(&all, "none", "control", '+', (struct measured){0.9, NAN, NAN});
    ck_assert_str_eq(
        intervals_finding(words, sizeof words, &all, 2),
        "a is the best; ddp_bucketed:4 and c are ties; ddp is undecided; ddp_flat (+13.0 %), b (+20.0 %) and "
        "1 more are slower");
}

SUITE("intervals", setup, teardown)
