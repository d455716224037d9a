/* files.c - makes directories, reads files of limited size, and writes files that appear once complete. */
#include "base/files.h"

#include "kernels/error.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

int files_make_directories(const char *option, const char *path)
{
    char part[FILES_PATH];
    struct stat status;
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = *part ? strchr(part + 1, '/') : NULL;; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = 0;
        int why = TEMP_FAILURE_RETRY(mkdir(part, 0777)) ? errno : 0;
        if (why && (stat(part, &status) || !S_ISDIR(status.st_mode)))
            return error_report("--%s %s: cannot make the directory %s: %s", option, path, part,
                                strerror(why == EEXIST ? ENOTDIR : why));
        if (!slash)
            return 0;
        *slash = '/';
    }
}

/* ---- reading ---- */

FILE *files_open(const char *path, size_t most, char why[FILES_WHY])
{
    struct stat status;
    FILE *stream = NULL;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* O_NONBLOCK: does not wait for a writer of a pipe */
    if (file < 0 || fstat(file, &status))
        snprintf(why, FILES_WHY, "%s", strerror(errno));
    else if (!S_ISREG(status.st_mode))
        snprintf(why, FILES_WHY, "%s", S_ISDIR(status.st_mode) ? strerror(EISDIR) : "it is not a regular file");
    else if ((size_t)status.st_size > most)
        snprintf(why, FILES_WHY, "it has %zu bytes; at most %zu MiB are read", (size_t)status.st_size, most >> 20);
    else if (!(stream = fdopen(file, "r")))
        snprintf(why, FILES_WHY, "%s", strerror(errno));
    if (!stream && file >= 0)
        close(file);
    return stream;
}

ssize_t files_read_line(char **line, size_t *room, FILE *file)
{
    size_t n = 0;
    for (int c = 0; c != '\n' && n < FILES_MOST_LINE && (c = getc_unlocked(file)) != EOF;) {
        if (n + 2 > *room) {
            *room = *room ? 2 * *room : 256;
            *line = realloc(*line, *room);
            if (!*line)
                fatal_no_memory(*room, 1);
        }
        (*line)[n++] = (char)c;
        (*line)[n] = 0;
    }
    return n ? (ssize_t)n : -1;
}

size_t files_find(glob_t *found, const char *directory, const char *pattern)
{
    char path[2 * FILES_PATH + 64];
    size_t at = 0;
    *found = (glob_t){0};
    for (const char *c = directory; *c; c++) {
        if (at >= (size_t)2 * FILES_PATH)
            return 0; /* the program accepts no path of this length */
        if (strchr("*?[\\", *c))
            path[at++] = '\\';
        path[at++] = *c;
    }
    snprintf(path + at, sizeof path - at, "/%s", pattern);
    return glob(path, 0, NULL, found) ? 0 : found->gl_pathc;
}

/* ---- files that appear once they are complete ---- */

static int cannot_write(const struct new_file *file)
{
    return error_report("cannot write %s: %s; files written earlier are complete", file->path, strerror(errno));
}

int new_file_open(struct new_file *file, const char *path, int gzip)
{
    *file = (struct new_file){0};
    snprintf(file->path, sizeof file->path, "%s", path);
    file->file = files_begin(file->temporary, sizeof file->temporary, path);
    if (file->file < 0)
        *file->temporary = 0;
    else if (gzip)
        file->gzip = gzdopen(fcntl(file->file, F_DUPFD_CLOEXEC, 0), "wb1"); /* gzclose closes this copy */
    return file->file < 0 || (gzip && !file->gzip) ? cannot_write(file) : 0;
}

int new_file_write(struct new_file *file, const char *text, size_t n)
{
    int failed = file->gzip ? gzfwrite(text, 1, n, file->gzip) != n : files_write(file->file, text, n);
    return failed ? cannot_write(file) : 0;
}

int new_file_end(struct new_file *file, int failed)
{
    if (!*file->temporary)
        return -1;
    if (file->gzip && gzclose(file->gzip) && !failed)
        failed = cannot_write(file);
    if (failed)
        (void)files_abandon(file->file, file->temporary);
    else if (files_publish(file->file, file->temporary, file->path))
        failed = cannot_write(file);
    *file->temporary = 0;
    return failed ? -1 : 0;
}

static int write_file(const char *path, const char *text)
{
    struct new_file file = {0};
    return new_file_end(&file, new_file_open(&file, path, 0) || new_file_write(&file, text, strlen(text)));
}

int files_replace(const char *directory, const char *name, const char *text)
{
    char path[FILES_PATH];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return write_file(path, text);
}

/* ---- paths given to options ---- */

static int is_path(const char *given)
{
    return given && *given && strcmp(given, "-") != 0;
}

