/* test_live.c - --live: its option; the port, for clients that behave and clients that do not; the file. */
#include "live/live.h"

#include "kernels/clock.h"
#include "kernels/error.h"
#include "live/http.h"
#include "tests/support/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct job job = {.size = 2};

/* ---- the option ---- */

static const char *target; /* into text_of_option */
static char text_of_option[100];

static int parse_option(const char *value)
{
    struct option_table table = {0};
    char *argv[] = {"x", "--live", text_of_option, NULL};
    snprintf(text_of_option, sizeof text_of_option, "%s", value);
    option_table_add(&table, live_options_section(&target));
    return option_table_parse(&table, 3, argv);
}

START_TEST(what_is_taken)
{
    static const char *const good[] = {"0",          "9100",        "65535",     "0.0.0.0:9100",
                                       "[::1]:9100", "localhost:0", "a.prom",    "/tmp/x:1.prom",
                                       "9100.prom",  "00080",       "node-1:80", "[fe80::1%lo]:1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(parse_option(good[i]) == 0, "%s: %s", good[i], error_text());
        ck_assert_str_eq(target, good[i]);
    }
}
END_TEST

START_TEST(what_is_refused)
{
    static const char *const bad[] = {"",      "65536", "-1",      "9100x",   "x",      "a.txt", ".prom",
                                      ":9100", "a:",    "a:b",     "1:2:3",   "[::1]",  "[]:1",  "::1:9100",
                                      "0x50",  "1e3",   "100000",  "a:99999", " 80",    "80 ",   "[::1:80",
                                      "+80",   "a:+80", "[::1]80", "[::1]:",  "[::1]:x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(parse_option(bad[i]) == -1, "%s is taken", bad[i]);
        ck_assert_ptr_nonnull(strstr(error_text(), "--live"));
        ck_assert_ptr_nonnull(strstr(error_text(), "expected a port from 0 to 65535"));
        error_clear();
    }
}
END_TEST

/* ---- a server ---- */

static struct live *live;
static int port;
static size_t padding; /* bytes that a part adds to the page */

static void print_part(void *context, FILE *out)
{
    fprintf(out, "# HELP part %s\n", (const char *)context);
    fprintf(out, "# TYPE part gauge\npart 7\n");
    for (size_t i = 0; i < padding; i += 64)
        fprintf(out, "%063d\n", 0);
}

/* A port that is free now: the run is asked for 0, and says on stderr which it took; tests want to know. */
static int free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof a;
    int s = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(s, (struct sockaddr *)&a, sizeof a), 0);
    ck_assert_int_eq(getsockname(s, (struct sockaddr *)&a, &length), 0);
    close(s);
    return ntohs(a.sin_port);
}

static void start(void)
{
    char text[16];
    port = free_port();
    snprintf(text, sizeof text, "%d", port);
    ck_assert_msg(live_open(&live, &job, text) == 0, "%s", error_text());
    live_add(live, print_part, "a part");
    live_start(live, "benchmark", "the \"label\"");
}

static void stop(void)
{
    live_destroy(live);
    live = NULL;
}

static int connect_to(int number)
{
    const struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)number)};
    const struct timeval patience = {20, 0}; /* a test that waits longer has failed */
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(s, 0);
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (!connect(s, (const struct sockaddr *)&a, sizeof a))
        return s;
    close(s);
    return -1;
}

static int connected(void)
{
    int s = connect_to(port);
    ck_assert_msg(s >= 0, "cannot connect: %s", strerror(errno));
    return s;
}

static char answer_text[8 << 20];

/* Everything until the server closes the connection; and closes it here. */
static const char *receive_all(int s)
{
    size_t n = 0;
    ssize_t got;
    while ((got = recv(s, answer_text + n, sizeof answer_text - 1 - n, 0)) > 0)
        n += (size_t)got;
    answer_text[n] = 0;
    close(s);
    return answer_text;
}

