/* files.c - directories, reading files with limits, and writing files that get their name once they are complete. */
#include "base/files.h"

#include "kernels/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

/* Cuts off the last part of a path, but not the / before it. Returns the length of the rest. */
static size_t cut_last(char *path)
{
    size_t n = strlen(path);
    while (n && path[n - 1] == '/')
        n--;
    while (n && path[n - 1] != '/')
        n--;
    path[n] = 0;
    return n;
}

size_t files_there(const char *path)
{
    char part[FILES_PATH];
    struct stat status;
    size_t n = (size_t)snprintf(part, sizeof part, "%s", path);
    while (n && lstat(part, &status))
        n = cut_last(part);
    return n;
}

void files_remove_empty(const char *path, size_t there)
{
    char part[FILES_PATH], made[FILES_PATH + 2];
    size_t n = (size_t)snprintf(part, sizeof part, "%s", path);
    snprintf(made, sizeof made, "/%s/", part + there);
    /* some may not have been made; of new/../old/run, where new was not there, old may have been */
    while (n > there + (n && part[n - 1] == '/') && !strstr(made, "/../") && (!rmdir(part) || errno != ENOTEMPTY))
        n = cut_last(part);
}

/* ---- a file that appears when it is complete ---- */

enum { BUFFER = 1 << 16 };

struct new_file_buffer {
    z_stream stream; /* of gzip */
    int gzip;
    size_t n; /* of the bytes, not yet written */
    char bytes[BUFFER];
};

static int cannot_write(const struct new_file *file, int why)
{
    return error_report("cannot write %s: %s; files written earlier are complete", file->path, strerror(why));
}

FILE *files_open(const char *path, size_t most, char why[FILES_WHY])
{
    struct stat status;
    FILE *stream = NULL;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* does not wait for the writer of a pipe */
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
            return 0; /* longer than any path that the program takes */
        if (strchr("*?[\\", *c))
            path[at++] = '\\';
        path[at++] = *c;
    }
    snprintf(path + at, sizeof path - at, "/%s", pattern);
    return glob(path, 0, NULL, found) ? 0 : found->gl_pathc;
}

static int refuse(const char *option, const char *path, const char *why)
{
    return error_report("%s%s %s: %s", option ? "--" : "cannot ", option ? option : "write", path, why);
}

/* Whether a line begins with the mark, possibly after blanks. */
static int has_mark(const char *begin, size_t n, const char *mark)
{
    size_t length = strlen(mark);
    for (const char *at = begin, *end = begin + n; (at = memmem(at, (size_t)(end - at), mark, length)); at++) {
        const char *before = at;
        while (before > begin && (before[-1] == ' ' || before[-1] == '\t'))
            before--;
        if (before == begin || before[-1] == '\n')
            return 1;
    }
    return 0;
}

/* Checks that the path does not exist, or is an empty file or one with the mark (NULL: any file). Returns 0; or -1,
 * reported. */
static int check_replaced(const char *option, const char *path, const char *mark)
{
    char begin[FILES_MARKED];
    struct stat status;
    if (strlen(path) >= FILES_PATH)
        return error_report("%s%s %.60s...: the path is longer than %d characters", option ? "--" : "cannot ",
                            option ? option : "write", path, FILES_PATH - 1);
    if (!mark)
        return 0;
    if (lstat(path, &status)) /* writing it finds any other failure */
        return errno == ENAMETOOLONG ? refuse(option, path, strerror(errno)) : 0;
    if (S_ISLNK(status.st_mode))
        return refuse(option, path, "is a symbolic link; name the file itself");
    if (!S_ISREG(status.st_mode))
        return refuse(option, path, "is not a regular file; name a file");
    if (!status.st_size)
        return 0;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : TEMP_FAILURE_RETRY(read(file, begin, sizeof begin));
    if (file >= 0)
        close(file);
    return n > 0 && has_mark(begin, (size_t)n, mark)
               ? 0
               : refuse(option, path,
                        "exists, and is not what ddpbench writes there; choose another name, or remove it");
}

static int begin_file(struct new_file *file, const char *option, const char *path, const char *mark, int gzip)
{
    const int fast = 1, of_gzip = 15 + 16, usual_memory = 8;
    *file = (struct new_file){.option = option, .mark = mark};
    snprintf(file->path, sizeof file->path, "%s", path);
    file->file = files_begin(file->temporary, sizeof file->temporary, path);
    if (file->file < 0)
        return cannot_write(file, errno);
    file->buffer = allocate(1, sizeof *file->buffer);
    file->buffer->gzip = gzip;
    if (gzip && deflateInit2(&file->buffer->stream, fast, Z_DEFLATED, of_gzip, usual_memory, Z_DEFAULT_STRATEGY))
        fatal_no_memory(0, 0);
    return 0;
}

