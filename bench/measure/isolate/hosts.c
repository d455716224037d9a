/* hosts.c - which hosts to use, and which to leave out. */
#include "isolate/output.h"

#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>

static int host_of(const struct outcome *o, int member)
{
    return o->member[member].host;
}

/* Returns whether a fault is of a pair of two hosts, neither of which is left out. */
static int is_unsettled(const struct outcome *o, const char *left_out, const struct fault *f)
{
    return f->other >= 0 && !f->open && !left_out[host_of(o, f->member)] && !left_out[host_of(o, f->other)];
}

/* Returns whether a series of the member is undecided, whatever its faults are. */
static int is_undecided(const struct outcome *o, int member)
{
    return diagnosis_member(o->diagnosis, NULL, 0, member) == MEMBER_UNDECIDED;
}

/* Returns the weight of the reasons to leave out a host: first its unsettled faults, then its undecided members. */
static int weigh_reasons(const struct outcome *o, const char *left_out, int host)
{
    int n = 0;
    for (const struct fault *f = o->fault; f < o->fault + o->faults; f++)
        if (is_unsettled(o, left_out, f) && (host_of(o, f->member) == host || host_of(o, f->other) == host))
            n += o->members + 1;
    for (int m = 0; m < o->members; m++)
        n += host_of(o, m) == host && is_undecided(o, m);
    return n;
}

char *hosts_leave_out(const struct outcome *o)
{
    char *left_out = allocate((size_t)o->members, 1);
    for (const struct fault *f = o->fault; f < o->fault + o->faults; f++)
        if (!f->open && (f->other < 0 || host_of(o, f->member) == host_of(o, f->other)))
            left_out[host_of(o, f->member)] = 1;
    for (const struct fault *f = o->fault; f < o->fault + o->faults; f++) {
        if (!is_unsettled(o, left_out, f))
            continue;
        int first = host_of(o, f->member), second = host_of(o, f->other);
        int is_first = weigh_reasons(o, left_out, first) > weigh_reasons(o, left_out, second);
        left_out[is_first ? first : second] = 1;
    }
    return left_out;
}

/* Prints the names of the hosts marked 1, one a line. Hosts are numbered in the order of their first ranks. */
static void print_names(FILE *out, const struct outcome *o, const char *marked)
{
    for (int m = 0, next = 0; m < o->members; m++)
        if (host_of(o, m) == next && marked[next++])
            fprintf(out, "%s\n", o->member[m].host_name);
}

void hosts_print_good(FILE *out, const struct outcome *o)
{
    char *good = allocate((size_t)o->members, 1);
    for (int host = 0; host < o->members; host++)
        good[host] = !o->left_out[host];
    for (int m = 0; m < o->members; m++)
        if (is_undecided(o, m))
            good[host_of(o, m)] = 0;
    for (const struct fault *f = o->fault; f < o->fault + o->faults; f++)
        if (f->open)
            good[host_of(o, f->member)] = good[host_of(o, f->other)] = 0;
    print_names(out, o, good);
    free(good);
}

void hosts_print_bad(FILE *out, const struct outcome *o)
{
    print_names(out, o, o->left_out);
}
