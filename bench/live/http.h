/* http.h - a server of one page, in one thread, that no client can hold up. */
#ifndef BENCH_LIVE_HTTP_H
#define BENCH_LIVE_HTTP_H

#include <stddef.h>
#include <stdint.h>

enum {
    HTTP_CLIENTS = 16,         /* at a time; one more replaces the one that is there longest */
    HTTP_REQUEST_BYTES = 4096, /* at most, headers included */
    HTTP_CLIENT_SECONDS = 5,   /* from connecting to the end of the answer */
    HTTP_NAME = 80             /* "[address]:port" */
};

/* The page /metrics as text, of which the server frees the memory. */
struct http_page {
    const char *type;
    char *(*text)(void *context, size_t *length);
    void *context;
};

/* Opens a port of an address (a name or a number); port 0 is any that is free. Returns the socket, and address and port
 * in words; or -1 with why. */
int http_listen(const char *address, const char *port, char name[HTTP_NAME], const char **why);

/* Answers clients until the other end of the pipe `until` is closed, then closes their connections, and the socket.
 * Only GET /metrics, and / with a link to that; whatever else is asked for is refused, and no file is ever read. */
void http_serve(int listener, int until, const struct http_page *page);

#endif