int new_file_open(struct new_file *file, const char *path, int gzip)
{
    return begin_file(file, NULL, path, NULL, gzip);
}

int new_file_open_named(struct new_file *file, const char *option, const char *path, const char *mark)
{
    *file = (struct new_file){0};
    return check_replaced(option, path, mark) ? -1 : begin_file(file, option, path, mark, 0);
}

static int flush_buffer(struct new_file *file)
{
    size_t n = file->buffer->n;
    file->buffer->n = 0;
    return files_write(file->file, file->buffer->bytes, n);
}

/* Compresses n bytes; with Z_FINISH, also writes what zlib has kept. Returns 0; or -1 with errno. */
static int compress_bytes(struct new_file *file, const char *text, size_t n, int flush)
{
    struct new_file_buffer *b = file->buffer;
    int state = Z_OK;
    b->stream.next_in = (Bytef *)text;
    b->stream.avail_in = (uInt)n;
    while (b->stream.avail_in || (flush == Z_FINISH && state != Z_STREAM_END)) {
        b->stream.next_out = (Bytef *)b->bytes + b->n;
        b->stream.avail_out = (uInt)(BUFFER - b->n);
        state = deflate(&b->stream, flush);
        b->n = BUFFER - b->stream.avail_out;
        if (b->n == BUFFER && flush_buffer(file))
            return -1;
    }
    return 0;
}

/* Copies n bytes, which fit into the buffer. */
static int copy_bytes(struct new_file *file, const char *text, size_t n)
{
    struct new_file_buffer *b = file->buffer;
    memcpy(b->bytes + b->n, text, n);
    b->n += n;
    return b->n == BUFFER ? flush_buffer(file) : 0;
}

int new_file_write(struct new_file *file, const char *text, size_t n)
{
    const struct new_file_buffer *b = file->buffer;
    while (n) {
        size_t room = BUFFER - b->n, piece = n < room ? n : room;
        if (b->gzip ? compress_bytes(file, text, piece, Z_NO_FLUSH) : copy_bytes(file, text, piece))
            return -1;
        text += piece;
        n -= piece;
    }
    return 0;
}

static void forget_buffer(struct new_file *file)
{
    if (file->buffer->gzip)
        deflateEnd(&file->buffer->stream);
    free(file->buffer);
    file->buffer = NULL;
}

int new_file_abandon(struct new_file *file)
{
    if (!file->buffer)
        return 0;
    forget_buffer(file);
    return files_abandon(file->file, file->temporary);
}

int new_file_commit(struct new_file *file)
{
    if ((file->buffer->gzip && compress_bytes(file, NULL, 0, Z_FINISH)) || flush_buffer(file)) {
        int why = errno;
        new_file_abandon(file);
        return cannot_write(file, why);
    }
    if (check_replaced(file->option, file->path, file->mark)) { /* another process may have made it since */
        new_file_abandon(file);
        return -1;
    }
    forget_buffer(file);
    return files_publish(file->file, file->temporary, file->path) ? cannot_write(file, errno) : 0;
}

/* Writes and commits a text. Returns 0; or -1, reported. */
static int put_text(struct new_file *file, const char *text)
{
    if (!new_file_write(file, text, strlen(text)))
        return new_file_commit(file);
    int why = errno;
    new_file_abandon(file);
    return cannot_write(file, why);
}

int files_replace(const char *directory, const char *name, const char *text)
{
    char path[FILES_PATH];
    struct new_file file;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return new_file_open(&file, path, 0) ? -1 : put_text(&file, text);
}

int files_check_path(const char *option, const char *path, const char *mark)
{
    char temporary[FILES_PATH + FILES_TEMPORARY];
    if (check_replaced(option, path, mark))
        return -1;
    int file = files_begin(temporary, sizeof temporary, path), failed = file < 0 || files_abandon(file, temporary);
    int why = errno;
    files_remove_left(cut_last(strcpy(temporary, path)) ? temporary : ".");
    return failed ? error_report("--%s: cannot write %s: %s", option, path, strerror(why)) : 0;
}

int files_replace_path(const char *option, const char *path, const char *mark, const char *text)
{
    struct new_file file;
    return new_file_open_named(&file, option, path, mark) ? -1 : put_text(&file, text);
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
