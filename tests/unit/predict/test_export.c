/* test_export.c - the nodes of an exported step, decoded by an independent reader: order, dependencies, durations, and
 * collectives. With a directory as argument: writes a step of each kind of plan there, for check_chakra.py. */
#include "predict/export.h"

#include "base/files.h"
#include "base/text.h"
#include "kernels/error.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUCKETS = 200, NODES = 3 * BUCKETS + 8 };
#define US 1e-6

static const char *directory;

static void setup(void)
{
    directory = scratch_make();
}

/* ---- a reader of the format ---- */

struct reader {
    const unsigned char *at, *end;
};

struct node {
    uint64_t id, type, us, ns, comm, bytes;
    char name[64], data[64], ctrl[64]; /* dependencies as text, such as "1 4" */
};

static struct node node[NODES];
static int nodes;

static uint64_t read_varint(struct reader *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        ck_assert(in->at < in->end && shift < 64);
        value |= (uint64_t)(*in->at & 127) << shift;
        if (*in->at++ < 128) {
            ck_assert(in->at[-1] || !shift); /* no byte is superfluous */
            return value;
        }
    }
}

static struct reader read_part(struct reader *in)
{
    size_t n = read_varint(in);
    ck_assert(n <= (size_t)(in->end - in->at));
    in->at += n;
    return (struct reader){in->at - n, in->at};
}

static void read_text(struct reader *in, char text[64])
{
    struct reader part = read_part(in);
    snprintf(text, 64, "%.*s", (int)(part.end - part.at), (const char *)part.at);
}

static void read_dependencies(struct reader *in, char text[64])
{
    struct reader part = read_part(in);
    for (size_t n = 0; part.at < part.end; n = strlen(text))
        snprintf(text + n, 64 - n, "%s%" PRIu64, n ? " " : "", read_varint(&part));
}

/* Reads an attribute, which must have the type of its name. Returns that type's bit. */
static unsigned read_attribute(struct reader in, struct node *to)
{
    static const char *const type[] = {"duration_ns 13 0", "comm_type 9 0", "comm_size 9 0", "is_cpu_op 27 0",
                                       "pg_name 29 2"};
    char name[64] = "", found[128], empty[64] = "";
    uint64_t cpu = 0, *const value[] = {&to->ns, &to->comm, &to->bytes, &cpu};
    ck_assert_uint_eq(read_varint(&in), 1 << 3 | 2);
    read_text(&in, name);
    uint64_t key = read_varint(&in);
    snprintf(found, sizeof found, "%s %" PRIu64 " %" PRIu64, name, key >> 3, key & 7);
    for (unsigned i = 0; i < 5; i++) {
        if (strcmp(found, type[i]) != 0)
            continue;
        if (i < 4)
            *value[i] = read_varint(&in);
        else
            read_text(&in, empty);
        ck_assert(in.at == in.end && !cpu && !*empty);
        return 1U << i;
    }
    ck_abort_msg("attribute %s", found);
}

static void read_node(struct reader in, struct node *to)
{
    unsigned attributes = 0;
    *to = (struct node){0};
    while (in.at < in.end)
        switch (read_varint(&in)) {
        case 1 << 3:
            to->id = read_varint(&in);
            break;
        case 2 << 3 | 2:
            read_text(&in, to->name);
            break;
        case 3 << 3:
            to->type = read_varint(&in);
            break;
        case 4 << 3 | 2:
            read_dependencies(&in, to->ctrl);
            break;
        case 5 << 3 | 2:
            read_dependencies(&in, to->data);
            break;
        case 7 << 3:
            to->us = read_varint(&in);
            break;
        case 10 << 3 | 2:
            attributes ^= read_attribute(read_part(&in), to);
            break;
        default:
            ck_abort_msg("an unknown field");
        }
    ck_assert_uint_eq(attributes, to->type == 7 ? 31 : 9);
}

/* Reads directory/prefix.rank.et into node[nodes]. */
static void read_nodes(const char *prefix, int rank)
{
    static unsigned char bytes[1 << 17];
    static const char metadata[] = "\x1e\x0a\x05"
                                   "0.0.4"
                                   "\x12\x15\x0a\x08"
                                   "producer"
                                   "\xea\x01\x08"
                                   "ddpbench";
    char path[FILES_PATH];
    snprintf(path, sizeof path, "%s/%s.%d.et", directory, prefix, rank);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "no %s", path);
    struct reader in = {bytes, bytes + fread(bytes, 1, sizeof bytes, file)};
    fclose(file);
    ck_assert(in.end - in.at > 31 && !memcmp(bytes, metadata, 31));
    in.at += 31;
    for (nodes = 0; in.at < in.end; nodes++) {
        ck_assert_int_lt(nodes, NODES);
        read_node(read_part(&in), &node[nodes]);
        ck_assert_uint_eq(node[nodes].id, (uint64_t)nodes);
    }
}

