/* siblings.c - finds the processes of this host's ranks in /proc. */
#include "kernels/siblings.h"

#include "kernels/launcher.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char shown_format[] = "wait %lx"; /* a thread's name has at most 15 characters */

void siblings_show(pthread_t thread, long waits)
{
    char name[32];
    snprintf(name, sizeof name, shown_format, (unsigned long)waits);
    pthread_setname_np(thread, name);
}

/* Opens a file of a process in /proc, or returns NULL. */
static FILE *open_proc_file(int process, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/%.64s", process, name);
    return fopen(path, "r");
}

/* Returns the rank of a process; -1 if it is not a rank, or belongs to another user. */
static int read_rank(int process, const char *variable)
{
    FILE *file = open_proc_file(process, "environ");
    char *word = NULL;
    size_t room = 0, length = strlen(variable);
    int rank = -1;
    while (file && rank < 0 && getdelim(&word, &room, 0, file) > 0)
        if (!strncmp(word, variable, length) && word[length] == '=' && isdigit((unsigned char)word[length + 1]))
            rank = atoi(word + length + 1);
    if (file)
        fclose(file);
    free(word);
    return rank;
}

/* Reads the name, state and parent of a process. Returns 0; or -1 if the process has ended. */
static int read_state(int process, struct sibling *sibling, int *parent)
{
    FILE *file = open_proc_file(process, "stat");
    char line[512] = "", state = 0;
    size_t n = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    line[n] = 0;
    const char *begin = strchr(line, '('), *end = strrchr(line, ')'); /* a name may contain spaces and parentheses */
    if (!begin || !end || sscanf(end + 1, " %c %d", &state, parent) != 2)
        return -1;
    snprintf(sibling->program, sizeof sibling->program, "%.*s", (int)(end - begin - 1), begin + 1);
    sibling->stopped = state == 'T' || state == 't';
    return 0;
}

static int read_parent(int process)
{
    struct sibling ignored;
    int parent = 0;
    return read_state(process, &ignored, &parent) ? 0 : parent;
}

/* Returns the launcher on this host: the nearest ancestor that is not a rank itself; 0 if unknown, for example if /proc
 * belongs to another PID namespace. */
static int find_launcher(const char *variable)
{
    char self[16] = "";
    int process = readlink("/proc/self", self, sizeof self - 1) > 0 && atoi(self) == getpid() ? getpid() : 0;
    while (process > 0 && read_rank(process, variable) >= 0)
        process = read_parent(process);
    return process;
}

static int is_descendant(int process, int from)
{
    while (process > 0 && process != from)
        process = read_parent(process);
    return process == from;
}

static int runs_same_program(int process)
{
    char path[64];
    struct stat other, mine;
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    return !stat(path, &other) && !stat("/proc/self/exe", &mine) && other.st_dev == mine.st_dev &&
           other.st_ino == mine.st_ino;
}

/* Returns the number that siblings_show published in a process; -1: none. */
static long read_waits(int process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *tasks = opendir(path);
    long waits = -1;
    for (struct dirent *task; waits < 0 && tasks && (task = readdir(tasks));) {
        char comm[64], name[32] = "";
        snprintf(comm, sizeof comm, "task/%.20s/comm", task->d_name);
        FILE *file = isdigit((unsigned char)*task->d_name) ? open_proc_file(process, comm) : NULL;
        unsigned long shown;
        if (file && fgets(name, sizeof name, file) && sscanf(name, shown_format, &shown) == 1)
            waits = (long)shown;
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return waits;
}

/* Returns the weight of a process: the process with the largest weight represents its rank. */
static int weigh_process(const struct sibling *sibling)
{
    return sibling->process ? 1 + 2 * sibling->runs + 4 * (sibling->waits >= 0) : 0;
}

void siblings_find(struct sibling *sibling, int ranks)
{
    const char *variable = launcher_rank_variable();
    int launcher = variable ? find_launcher(variable) : 0, parent;
    memset(sibling, 0, (size_t)ranks * sizeof *sibling);
    DIR *processes = launcher > 0 ? opendir("/proc") : NULL;
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        struct sibling one = {.process = atoi(entry->d_name)};
        if (one.process <= 0 || read_state(one.process, &one, &parent) || !is_descendant(parent, launcher))
            continue;
        int rank = read_rank(one.process, variable); /* blocks while that process hangs in the kernel */
        if (rank < 0 || rank >= ranks)
            continue;
        one.waits = read_waits(one.process);
        one.runs = one.waits >= 0 || runs_same_program(one.process);
        if (weigh_process(&one) > weigh_process(&sibling[rank]))
            sibling[rank] = one;
    }
    if (processes)
        closedir(processes);
}

void siblings_kill(int rank, int ranks)
{
    struct sibling *sibling = calloc((size_t)ranks, sizeof *sibling);
    if (sibling)
        siblings_find(sibling, ranks);
    for (int r = 0; sibling && r < ranks; r++)
        sibling[r].runs = sibling[r].runs && r != rank && !kill(sibling[r].process, SIGKILL);
    for (int r = 0, tries = 0; sibling && r < ranks && tries < 200;) {
        if (sibling[r].runs && !kill(sibling[r].process, 0)) {
            usleep(10000);
            tries++;
        } else
            r++;
    }
    free(sibling);
}
