/* leave.c - ends a rank that hangs in MPI_Finalize. */
#include "kernels/leave.h"

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int pmi; /* descriptor of the connection to a launcher with PMI-1 */
static int exit_status;

/* Handles a signal in the thread that is in MPI_Finalize: tells a launcher with PMI-1 that the rank ends, waits for the
 * answer, and ends the process. A rank that waits in PMI's barrier reads from the same connection, so only this thread
 * can receive the answer. Before that, the handler keeps the thread where it is until the other ranks have had time to
 * do the same: Hydra fails if a rank completes the barrier after others have ended. Source of the words: PMI-1's wire
 * protocol, MPICH's src/pmi. */
static void end_pmi(int number)
{
    static const char request[] = "cmd=finalize\n", answer[] = "cmd=finalize_ack";
    const int together_ms = 2000, longest_ms = 1000;
    char text[1024] = "";
    size_t n = 0;
    (void)number;
    poll(NULL, 0, together_ms);
    ssize_t got = send(pmi, request, sizeof request - 1, MSG_NOSIGNAL);
    struct pollfd waiting = {.fd = pmi, .events = POLLIN};
    while (got > 0 && !strstr(text, answer) && poll(&waiting, 1, longest_ms) > 0) {
        got = read(pmi, text + n, sizeof text - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    _exit(exit_status);
}

/* Tells a launcher with PMIx that the rank ends. Does nothing if the process has not loaded PMIx's library. */
static void end_pmix(void)
{
    void *library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
    int (*finalize)(const void *info, size_t n) = NULL;
    void *found = library ? dlsym(library, "PMIx_Finalize") : NULL;
    memcpy(&finalize, &found, sizeof finalize);
    if (finalize)
        finalize(NULL, 0);
}

void leave_finalize(pthread_t inside, int status)
{
    const char *text = getenv("PMI_FD");
    const struct sigaction ending = {.sa_handler = end_pmi};
    if (!text) {
        end_pmix();
        _exit(status);
    }
    pmi = atoi(text);
    exit_status = status;
    sigaction(SIGALRM, &ending, NULL);
    pthread_kill(inside, SIGALRM);
    for (;;)
        pause();
}
