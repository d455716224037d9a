/* busy.c - whether other processes used the machine while a run measured, and the sentence on it. */
#include "results/busy.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

struct busy busy_of(const cJSON *summary, const cJSON *run)
{
    const cJSON *others = cJSON_GetObjectItemCaseSensitive(summary, "other_processes");
    struct busy busy = {json_number(others, "share"), json_number(others, "machine_cores")};
    double fewest = INFINITY;
    if (cJSON_HasObjectItem(others, "share"))
        return busy;
    for (const cJSON *host = json_first(run, "hosts"); host; host = host->next)
        fewest = fmin(fewest, json_number(host, "pus"));
    return (struct busy){json_number(others, "cores") / fewest, fewest};
}

int busy_is(struct busy busy)
{
    return busy.share > BUSY_SHARE;
}

const char *busy_sentence(char text[BUSY_WORDS], struct busy busy, const char *where)
{
    *text = 0;
    if (busy_is(busy))
        snprintf(text, BUSY_WORDS,
                 "Busy machine: other processes used %.1f of %g cores on average%.250s, so times are too long and "
                 "differences between them may be chance.",
                 busy.share * busy.cores, busy.cores, where);
    return text;
}