static const char *ask(const char *request)
{
    int s = connected();
    ck_assert_int_eq(send(s, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
    return receive_all(s);
}

static void check_begins(const char *request, const char *status)
{
    const char *text = ask(request);
    ck_assert_msg(!strncmp(text, status, strlen(status)), "'%.100s' is answered by '%.100s', expected '%s'", request,
                  text, status);
}

static const char *body(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n");
    ck_assert_ptr_nonnull(end);
    return end + 4;
}

#define GET_METRICS "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"

START_TEST(the_page)
{
    char length[60];
    live_progress(live, "blocks", 3, 8, 12.5);
    const char *text = ask(GET_METRICS);
    ck_assert(!strncmp(text, "HTTP/1.1 200 OK\r\n", 17));
    ck_assert_ptr_nonnull(strstr(text, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "\r\nConnection: close\r\n"));
    snprintf(length, sizeof length, "\r\nContent-Length: %zu\r\n", strlen(body(text)));
    ck_assert_ptr_nonnull(strstr(text, length));
    ck_assert_ptr_nonnull(
        strstr(text, "\nddpbench_run_info{mode=\"benchmark\",label=\"the \\\"label\\\"\",version=\""));
    ck_assert_ptr_nonnull(strstr(text, "\nddpbench_running 1\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nddpbench_ranks 2\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nddpbench_progress_done{of=\"blocks\"} 3\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nddpbench_progress_planned{of=\"blocks\"} 8\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nddpbench_progress_left_seconds 12.5\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n# HELP part a part\n# TYPE part gauge\npart 7\n"));
    live_progress(live, "blocks", 4, 8, NAN);
    text = ask(GET_METRICS);
    ck_assert_ptr_nonnull(strstr(text, "\nddpbench_progress_done{of=\"blocks\"} 4\n"));
    ck_assert_ptr_null(strstr(text, "left_seconds"));
}
END_TEST

START_TEST(before_anything_is_known)
{
    const char *text = ask(GET_METRICS);
    ck_assert_ptr_nonnull(strstr(text, "\nddpbench_running 1\n"));
    ck_assert_ptr_null(strstr(text, "progress"));
}
END_TEST

START_TEST(what_is_asked_for)
{
    check_begins("GET /metrics HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n");
    check_begins("GET /metrics?x=1 HTTP/1.1\n\n", "HTTP/1.1 200 OK\r\n");
    check_begins("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/html");
    check_begins("GET /metrics/ HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ");
    check_begins("GET /etc/passwd HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ");
    check_begins("GET /../../etc/passwd HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ");
    check_begins("GET /%2e%2e/metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ");
    check_begins("GET metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ");
    check_begins("POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 405 ");
    check_begins("HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 ");
    check_begins("get /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 ");
    check_begins("GET /metrics\r\n\r\n", "HTTP/1.1 400 ");
    check_begins("GET  /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 400 ");
    check_begins("GET /metrics HTTP/2.0\r\n\r\n", "HTTP/1.1 400 ");
    check_begins("GET /metrics HTTP/1.1 x\r\n\r\n", "HTTP/1.1 400 ");
    check_begins("\r\n\r\n", "HTTP/1.1 400 ");
    check_begins("\n\n", "HTTP/1.1 400 ");
    check_begins("   \r\n\r\n", "HTTP/1.1 400 ");
}
END_TEST

START_TEST(a_request_in_pieces)
{
    static const char request[] = GET_METRICS;
    int s = connected(), yes = 1;
    setsockopt(s, 6, 1, &yes, sizeof yes); /* TCP_NODELAY */
    for (size_t i = 0; i < sizeof request - 1; i++) {
        ck_assert_int_eq(send(s, request + i, 1, MSG_NOSIGNAL), 1);
        usleep(1000);
    }
    ck_assert_ptr_nonnull(strstr(receive_all(s), "part 7"));
}
END_TEST

/* Whatever is sent, the next client is served. */
START_TEST(garbage)
{
    char text[HTTP_REQUEST_BYTES + 1];
    unsigned state = 1;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    check_begins(text, "HTTP/1.1 431 ");
    int s = connected();
    ck_assert_int_eq(send(s, "GET /\0metrics HTTP/1.1\r\n\r\n", 26, MSG_NOSIGNAL), 26);
    ck_assert(!strncmp(receive_all(s), "HTTP/1.1 400 ", 13));
    for (int i = 0; i < 200; i++) {
        s = connected();
        for (size_t k = 0; k < sizeof text; k++)
            text[k] = (char)((state = state * 1103515245 + 12345) >> 16);
        (void)!send(s, text, 1 + state % sizeof text, MSG_NOSIGNAL);
        close(s);
    }
    check_begins(GET_METRICS, "HTTP/1.1 200 OK\r\n");
}
END_TEST

/* More clients than there are places, which send nothing, or a beginning: others are served at once. */
START_TEST(silent_clients_block_nobody)
{
    enum { SILENT = 3 * HTTP_CLIENTS };
    int s[SILENT];
    for (int i = 0; i < SILENT; i++) {
        s[i] = connected();
        if (i % 2)
            ck_assert_int_eq(send(s[i], "GET /metr", 9, MSG_NOSIGNAL), 9);
        int64_t begin = clock_now_ns();
        check_begins(GET_METRICS, "HTTP/1.1 200 OK\r\n");
        ck_assert_int_lt(clock_now_ns() - begin, 2000000000);
    }
    /* those that were there longest had to go, and the last may still say the rest */
    char c;
    ck_assert_int_le(recv(s[0], &c, 1, 0), 0);
    ck_assert_int_eq(send(s[SILENT - 1], "ics HTTP/1.1\r\n\r\n", 16, MSG_NOSIGNAL), 16);
    ck_assert_ptr_nonnull(strstr(receive_all(s[SILENT - 1]), "part 7"));
    for (int i = 0; i < SILENT - 1; i++)
        close(s[i]);
}
END_TEST

START_TEST(a_silent_client_is_dropped_in_time)
{
    int s = connected();
    char c;
    int64_t begin = clock_now_ns();
    ck_assert_int_eq(recv(s, &c, 1, 0), 0);
    double seconds = 1e-9 * (double)(clock_now_ns() - begin);
    close(s);
    ck_assert_double_gt(seconds, HTTP_CLIENT_SECONDS - 1);
    ck_assert_double_lt(seconds, HTTP_CLIENT_SECONDS + 3);
}
END_TEST

/* A page that does not fit into the sockets' buffers: whoever reads gets all of it, whoever does not holds nobody up.
 */
START_TEST(slow_readers_of_a_large_page)
{
    const struct timespec pause = {0, 1000000};
    int lazy = connected(), slow = connected(), small = 4096;
    static char piece[65536];
    size_t n = 0;
    ssize_t got;
    padding = 6 << 20;
    setsockopt(lazy, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    ck_assert_int_gt(send(lazy, GET_METRICS, sizeof GET_METRICS - 1, MSG_NOSIGNAL), 0);
    ck_assert_int_gt(send(slow, GET_METRICS, sizeof GET_METRICS - 1, MSG_NOSIGNAL), 0);
    const char *text = ask(GET_METRICS);
    size_t expected = strlen(text);
    ck_assert_uint_gt(expected, padding);
    while ((got = recv(slow, piece, sizeof piece, 0)) > 0) {
        n += (size_t)got;
        nanosleep(&pause, NULL);
    }
    padding = 0;
    ck_assert_uint_ge(n, expected - 40); /* its seconds have other digits */
    ck_assert_uint_le(n, expected + 40);
    close(slow);
    close(lazy);
}
END_TEST

/* The end of the run is the end of the port, also with clients in the middle of something. */
START_TEST(the_end_ends_it)
{
    int s = connected();
    ck_assert_int_eq(send(s, "GET /", 5, MSG_NOSIGNAL), 5);
    check_begins(GET_METRICS, "HTTP/1.1 200 OK\r\n");
    int64_t begin = clock_now_ns();
    ck_assert_int_eq(live_stop(live), 0);
    ck_assert_int_lt(clock_now_ns() - begin, 1000000000);
    ck_assert_int_eq(connect_to(port), -1);
    char c;
    ck_assert_int_le(recv(s, &c, 1, 0), 0);
    close(s);
    ck_assert_int_eq(live_stop(live), 0);
    live_destroy(live);
    char text[16];
    snprintf(text, sizeof text, "%d", port); /* and the same port can be taken again at once */
    ck_assert_msg(live_open(&live, &job, text) == 0, "%s", error_text());
}
END_TEST

static void check_not_opened(const char *text, const char *words)
{
    struct live *other = NULL;
    ck_assert_int_eq(live_open(&other, &job, text), -1);
    ck_assert_msg(strstr(error_text(), words) != NULL, "no '%s' in: %s", words, error_text());
    error_clear();
    live_destroy(other);
}

START_TEST(ports_that_cannot_be_had)
{
    char text[64];
    snprintf(text, sizeof text, "%d", port);
    check_not_opened(text, "Address already in use");
    snprintf(text, sizeof text, "192.0.2.1:%d", free_port()); /* RFC 5737: nobody's */
    check_not_opened(text, "Cannot assign requested address");
    check_not_opened("[::zz]:80", "cannot listen on port 80 of ::zz");
    check_begins(GET_METRICS, "HTTP/1.1 200 OK\r\n");
}
END_TEST

/* Numbers are stored while others ask: under the thread sanitizer this finds what is not locked. */
static void *ask_often(void *count)
{
    static const char request[] = GET_METRICS;
    char text[4096];
    for (int i = 0; i < *(int *)count; i++) {
        int s = connect_to(port);
        if (s < 0 || send(s, request, sizeof request - 1, MSG_NOSIGNAL) < 0)
            return NULL;
        while (recv(s, text, sizeof text, 0) > 0)
            ;
        close(s);
    }
    return count;
}

START_TEST(storing_while_others_ask)
{
    pthread_t thread[3];
    int count = 100;
    void *done;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, ask_often, &count), 0);
    for (int i = 0; i < 20000; i++)
        live_progress(live, "blocks", i, 20000, 1);
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], &done);
        ck_assert_ptr_eq(done, &count);
    }
}
END_TEST

