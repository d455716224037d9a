/* control_group.c - reads the files of the control groups of this process. */
#include "kernels/control_group.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Visits one group, whose files are in `directory`, and adds what it finds to *result. version: 1 or 2. */
typedef void visit_group(const char *directory, int version, void *result);

/* Tests whether a list, "cpu,cpuacct", has the word. */
static int has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (; list; list = strchr(list, ',')) {
        list += *list == ',';
        if (!strncmp(list, word, length) && (list[length] == ',' || !list[length]))
            return 1;
    }
    return 0;
}

/* Visits this process's groups, from the innermost outwards. In a container `path` may be a path of the host, which
 * does not exist in the container. Then the top directory, visited last, is the container's group. */
static void visit_groups(const char *root, const char *controller, visit_group *visit, void *result)
{
    char *line = NULL, directory[PATH_MAX];
    size_t room = 0;
    snprintf(directory, sizeof directory, "%s/proc/self/cgroup", root);
    FILE *file = fopen(directory, "re");
    while (file && getline(&line, &room, file) > 0) { /* number:controllers:path */
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(++controllers, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        int version = *controllers ? 1 : 2;
        if (version == 1 && !has_word(controllers, controller))
            continue;
        for (char *end = path + (strcmp(path, "/") ? strlen(path) : 0); end; end = strrchr(path, '/')) {
            *end = 0;
            int length = snprintf(directory, sizeof directory, "%s/sys/fs/cgroup%s%s%s", root, version == 1 ? "/" : "",
                                  version == 1 ? controller : "", path);
            if (length < (int)sizeof directory)
                visit(directory, version, result);
        }
    }
    if (file)
        fclose(file);
    free(line);
}

enum { LINE = 256 };

/* Finds the first line that begins with `key` in a file of the group. Returns the rest of the line; NULL: no such line.
 */
static const char *read_line(const char *directory, const char *name, const char *key, char line[LINE])
{
    char path[PATH_MAX + 64];
    const char *found = NULL;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, LINE, file))
        found = strncmp(line, key, strlen(key)) ? NULL : line + strlen(key);
    if (file)
        fclose(file);
    return found;
}

/* Returns the number after `key`; NAN: there is none. */
static double read_number(const char *directory, const char *name, const char *key)
{
    char line[LINE];
    double number = NAN;
    const char *text = read_line(directory, name, key, line);
    return text && sscanf(text, "%lf", &number) == 1 ? number : NAN;
}

/* ---- memory ---- */

static void visit_memory(const char *directory, int version, void *result)
{
    static const char *const names[][3] = {{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "},
                                           {"memory.max", "memory.current", "inactive_file "}};
    const char *const *name = names[version - 1];
    double limit = read_number(directory, name[0], ""), used = read_number(directory, name[1], "");
    double spare = fmax(0, read_number(directory, "memory.stat", name[2])), *least = result; /* NAN counts as 0 */
    double left = limit - fmax(0, used - spare);
    if (!isnan(used) && left < *least) /* a group without a limit has "max" in place of a number, and left is NAN */
        *least = fmax(0, left);
}

size_t control_group_memory_left(const char *root)
{
    double left = INFINITY;
    visit_groups(root, "memory", visit_memory, &left);
    return left < (double)SIZE_MAX ? (size_t)left : SIZE_MAX;
}

/* ---- CPU quotas ---- */

struct quotas {
    struct control_group_quota *quota;
    int n;
};

static void visit_quota(const char *directory, int version, void *result)
{
    struct quotas *q = result;
    struct stat group;
    char line[LINE];
    double quota = -1, period = 0;
    const char *both = version == 2 ? read_line(directory, "cpu.max", "", line) : NULL;
    if (version == 1) {
        quota = read_number(directory, "cpu.cfs_quota_us", "");
        period = read_number(directory, "cpu.cfs_period_us", "");
    } else if (!both || sscanf(both, "%lf %lf", &quota, &period) != 2) /* no quota: "max 100000" */
        return;
    if (q->n < CONTROL_GROUP_QUOTAS && quota > 0 && period > 0 && !stat(directory, &group))
        q->quota[q->n++] = (struct control_group_quota){group.st_ino, quota / period}; /* the inode is the group's id */
}

int control_group_quotas(const char *root, struct control_group_quota quota[CONTROL_GROUP_QUOTAS])
{
    struct quotas quotas = {quota, 0};
    memset(quota, 0, CONTROL_GROUP_QUOTAS * sizeof *quota);
    visit_groups(root, "cpu", visit_quota, &quotas);
    return quotas.n;
}

double control_group_cpus(const char *root)
{
    struct control_group_quota quota[CONTROL_GROUP_QUOTAS];
    double least = INFINITY;
    for (int i = control_group_quotas(root, quota) - 1; i >= 0; i--)
        least = fmin(least, quota[i].cpus);
    return least;
}

/* Adds `more` to *sum; a NAN in either counts as 0 unless both are NAN. */
static void add(double *sum, double more)
{
    *sum = isnan(*sum) ? more : *sum + fmax(0, more);
}

static void visit_stops(const char *directory, int version, void *result)
{
    struct control_group_stops *stops = result;
    add(&stops->periods, read_number(directory, "cpu.stat", "nr_throttled "));
    add(&stops->ms, version == 2 ? 1e-3 * read_number(directory, "cpu.stat", "throttled_usec ")
                                 : 1e-6 * read_number(directory, "cpu.stat", "throttled_time "));
}

struct control_group_stops control_group_stops(const char *root)
{
    struct control_group_stops stops = {NAN, NAN};
    visit_groups(root, "cpu", visit_stops, &stops);
    return stops;
}

struct control_group_stops control_group_stops_between(struct control_group_stops before,
                                                       struct control_group_stops after)
{
    return (struct control_group_stops){fmax(0, after.periods - before.periods), fmax(0, after.ms - before.ms)};
}
