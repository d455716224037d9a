/* test_files.c - files appear whole or not at all: commit, abandon, compression, and write errors. */
#include "base/files.h"

#include "kernels/error.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MOST = 1 << 20 };
static const char *directory;
static char text[MOST], got[MOST + 1];

static const char *path_of(const char *name)
{
    static char path[8][256];
    static int next;
    next = (next + 1) % 8;
    snprintf(path[next], sizeof path[next], "%.63s/%.150s", directory, name);
    return path[next];
}

static void setup(void)
{
    directory = scratch_make();
    for (size_t i = 0; i < MOST; i++)
        text[i] = (char)('a' + i * i % 23);
}

/* Counts the names in the test's directory. */
static int names(void)
{
    int n = -2; /* leaves out . and .. */
    DIR *d = opendir(directory);
    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Checks that the file, once uncompressed if needed, holds text[n]. */
static void check_content(const char *path, size_t n)
{
    gzFile file = gzopen(path, "rb");
    ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
    ck_assert_int_eq(gzread(file, got, sizeof got), (int)n);
    ck_assert_int_eq(gzclose(file), Z_OK);
    ck_assert_mem_eq(got, text, n);
}

static int is_gzip(const char *path)
{
    unsigned char magic[2] = {0};
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t n = fread(magic, 1, 2, file);
    fclose(file);
    return n == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

/* Writes text[n] in pieces of 0, 1, 4, 13, ... bytes, and an empty piece at the end. */
static int write_pieces(struct new_file *file, size_t n)
{
    size_t at = 0;
    for (size_t piece = 0; at < n; piece = piece * 3 + 1) {
        size_t length = piece < n - at ? piece : n - at;
        if (new_file_write(file, text + at, length))
            return -1;
        at += length;
    }
    return new_file_write(file, text, 0);
}

/* ---- commit and abandon: test 0 writes plain files, test 1 compressed files ---- */

TEST_EACH(a_file_appears_when_it_is_complete, 2)
{
    static const size_t sizes[] = {0, 1, 2, 1000, 65537, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct new_file file;
        const char *path = path_of("file.json");
        ck_assert_int_eq(new_file_open(&file, path, _i), 0);
        ck_assert_int_eq(write_pieces(&file, sizes[i]), 0);
        ck_assert_int_eq(access(path, F_OK), -1);
        ck_assert_int_eq(new_file_end(&file, 0), 0);
        ck_assert_int_eq(names(), 1);
        check_content(path, sizes[i]);
        ck_assert_int_eq(is_gzip(path), _i);
        unlink(path);
    }
    ck_assert_str_eq(error_text(), "");
}

TEST_EACH(an_abandoned_file_leaves_nothing, 2)
{
    struct new_file file;
    ck_assert_int_eq(files_replace(directory, "old", "abc"), 0);
    for (int written = 0; written < 2; written++) {
        ck_assert_int_eq(new_file_open(&file, path_of("old"), _i), 0);
        ck_assert_int_eq(write_pieces(&file, written ? 100000 : 0), 0);
        ck_assert_int_eq(names(), 2);
        ck_assert_int_eq(new_file_end(&file, 1), -1);
        ck_assert_int_eq(names(), 1);
    }
    FILE *old = fopen(path_of("old"), "r");
    ck_assert_ptr_nonnull(old);
    ck_assert_ptr_nonnull(fgets(got, 10, old));
    fclose(old);
    ck_assert_str_eq(got, "abc");
}

TEST_EACH(an_older_file_is_replaced, 2)
{
    struct new_file file;
    for (size_t n = 5000; n > 1000; n -= 999) { /* each file is shorter than the one before */
        ck_assert_int_eq(new_file_open(&file, path_of("f"), _i), 0);
        ck_assert_int_eq(write_pieces(&file, n), 0);
        ck_assert_int_eq(new_file_end(&file, 0), 0);
        check_content(path_of("f"), n);
        ck_assert_int_eq(names(), 1);
    }
}

/* Two writers of one path each have a temporary file; the path ends up with the file committed last. */
TEST_EACH(the_last_of_two_writers_wins, 2)
{
    struct new_file first, second;
    ck_assert_int_eq(new_file_open(&first, path_of("f"), _i), 0);
    ck_assert_int_eq(write_pieces(&first, 70000), 0);
    ck_assert_int_eq(new_file_open(&second, path_of("f"), _i), 0);
    ck_assert_int_eq(write_pieces(&second, 500), 0);
    ck_assert_int_eq(names(), 2);
    ck_assert_int_eq(new_file_end(&second, 0), 0);
    check_content(path_of("f"), 500);
    ck_assert_int_eq(new_file_end(&first, 0), 0);
    check_content(path_of("f"), 70000);
    ck_assert_int_eq(names(), 1);
}

/* A user's file or link named like a temporary file (f.tmp, ...) in the same directory is not changed. */
TEST_EACH(other_files_of_a_similar_name_stay, 2)
{
    struct new_file file;
    ck_assert_int_eq(files_replace(directory, "f.tmp", "abc"), 0);
    ck_assert_int_eq(symlink("f.tmp", path_of(".f.tmp")), 0);
    ck_assert_int_eq(new_file_open(&file, path_of("f"), _i), 0);
    ck_assert_int_eq(write_pieces(&file, 1000), 0);
    ck_assert_int_eq(new_file_end(&file, !_i), _i - 1);
    ck_assert_int_eq(names(), 2 + _i);
    memcpy(text, "abc", 3);
    check_content(path_of(".f.tmp"), 3);
}

/* A writer removes temporary files of killed processes, but not files still being written or with similar names. */
TEST_EACH(temporary_files_of_killed_processes_are_removed, 2)
{
    static const char *const kept[] = {".ddpbench-0123456.tmp", ".ddpbench-0123456g.tmp", ".ddpbench-01234567.tmp~",
                                       "ddpbench-01234567.tmp"};
    struct new_file file;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        ck_assert_int_eq(files_replace(directory, kept[i], "abc"), 0);
    ck_assert_int_eq(symlink(kept[0], path_of(".ddpbench-00000001.tmp")), 0);
    ck_assert_int_eq(mkfifo(path_of(".ddpbench-00000002.tmp"), 0666), 0);
    ck_assert_int_eq(files_replace(directory, ".ddpbench-0123cdef.tmp", "left"), 0);
    ck_assert_int_eq(new_file_open(&file, path_of("f"), _i), 0);
    ck_assert_int_eq(write_pieces(&file, 1000), 0);
    ck_assert_int_eq(names(), 8);
    ck_assert_int_eq(files_check_named(&(struct named_path){"json", path_of("other"), "x"}, 1), 0);
    ck_assert_int_eq(names(), 7);
    ck_assert_int_eq(access(path_of(".ddpbench-0123cdef.tmp"), F_OK), -1);
    ck_assert_int_eq(new_file_end(&file, 0), 0);
    check_content(path_of("f"), 1000);
}

/* ---- write errors ---- */

/* A new file cannot replace a directory of the same name. */
TEST_EACH(a_file_that_cannot_have_its_name, 2)
{
    struct new_file file;
    ck_assert_int_eq(mkdir(path_of("taken"), 0777), 0);
    ck_assert_int_eq(new_file_open(&file, path_of("taken"), _i), 0);
    ck_assert_int_eq(write_pieces(&file, 1000), 0);
    ck_assert_int_eq(new_file_end(&file, 0), -1);
    check_has(error_text(), "taken");
    check_has(error_text(), strerror(EISDIR));
    ck_assert_int_eq(names(), 1);
}

/* Imitates a full disk by limiting the size of files to 0 bytes; with full = 0, lifts the limit. */
static void fill_disk(int full)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = full ? 0 : limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* For a compressed file, a full disk may only be noticed when the file is closed. */
TEST_EACH(a_full_disk_is_reported, 2)
{
    struct new_file file;
    fill_disk(1);
    ck_assert_int_eq(new_file_open(&file, path_of("f"), _i), 0);
    int failed = write_pieces(&file, _i ? 10 : MOST);
    ck_assert_int_eq(failed, _i - 1);
    ck_assert_int_eq(new_file_end(&file, failed), -1);
    check_has(error_text(), strerror(EFBIG));
    fill_disk(0);
    ck_assert_int_eq(names(), 0);
}

TEST(replacing_on_a_full_disk_keeps_the_old_file)
{
    ck_assert_int_eq(files_replace(directory, "f", "old"), 0);
    fill_disk(1);
    ck_assert_int_eq(files_replace(directory, "f", "new"), -1);
    fill_disk(0);
    check_has(error_text(), path_of("f"));
    check_has(error_text(), strerror(EFBIG));
    ck_assert_int_eq(names(), 1);
    memcpy(text, "old", 3);
    check_content(path_of("f"), 3);
}

/* ---- paths named by an option ---- */

static const char mark[] = "made by a test";

/* Checks one file to write; it is also written if text is not NULL. Returns 0; or -1, reported. */
static int check_one(const char *path, const char *written)
{
    const struct named_path named = {"json", path, mark};
    error_clear();
    return written ? files_replace_named(named, written) : files_check_named(&named, 1);
}

TEST(a_named_path_is_replaced)
{
    for (int i = 0; i < 3; i++) {
        snprintf(text, 64, "%s, i.e. this one\n%d", mark, i);
        ck_assert_int_eq(check_one(path_of("named"), NULL), 0);
        ck_assert_int_eq(check_one(path_of("named"), text), 0);
        check_content(path_of("named"), strlen(text));
        ck_assert_int_eq(names(), 1);
    }
    ck_assert_int_eq(check_one(path_of("missing/named"), "x"), -1);
    check_has(error_text(), "missing/named");
}

/* An existing file is replaced only if it begins with the mark of this program. Other files are kept, whatever their
 * names, even if they are empty, or if the path is a hard or symbolic link. */
TEST(a_named_path_of_somebody_else)
{
    snprintf(text, 64, "Mine\n%s, copied\n", mark); /* a mark on another line does not count */
    ck_assert_int_eq(files_replace(directory, "own", text), 0);
    ck_assert_int_eq(files_replace(directory, "empty", ""), 0);
    ck_assert_int_eq(link(path_of("own"), path_of("hard")), 0);
    ck_assert_int_eq(symlink("own", path_of("soft")), 0);
    ck_assert_int_eq(symlink("nowhere", path_of("dangling")), 0);
    static const char *const name[] = {"own", "empty", "hard", "soft", "dangling"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (int writes = 0; writes < 2; writes++) {
            ck_assert_int_eq(check_one(path_of(name[i]), writes ? mark : NULL), -1);
            check_has(error_text(), name[i]);
            ck_assert_ptr_nonnull(
                strstr(error_text(), i < 3 ? ": exists, and is not what ddpbench" : ": is a symbolic link; name"));
        }
    ck_assert_int_eq(names(), 5);
    check_content(path_of("own"), strlen(text));
}

/* A pipe, a directory and a device are not replaced, and a path that is too long is refused. */
TEST(a_named_path_that_is_no_file)
{
    char path[FILES_PATH + 1];
    ck_assert_int_eq(mkfifo(path_of("pipe"), 0666), 0);
    ck_assert_int_eq(mkdir(path_of("directory"), 0777), 0);
    const char *const name[] = {path_of("pipe"), path_of("directory"), "/dev/null"};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(check_one(name[i], "x"), -1);
        ck_assert_msg(!strncmp(error_text(), "--json /", 8) && strstr(error_text(), "is not a regular file"), "%s",
                      error_text());
    }
    memset(path, '/', FILES_PATH);
    path[FILES_PATH] = 0;
    memcpy(path, directory, strlen(directory));
    for (int writes = 0; writes < 2; writes++) {
        ck_assert_int_eq(check_one(path, writes ? "x" : NULL), -1);
        check_has(error_text(), "is longer than 799 characters");
    }
    ck_assert_int_eq(names(), 2);
}

/* Two spellings of a path, which exists (with the mark of this program) or not, in a directory with other names. Files
 * to read and directories are compared, too. */
static const struct pair {
    const char *path, *other;
    int same; /* 1: one file; 2: the other would be below the file */
} pairs[] = {{"new", "new", 1},
             {"new", "./new", 1},
             {"new", "sub/../new", 1},
             {"new", "link/../new", 1},
             {"sub/new", "link/new", 1},
             {"sub/new", "new", 0},
             {"new", "New", 0},
             {"new", "new2", 0},
             {"old", "./old", 1},
             {"old", "hard", 1},
             {"old", "link/../old", 1},
             {"sub/old", "link/old", 1},
             {"old", "sub/old", 0},
             {"new", "new/", 1},
             {"new", "new//", 1},
             {"old", "new", 0},
             {"-", "-", 0},
             {"", "", 0},
             {"new", "", 0},
             {"new", "/", 0},
             {"sub/new", "sub", 0},
             {"new", "new/a", 2},
             {"new", "./new/a/b", 2},
             {"sub/new", "link/new/a", 2},
             {"old", "old/a", 2},
             {"new", "new2/a", 0}};

TEST_EACH(two_paths_to_one_file_are_refused, 2 * sizeof pairs / sizeof *pairs)
{
    const struct pair *p = &pairs[_i / 2];
    ck_assert_int_eq(mkdir(path_of("sub"), 0777), 0);
    ck_assert_int_eq(symlink("sub", path_of("link")), 0);
    ck_assert_int_eq(files_replace(directory, "old", mark), 0);
    ck_assert_int_eq(files_replace(path_of("sub"), "old", mark), 0);
    ck_assert_int_eq(link(path_of("old"), path_of("hard")), 0);
    ck_assert_int_eq(chdir(directory), 0);
    const struct named_path file = {"json", p->path, mark}, other = {"data", p->other, NULL};
    const struct named_path both[] = {_i % 2 ? other : file, {0}, _i % 2 ? file : other}; /* in either order */
    ck_assert_msg(files_check_named(both, 3) == -(p->same != 0), "%s, %s: %s", p->path, p->other, error_text());
    ck_assert_int_eq(!strncmp(error_text(), _i % 2 ? "--data and --json name" : "--json and --data name", 22),
                     p->same == 1);
    ck_assert_int_eq(strstr(error_text(), "one is a file") != NULL, p->same == 2);
    ck_assert_int_eq(names(), 4); /* nothing is left */
    ck_assert_int_eq(chdir("/"), 0);
}

/* ---- directories ---- */

TEST(directories_are_made)
{
    static const char *const paths[] = {"a", "b/c/d", "b/c/e", "b/c", "g//h", "i/"};
    struct stat facts;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        ck_assert_int_eq(files_make_directories("output", path_of(paths[i])), 0);
        ck_assert_int_eq(stat(path_of(paths[i]), &facts), 0);
        ck_assert(S_ISDIR(facts.st_mode));
    }
    ck_assert_int_eq(files_make_directories("output", "/"), 0);
    ck_assert_int_eq(chdir(directory), 0);
    ck_assert_int_eq(files_make_directories("output", "x/y"), 0);
    ck_assert_int_eq(access(path_of("x/y"), W_OK), 0);
}

/* ---- reading ---- */

TEST(a_long_line_comes_in_pieces)
{
    const size_t lengths[] = {FILES_MOST_LINE, 5, 1, FILES_MOST_LINE};
    char why[FILES_WHY], *line = NULL;
    size_t room = 0;
    FILE *out = fopen(path_of("lines"), "a"); /* the file gets zeros, two newlines, and zeros */
    ck_assert_int_eq(truncate(path_of("lines"), (off_t)FILES_MOST_LINE + 4), 0);
    fputs("\n\n", out);
    fclose(out);
    ck_assert_int_eq(truncate(path_of("lines"), (off_t)(2 * FILES_MOST_LINE + 6)), 0);
    FILE *file = files_open(path_of("lines"), FILES_MOST_BYTES, why);
    ck_assert_msg(file != NULL, "%s", why);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(files_read_line(&line, &room, file), (ssize_t)lengths[i]);
    ck_assert_int_eq(files_read_line(&line, &room, file), -1);
    free(line);
    fclose(file);
    ck_assert_int_eq(truncate(path_of("lines"), (off_t)FILES_MOST_BYTES + 1), 0);
    ck_assert_ptr_null(files_open(path_of("lines"), FILES_MOST_BYTES, why));
    ck_assert_str_eq(why, "it has 8589934593 bytes; at most 8192 MiB are read");
}

SUITE("files", setup, scratch_remove_all)
