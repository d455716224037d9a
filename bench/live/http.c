/* http.c - a server of one page. Sources: RFC 9110 (methods and statuses), RFC 9112 (the messages of HTTP/1.1). */
#include "live/http.h"

#include "kernels/clock.h"
#include "kernels/error.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the socket ---- */

static int bind_to(const struct addrinfo *a)
{
    const int yes = 1;
    int listener = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return -1;
    /* a port whose last connections have not timed out yet may be taken again; one that somebody listens on may not */
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!bind(listener, a->ai_addr, a->ai_addrlen) && !listen(listener, SOMAXCONN))
        return listener;
    int why = errno;
    close(listener);
    errno = why;
    return -1;
}

int http_listen(const char *address, const char *port, char name[HTTP_NAME], const char **why)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    char host[64], service[8];
    int error = getaddrinfo(address, port, &hints, &found);
    if (error) {
        *why = gai_strerror(error);
        return -1;
    }
    int listener = bind_to(found), v6 = found->ai_family == AF_INET6;
    *why = strerror(errno);
    freeaddrinfo(found);
    if (listener < 0)
        return -1;
    if (getsockname(listener, (struct sockaddr *)&bound, &length) ||
        getnameinfo((struct sockaddr *)&bound, length, host, sizeof host, service, sizeof service,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        FATAL("the port %s of %s has no name", port, address);
    snprintf(name, HTTP_NAME, v6 ? "[%s]:%s" : "%s:%s", host, service);
    return listener;
}

/* ---- one client ---- */

struct client {
    int socket; /* -1: nobody */
    int64_t deadline_ns;
    char request[HTTP_REQUEST_BYTES + 1];
    size_t got;
    char *answer; /* NULL: the request is not complete */
    size_t length, sent;
};

/* Ends the connection. What the client sent and nobody read is read first, or the answer might be lost on its way. */
static void close_client(struct client *c)
{
    char rest[4096];
    if (c->answer && c->sent == c->length)
        for (int i = 0; i < 16 && recv(c->socket, rest, sizeof rest, 0) > 0; i++)
            ;
    close(c->socket);
    free(c->answer);
    c->answer = NULL;
    c->socket = -1;
}

static void answer(struct client *c, const char *status, const char *type, const char *body, size_t n)
{
    int head = asprintf(&c->answer,
                        "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
                        "%sConnection: close\r\n\r\n",
                        status, type, n, strncmp(status, "405", 3) ? "" : "Allow: GET\r\n");
    char *all = head < 0 ? NULL : realloc(c->answer, (size_t)head + n);
    if (!all)
        fatal_no_memory(n, 1);
    memcpy(all + head, body, n);
    c->answer = all;
    c->length = (size_t)head + n;
    c->sent = 0;
}

static void refuse(struct client *c, const char *status)
{
    char words[80];
    int n = snprintf(words, sizeof words, "%s\n", status);
    answer(c, status, "text/plain; charset=utf-8", words, (size_t)n);
}

/* The request is complete: makes the answer to its first line. */
static void answer_request(struct client *c, const struct http_page *page)
{
    static const char link[] = "<!DOCTYPE html>\n<html lang=\"en\"><head><title>ddpbench</title></head>\n"
                               "<body><p><a href=\"/metrics\">/metrics</a></p></body></html>\n";
    char *line = c->request, *method = strsep(&line, " "), *path = line ? strsep(&line, " ") : NULL;
    if (!line || (strncmp(line, "HTTP/1.0", 8) != 0 && strncmp(line, "HTTP/1.1", 8) != 0) || !strchr("\r\n", line[8])) {
        refuse(c, "400 Bad Request");
        return;
    }
    path[strcspn(path, "?")] = 0;
    int metrics = !strcmp(path, "/metrics");
    if (strcmp(method, "GET") != 0)
        refuse(c, "405 Method Not Allowed");
    else if (!metrics && strcmp(path, "/") != 0)
        refuse(c, "404 Not Found");
    else if (!metrics)
        answer(c, "200 OK", "text/html; charset=utf-8", link, sizeof link - 1);
    else {
        size_t length;
        char *text = page->text(page->context, &length);
        answer(c, "200 OK", page->type, text, length);
        free(text);
    }
}

/* Reads what is there of the request. Returns 0; or -1: the client is gone. */
static int read_request(struct client *c, const struct http_page *page)
{
    ssize_t n = recv(c->socket, c->request + c->got, HTTP_REQUEST_BYTES - c->got, 0);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    c->got += (size_t)n;
    c->request[c->got] = 0; /* a 0 that the client sent ends the request too: it is no character of one */
    if (strlen(c->request) < c->got)
        refuse(c, "400 Bad Request");
    else if (strstr(c->request, "\r\n\r\n") || strstr(c->request, "\n\n"))
        answer_request(c, page);
    else if (c->got == HTTP_REQUEST_BYTES)
        refuse(c, "431 Request Header Fields Too Large");
    return 0;
}

/* Sends what fits. Returns 0; or -1: all is sent, or the client is gone. */
static int send_answer(struct client *c)
{
    ssize_t n = send(c->socket, c->answer + c->sent, c->length - c->sent, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    c->sent += (size_t)n;
    return c->sent == c->length ? -1 : 0;
}

/* ---- all of them ---- */

static void accept_client(struct client client[HTTP_CLIENTS], int socket)
{
    struct client *c = client;
    for (int i = 0; i < HTTP_CLIENTS && c->socket >= 0; i++) /* nobody's, or of the one that is there longest */
        if (client[i].socket < 0 || client[i].deadline_ns < c->deadline_ns)
            c = &client[i];
    if (c->socket >= 0)
        close_client(c);
    c->socket = socket;
    c->deadline_ns = clock_now_ns() + (int64_t)HTTP_CLIENT_SECONDS * 1000000000;
    c->got = 0;
}

/* What each waits for, and how many milliseconds at most until the first deadline; -1: for ever. */
static int prepare(const struct client client[HTTP_CLIENTS], struct pollfd wait[HTTP_CLIENTS])
{
    int64_t first_ns = INT64_MAX, now = clock_now_ns();
    for (int i = 0; i < HTTP_CLIENTS; i++) {
        wait[i] = (struct pollfd){.fd = client[i].socket, .events = client[i].answer ? POLLOUT : POLLIN};
        if (client[i].socket >= 0 && client[i].deadline_ns < first_ns)
            first_ns = client[i].deadline_ns;
    }
    if (first_ns == INT64_MAX)
        return -1;
    return first_ns > now ? (int)((first_ns - now) / 1000000) + 1 : 0;
}

/* One step of one client's connection. */
static void attend(struct client *c, int ready, const struct http_page *page)
{
    int over = clock_now_ns() >= c->deadline_ns;
    if (ready && !over && !c->answer)
        over = read_request(c, page);
    if (ready && !over && c->answer) /* it mostly fits into the socket's buffer at once */
        over = send_answer(c);
    if (over)
        close_client(c);
}

void http_serve(int listener, int until, const struct http_page *page)
{
    struct client *client = allocate(HTTP_CLIENTS, sizeof *client);
    struct pollfd wait[HTTP_CLIENTS + 2];
    int full = 0; /* there is no file descriptor for one more client: look again in a second */
    for (int i = 0; i < HTTP_CLIENTS; i++)
        client[i].socket = -1;
    for (;;) {
        int ms = prepare(client, wait);
        wait[HTTP_CLIENTS] = (struct pollfd){.fd = full ? -1 : listener, .events = POLLIN};
        wait[HTTP_CLIENTS + 1] = (struct pollfd){.fd = until, .events = POLLIN};
        if (poll(wait, HTTP_CLIENTS + 2, full && (ms < 0 || ms > 1000) ? 1000 : ms) < 0)
            continue;
        if (wait[HTTP_CLIENTS + 1].revents)
            break;
        for (int i = 0; i < HTTP_CLIENTS; i++)
            if (client[i].socket >= 0)
                attend(&client[i], wait[i].revents, page);
        full = 0;
        if (wait[HTTP_CLIENTS].revents) {
            int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            full = socket < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
            if (socket >= 0)
                accept_client(client, socket);
        }
    }
    for (int i = 0; i < HTTP_CLIENTS; i++)
        if (client[i].socket >= 0)
            close_client(&client[i]);
    free(client);
    close(listener);
}