/* Checks the nodes read, one on a line: id, name, (data; control dependencies), microseconds, type of collective,
 * bytes. */
static void expect_nodes(const char *expected)
{
    FILE *out = printing();
    for (const struct node *n = node; n < node + nodes; n++) {
        fprintf(out, "%" PRIu64 " %s (%s; %s) %" PRIu64, n->id, n->name, n->data, n->ctrl, n->us);
        if (n->type == 7)
            fprintf(out, " %" PRIu64 " %" PRIu64, n->comm, n->bytes);
        fputs("\n", out);
        ck_assert_uint_eq(n->type, strncmp(n->name, "COMM_COLL_NODE ", 15) ? 4 : 7);
    }
    ck_assert_str_eq(printed(), expected);
}

/* ---- steps ---- */

static double ready[] = {290 * US, 240 * US, 180 * US, 130 * US};
static const struct step_compute compute = {100 * US, 300 * US, 50 * US, 7 * US, ready, 4};
static struct replay_bucket bucket[] = {{2, 4000, 0.25, 60 * US, 0, 30 * US}, {0, 8000, 0.75, 90 * US, 0, 40 * US}};
static const struct {
    const char *name;
    struct replay_plan plan;
} kinds[] = {{"bucketed", {bucket, 2, 0, 0, 0, 1, 1}},
             {"after", {bucket, 2, 1, 0, 0, 1, 1}},
             {"early", {bucket, 2, 0, 1, 0, 1, 1}},
             {"sharded", {bucket, 2, 0, 0, 1, 0.5, 1}},
             {"none", {NULL, 0, 0, 0, 0, 1, 1}}};

/* Exports a step of ranks in which communication does not slow computation down, as files to/name.<rank>.et. */
static int export_step(const char *to, const char *name, const struct step_compute *c, const struct replay_plan *plan,
                       size_t ranks, int writes)
{
    static struct replay_event event[5 * BUCKETS + 4];
    struct exported_step step = {event, 0, 1, plan, ranks};
    step.n = replay(c, plan, (struct replay_overlap){0, 1}, event).events;
    return export_chakra("chakra", to, name, &step, writes);
}

/* Exports a kind of plan for two ranks and reads the file of one. */
static void export_kind(int kind, int rank)
{
    ck_assert_int_eq(export_step(directory, kinds[kind].name, &compute, &kinds[kind].plan, 2, 1), 0);
    read_nodes(kinds[kind].name, rank);
}

TEST_EACH(each_rank_reduces_buckets_during_backward, 2)
{
    export_kind(0, _i);
    expect_nodes("0 COMP_NODE forward (; ) 100\n"
                 "1 COMP_NODE backward 0 (0; ) 80\n"
                 "2 COMM_COLL_NODE all_reduce 0 (1; ) 60 0 4000\n"
                 "3 COMP_NODE backward 1 (1; ) 110\n"
                 "4 COMM_COLL_NODE all_reduce 1 (3; 2) 90 0 8000\n"
                 "5 COMP_NODE backward (3; ) 10\n"
                 "6 COMP_NODE optimizer (5 4; ) 50\n"
                 "7 COMP_NODE rest (6; ) 7\n");
}

TEST(reductions_after_backward_need_all_of_it)
{
    export_kind(1, 0);
    expect_nodes("0 COMP_NODE forward (; ) 100\n"
                 "1 COMP_NODE backward 0 (0; ) 80\n"
                 "2 COMP_NODE backward 1 (1; ) 110\n"
                 "3 COMP_NODE backward (2; ) 10\n"
                 "4 COMM_COLL_NODE all_reduce 0 (3; ) 60 0 4000\n"
                 "5 COMM_COLL_NODE all_reduce 1 (3; 4) 90 0 8000\n"
                 "6 COMP_NODE optimizer (3 5; ) 50\n"
                 "7 COMP_NODE rest (6; ) 7\n");
}

