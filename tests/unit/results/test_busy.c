/* test_busy.c - when a machine was busy, and the sentence about that. */
#include "results/busy.h"

#include "tests/support/suite.h"

#include <stddef.h>

TEST(a_busy_machine_is_named_above_a_tenth_of_its_cores)
{
    static const struct {
        const char *json, *where, *words;
    } cases[] = {
        {"{}", "", ""},
        {"{\"other_processes\": {\"share\": null, \"machine_cores\": 2}}", "", ""},
        {"{\"other_processes\": {\"share\": 0.1, \"machine_cores\": 2}}", "", ""},
        {"{\"other_processes\": {\"cores\": 0.2}}", "", ""}, /* from an older program: 0.2 of 4 CPUs */
        {"{\"other_processes\": {\"cores\": 2.5}}", "",
         "Busy machine: other processes used 2.5 of 4 cores on average, so times are too long and differences between "
         "them may be chance."},
        {"{\"other_processes\": {\"share\": 0.3, \"machine_cores\": 8}}", " in night",
         "Busy machine: other processes used 2.4 of 8 cores on average in night, so times are too long and differences "
         "between them may be chance."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[BUSY_WORDS] = "before";
        const cJSON *summary = kept_json(cJSON_Parse(cases[i].json));
        const cJSON *run = kept_json(cJSON_Parse("{\"hosts\": [{\"pus\": 8}, {\"pus\": 4}]}"));
        ck_assert_str_eq(busy_sentence(text, busy_of(summary, run), cases[i].where), cases[i].words);
        ck_assert_int_eq(busy_is(busy_of(summary, run)), *cases[i].words != 0);
    }
}

SUITE("busy", NULL, NULL)
