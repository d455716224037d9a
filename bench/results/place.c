/* place.c - where a run ran, from its run.json. */
#include "results/place.h"

#include "base/json.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>

static void replace_controls(char *text)
{
    for (char *c = text; *c; c++)
        *c = (char)(iscntrl((unsigned char)*c) ? ' ' : *c);
}

void place_machine(char *text, size_t size, const cJSON *run)
{
    const cJSON *gpu = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(run, "derived"), "gpu");
    const cJSON *hosts = cJSON_GetObjectItemCaseSensitive(run, "hosts"), *host = hosts ? hosts->child : NULL;
    snprintf(text, size, "%s", json_string(gpu ? gpu : host, gpu ? "name" : "cpu"));
    replace_controls(text);
}

struct place place_of(const cJSON *run)
{
    const cJSON *rank, *hosts = cJSON_GetObjectItemCaseSensitive(run, "hosts");
    struct place place = {0};
    cJSON_ArrayForEach(rank, cJSON_GetObjectItemCaseSensitive(run, "ranks"))
    {
        const cJSON *host = cJSON_GetObjectItemCaseSensitive(hosts, json_string(rank, "host"));
        if (json_number(rank, "machine") != (double)place.machines)
            continue; /* machines are numbered in the order of the ranks */
        place.machines++;
        place.cpus += json_count(host, "pus");
        place.memory_bytes += (double)json_count(host, "memory_bytes");
    }
    return place;
}

void place_link(char *text, size_t size, const cJSON *run)
{
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(run, "derived");
    const char *link = json_string(cJSON_GetObjectItemCaseSensitive(run, "environment"), "DDPBENCH_LINK");
    const char *comm = json_string(derived, "comm");
    size_t hosts = json_count(derived, "host_count");
    *text = 0;
    if (json_number(derived, "world_size") == 1)
        return;
    if (*link)
        snprintf(text, size, "%s", link);
    else if (*comm && hosts)
        snprintf(text, size, "%s on %zu host%s", comm, hosts, text_plural(hosts));
    replace_controls(text);
}