/* A bucket is updated during backward, between the parts of two buckets, if its sum is complete by then. */
TEST(early_updates_need_their_bucket)
{
    export_kind(2, 0);
    expect_nodes("0 COMP_NODE forward (; ) 100\n"
                 "1 COMP_NODE backward 0 (0; ) 80\n"
                 "2 COMM_COLL_NODE all_reduce 0 (1; ) 60 0 4000\n"
                 "3 COMP_NODE backward 1 (1; ) 110\n"
                 "4 COMM_COLL_NODE all_reduce 1 (3; 2) 90 0 8000\n"
                 "5 COMP_NODE optimizer 0 (3 2; ) 13\n" /* 12.5 */
                 "6 COMP_NODE backward (5; ) 10\n"
                 "7 COMP_NODE optimizer 1 (6 4; ) 37\n" /* 37.5 */
                 "8 COMP_NODE rest (7; ) 7\n");
}

/* The export begins with the update of the step before. A rank updates its half of each bucket, which is then gathered.
 * Each part of the forward waits for the weights of its bucket. */
TEST(sharded_weights_are_gathered_before_their_use)
{
    export_kind(3, 0);
    expect_nodes("0 COMP_NODE optimizer 1 (; ) 19\n" /* 18.75 */
                 "1 COMM_COLL_NODE all_gather 1 (0; ) 40 2 4000\n"
                 "2 COMP_NODE optimizer 0 (0; ) 6\n" /* 6.25 */
                 "3 COMM_COLL_NODE all_gather 0 (2; 1) 30 2 2000\n"
                 "4 COMP_NODE rest (2; ) 7\n"
                 "5 COMP_NODE forward (4; ) 5\n"
                 "6 COMP_NODE forward 1 (5 1; ) 55\n"
                 "7 COMP_NODE forward 0 (6 3; ) 40\n"
                 "8 COMP_NODE backward 0 (7; ) 80\n"
                 "9 COMM_COLL_NODE reduce_scatter 0 (8; 3) 60 7 4000\n"
                 "10 COMP_NODE backward 1 (8; ) 110\n"
                 "11 COMM_COLL_NODE reduce_scatter 1 (10; 9) 90 7 8000\n"
                 "12 COMP_NODE backward (10; ) 10\n");
}

/* Weights that are gathered as bfloat16 have half the bytes. Times stay the times of the buckets. */
TEST(gathers_have_the_bytes_of_their_type)
{
    struct replay_plan plan = kinds[3].plan;
    plan.gather_share = 0.5;
    ck_assert_int_eq(export_step(directory, "narrow", &compute, &plan, 2, 1), 0);
    read_nodes("narrow", 0);
    ck_assert(node[1].comm == 2 && node[1].bytes == 2000 && node[3].comm == 2 && node[3].bytes == 1000);
    ck_assert(node[9].comm == 7 && node[9].bytes == 4000);
}

TEST(a_step_may_have_no_collective)
{
    export_kind(4, 0);
    expect_nodes("0 COMP_NODE forward (; ) 100\n"
                 "1 COMP_NODE backward (0; ) 200\n"
                 "2 COMP_NODE optimizer (1; ) 50\n"
                 "3 COMP_NODE rest (2; ) 7\n");
}

/* Pieces of 0.4 us and reductions of 0.3 us: no sum of microseconds is ever half a microsecond off. Ids above 127 and
 * numbers of bytes with 1 to 10 bytes as varints are read as they were written. */
TEST(sums_are_exact)
{
    static struct replay_bucket many[BUCKETS];
    static double final[BUCKETS];
    static const double bytes[] = {0, 1, 127, 128, 16383, 16384, 0x1p31, 0x1p32, 0x1p62, 0x1p63};
    uint64_t us[2] = {0}, ns[2] = {0};
    char after[64];
    for (int i = 0; i < BUCKETS; i++) {
        final[BUCKETS - 1 - i] = 0.4 * (i + 2) * US;
        many[i] = (struct replay_bucket){BUCKETS - 1 - i, bytes[i % 10], 1.0 / BUCKETS, 0.3 * US, 0, 0};
    }
    const struct step_compute short_step = {0.4 * US, 0.4 * (BUCKETS + 1) * US, 0, 0, final, BUCKETS};
    const struct replay_plan plan = {many, BUCKETS, 0, 0, 0, 1, 1};
    ck_assert_int_eq(export_step(directory, "many", &short_step, &plan, 1, 1), 0);
    read_nodes("many", 0);
    ck_assert_int_eq(nodes, 2 * BUCKETS + 4);
    for (int i = 0; i < nodes; i++) {
        int is_coll = node[i].type == 7, piece = (i - 1) / 2;
        us[is_coll] += node[i].us;
        ns[is_coll] += node[i].ns;
        ck_assert_double_le(fabs((double)us[is_coll] * 1000 - (double)ns[is_coll]), 500);
        snprintf(after, sizeof after, "%d", is_coll ? i - 1 : i < 3 ? i - 1 : i - 2);
        if (i && piece < BUCKETS)
            ck_assert_str_eq(node[i].data, after);
        if (is_coll)
            ck_assert_uint_eq(node[i].bytes, (uint64_t)bytes[piece % 10]);
    }
    ck_assert_uint_eq(ns[0], 400 * (BUCKETS + 1));
    ck_assert_uint_eq(us[0], (400 * (BUCKETS + 1) + 500) / 1000);
    ck_assert_uint_eq(ns[1], 300 * BUCKETS);
    ck_assert_uint_eq(us[1], 300 * BUCKETS / 1000);
}