/* ---- the file ---- */

static char folder[] = "/tmp/test_live_XXXXXX", path[64];

static void make_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.prom", folder);
}

static void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *read_file(void)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "no %s", path);
    answer_text[fread(answer_text, 1, sizeof answer_text - 1, file)] = 0;
    fclose(file);
    return answer_text;
}

START_TEST(a_file)
{
    ck_assert_msg(live_open(&live, &job, path) == 0, "%s", error_text());
    ck_assert_ptr_nonnull(strstr(read_file(), "\nddpbench_running 1\n"));
    live_add(live, print_part, "a part");
    live_start(live, "allreduce", "");
    live_progress(live, "rows", 1, 2, 3);
    int64_t begin = clock_now_ns();
    while (!strstr(read_file(), "rows") && clock_now_ns() - begin < 10000000000)
        usleep(20000);
    ck_assert_int_gt(clock_now_ns() - begin, 500000000); /* at most once a second */
    ck_assert_ptr_nonnull(strstr(answer_text, "\nddpbench_progress_done{of=\"rows\"} 1\n"));
    ck_assert_ptr_nonnull(strstr(answer_text, "\nddpbench_run_info{mode=\"allreduce\",label=\"\",version=\""));
    live_progress(live, "rows", 2, 2, 0);
    ck_assert_int_eq(live_stop(live), 0); /* the last words are there */
    ck_assert_ptr_nonnull(strstr(read_file(), "\nddpbench_running 0\n"));
    ck_assert_ptr_nonnull(strstr(answer_text, "\nddpbench_progress_done{of=\"rows\"} 2\n"));
    ck_assert_ptr_nonnull(strstr(answer_text, "\npart 7\n"));
    live_destroy(live);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was there */
    ck_assert_int_eq(mkdir(folder, 0700), 0);
}
END_TEST