int files_check_replaced(const struct named_path *named)
{
    char begin[256] = "";
    const char *option = named->option, *path = named->path;
    struct stat status;
    if (strlen(path) >= FILES_PATH)
        return error_report("--%s %.60s...: the path is longer than %d characters", option, path, FILES_PATH - 1);
    if (lstat(path, &status)) /* any other failure is reported when the file is written */
        return errno == ENAMETOOLONG ? error_report("--%s %s: %s", option, path, strerror(errno)) : 0;
    if (!S_ISREG(status.st_mode))
        return error_report("--%s %s: %s", option, path,
                            S_ISLNK(status.st_mode) ? "is a symbolic link; name the file itself"
                                                    : "is not a regular file; name a file");
    if (access(path, W_OK) && errno == EPERM) /* immutable; a file without write permission could be replaced */
        return error_report("--%s %s: cannot be replaced: %s; choose another name", option, path, strerror(EPERM));
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : TEMP_FAILURE_RETRY(read(file, begin, sizeof begin - 1));
    if (file >= 0)
        close(file);
    return n > 0 && !strncmp(begin, named->mark, strlen(named->mark))
               ? 0
               : error_report(
                     "--%s %s: exists, and is not what ddpbench writes there; choose another name, or remove it",
                     option, path);
}

/* Where a path leads: to a file, if it exists, and to a name in a directory. An inode of 0: does not exist. */
struct location {
    struct stat file, directory;
    char path[2][FILES_PATH + 1], *above, *name;
};

static void locate(struct location *to, const char *path)
{
    for (int i = 0; i < 2; i++) /* one for dirname and one for basename, which change it */
        snprintf(to->path[i], sizeof to->path[i], "%s", path);
    to->above = dirname(to->path[0]);
    to->name = basename(to->path[1]);
    if (stat(path, &to->file))
        to->file.st_ino = 0;
    if (stat(to->above, &to->directory))
        to->directory.st_ino = 0;
}

static int is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino && a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Returns 1 if a path leads to the place, 2 if to something below it, 0 otherwise. */
static int leads_to(const char *path, const struct location *place)
{
    struct location at;
    char rest[FILES_PATH + 1];
    snprintf(rest, sizeof rest, "%s", path);
    for (int how = 1, is_end = 0; !is_end; how = 2) {
        locate(&at, rest);
        if (is_same(&at.file, &place->file) ||
            (is_same(&at.directory, &place->directory) && !strcmp(at.name, place->name)))
            return how;
        is_end = !strcmp(at.above, rest);
        snprintf(rest, sizeof rest, "%s", at.above);
    }
    return 0;
}

/* Checks that one path is apart from those before it, and may be replaced by this user. Returns 0; or -1, reported. */
static int check_apart(const struct named_path *named, size_t i)
{
    struct location mine, other;
    locate(&mine, named[i].path);
    for (size_t j = 0; j < i; j++) {
        if (!is_path(named[j].path))
            continue;
        locate(&other, named[j].path);
        int how = leads_to(named[i].path, &other);
        if (how == 1)
            return error_report("--%s and --%s name the same file, %s", named[j].option, named[i].option,
                                named[i].path);
        if ((named[j].mark && how) || (named[i].mark && leads_to(named[j].path, &mine)))
            return error_report("--%s %s and --%s %s: one is a file, and the other would be below it", named[j].option,
                                named[j].path, named[i].option, named[i].path);
    }
    if (named[i].mark && mine.file.st_ino && mine.directory.st_mode & S_ISVTX && geteuid() &&
        geteuid() != mine.file.st_uid && geteuid() != mine.directory.st_uid)
        return error_report("--%s %s: belongs to another user, and only its owner may replace it in this directory",
                            named[i].option, named[i].path);
    return 0;
}

int files_check_named(const struct named_path *named, size_t n)
{
    char temporary[FILES_PATH + FILES_TEMPORARY], above[FILES_PATH + 1];
    for (size_t i = 0; i < n; i++) {
        if (!is_path(named[i].path))
            continue;
        if (check_apart(named, i))
            return -1;
        if (!named[i].mark)
            continue;
        if (files_check_replaced(&named[i]))
            return -1;
        int file = files_begin(temporary, sizeof temporary, named[i].path);
        if (file < 0 || files_abandon(file, temporary))
            return error_report("--%s: cannot write %s: %s", named[i].option, named[i].path, strerror(errno));
        snprintf(above, sizeof above, "%s", named[i].path);
        files_remove_left(dirname(above));
    }
    return 0;
}

int files_replace_named(struct named_path named, const char *text)
{
    return files_check_replaced(&named) ? -1 : write_file(named.path, text);
}

int files_lock_directory(const char *option, const char *directory, int *lock)
{
    *lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0 || !flock(*lock, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
        return 0;
    close(*lock);
    *lock = -1;
    return error_report("--%s %s: another run or report writes there now; choose another directory", option, directory);
}

int files_flush_stdout(void)
{
    errno = 0;
    return fflush(stdout) || ferror(stdout)
               ? error_report("cannot write to the standard output: %s",
                              errno ? strerror(errno) : "a part of it could not be written")
               : 0;
}