/* Replayed from dependencies and durations alone, a file lasts as long as the replayed step, even if computation and
 * communication slow each other down. */
TEST_EACH(a_file_lasts_as_long_as_the_step, sizeof kinds / sizeof *kinds)
{
    static struct replay_event event[5 * BUCKETS + 4];
    static const struct replay_overlap overlap = {0.3, 0.6};
    const struct replay_plan *plan = &kinds[_i].plan;
    const struct exported_step step = {event, replay(&compute, plan, overlap, event).events, 2, plan, 2};
    double end[NODES] = {0}, last = 0;
    ck_assert_int_eq(export_chakra("x", directory, "slowed", &step, 1), 0);
    read_nodes("slowed", 1);
    for (int i = 0; i < nodes; i++) {
        const char *needed[] = {node[i].data, node[i].ctrl};
        for (int list = 0; list < 2; list++)
            for (const char *at = needed[list]; *at;) {
                char *after;
                end[i] = fmax(end[i], end[strtoul(at, &after, 10)]);
                at = after;
            }
        end[i] += (double)node[i].ns / 1e9;
        last = fmax(last, end[i]);
    }
    ck_assert_double_eq_tol(last, 2 * replay(&compute, plan, overlap, NULL).step,
                            20e-9); /* error of up to 13 rounded durations */
}

/* ---- files ---- */

TEST(a_file_that_cannot_be_written_is_left_out)
{
    char path[2 * FILES_PATH];
    snprintf(path, sizeof path, "%s/sub/bucketed.1.et", directory);
    ck_assert_int_eq(files_make_directories("x", path), 0); /* a directory in the place of the second file */
    *strrchr(path, '/') = 0;
    ck_assert_int_eq(export_step(path, "bucketed", &compute, &kinds[0].plan, 3, 1), -1);
    ck_assert_msg(!strncmp(error_text(), "cannot write /", 14), "%s", error_text());
    glob_t found;
    ck_assert_uint_eq(files_find(&found, path, "*"), 2); /* the first file and that directory */
    globfree(&found);
}

/* Files are replaced only if this program exported them: not empty files, traces by other programs, or anything else.
 */
TEST(a_file_of_somebody_else_is_kept)
{
    static const char *const others[] = {"", "notes",
                                         "\x07\x0a\x05"
                                         "0.0.4"};
    char path[FILES_PATH];
    snprintf(path, sizeof path, "%s/sub", directory);
    ck_assert_int_eq(files_make_directories("x", path), 0);
    for (int writes = 0; writes < 2; writes++)
        ck_assert_int_eq(export_step(path, "bucketed", &compute, &kinds[0].plan, 2, writes), 0);
    ck_assert_int_eq(export_step(path, "bucketed", &compute, &kinds[0].plan, 2, 0), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_int_eq(files_replace(path, "bucketed.1.et", others[i]), 0);
        error_clear();
        ck_assert_int_eq(export_step(path, "bucketed", &compute, &kinds[0].plan, 2, 0), -1);
        ck_assert_msg(!strncmp(error_text(), "--chakra /", 10) && strstr(error_text(), "sub/bucketed.1.et: exists"),
                      "%s", error_text());
    }
    memset(path, 'a', sizeof path - 1);
    error_clear();
    ck_assert_int_eq(export_step(path, "bucketed", &compute, &kinds[0].plan, 3, 0), -1);
    check_has(error_text(), "--chakra aaa");
}

static int write_kinds(const char *to)
{
    int status = files_make_directories("directory", to);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        status |= export_step(to, kinds[i].name, &compute, &kinds[i].plan, 2, 1);
    error_print();
    return status != 0;
}

int main(int argc, char *argv[])
{
    return argc > 1 ? write_kinds(argv[1]) : suite_run(suite_of_tests("predict export", setup, scratch_remove_all));
}