/* A run that fails before it begins says so in the file. */
START_TEST(a_file_of_a_run_that_never_began)
{
    ck_assert_int_eq(live_open(&live, &job, path), 0);
    live_destroy(live);
    ck_assert_ptr_nonnull(strstr(read_file(), "\nddpbench_running 0\n"));
}
END_TEST

START_TEST(files_that_cannot_be_written)
{
    char text[1000];
    snprintf(text, sizeof text, "%s/none/a.prom", folder);
    check_not_opened(text, "No such file or directory");
    ck_assert_int_eq(mkdir(path, 0777), 0);
    check_not_opened(path, "is not a regular file");
    memset(text, 'a', sizeof text);
    strcpy(text + sizeof text - 6, ".prom");
    check_not_opened(text, "longer than");
}
END_TEST

/* The run goes on, and its end says what is missing. */
START_TEST(a_file_that_cannot_be_written_any_more)
{
    char moved[80];
    ck_assert_int_eq(live_open(&live, &job, path), 0);
    live_start(live, "tune", "");
    snprintf(moved, sizeof moved, "%s.moved", folder);
    ck_assert_int_eq(rename(folder, moved), 0);
    sleep(2);
    ck_assert_str_eq(error_text(), "");
    ck_assert_int_eq(live_stop(live), -1);
    ck_assert_ptr_nonnull(strstr(error_text(), path));
    ck_assert_ptr_nonnull(strstr(error_text(), "No such file"));
    error_clear();
    live_destroy(live);
    ck_assert_int_eq(rename(moved, folder), 0);
}
END_TEST

