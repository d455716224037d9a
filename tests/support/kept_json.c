/* kept_json.c - JSON values that are freed when a test ends; apart from suite.c, since most tests do not link cJSON. */
#include "tests/support/suite.h"

#include <cJSON.h>

static void release(void *json)
{
    cJSON_Delete(json);
}

cJSON *kept_json(cJSON *json)
{
    return kept_until_end(json, release);
}