START_TEST(nothing_is_wanted)
{
    const struct job second = {.rank = 1, .size = 2};
    ck_assert_int_eq(live_open(&live, &job, ""), 0);
    ck_assert_ptr_null(live);
    ck_assert_int_eq(live_open(&live, &second, "0"), 0);
    ck_assert_ptr_null(live);
    live_add(live, print_part, NULL);
    live_start(live, "benchmark", "");
    live_progress(live, "blocks", 1, 1, 1);
    ck_assert_int_eq(live_stop(live), 0);
    live_destroy(live);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("live");
    TCase *option = tcase_create("option"), *server = tcase_create("server"), *file = tcase_create("file");
    tcase_add_test(option, what_is_taken);
    tcase_add_test(option, what_is_refused);
    tcase_add_test(option, nothing_is_wanted);
    suite_add_tcase(suite, option);
    tcase_add_checked_fixture(server, start, stop);
    tcase_set_timeout(server, 60);
    tcase_add_test(server, the_page);
    tcase_add_test(server, before_anything_is_known);
    tcase_add_test(server, what_is_asked_for);
    tcase_add_test(server, a_request_in_pieces);
    tcase_add_test(server, garbage);
    tcase_add_test(server, silent_clients_block_nobody);
    tcase_add_test(server, a_silent_client_is_dropped_in_time);
    tcase_add_test(server, slow_readers_of_a_large_page);
    tcase_add_test(server, the_end_ends_it);
    tcase_add_test(server, ports_that_cannot_be_had);
    tcase_add_test(server, storing_while_others_ask);
    suite_add_tcase(suite, server);
    tcase_add_checked_fixture(file, make_folder, remove_folder);
    tcase_set_timeout(file, 60);
    tcase_add_test(file, a_file);
    tcase_add_test(file, a_file_of_a_run_that_never_began);
    tcase_add_test(file, files_that_cannot_be_written);
    tcase_add_test(file, a_file_that_cannot_be_written_any_more);
    suite_add_tcase(suite, file);
    return suite_run(suite);
}
