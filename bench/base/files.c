/* files.c - directories, and files that appear when they are complete. */
#include "base/files.h"

#include "kernels/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int files_make_directories(const char *option, const char *path)
{
    char part[FILES_PATH];
    struct stat status;
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = *part ? strchr(part + 1, '/') : NULL;; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = 0;
        int why = mkdir(part, 0777) ? errno : 0;
        if (why && (stat(part, &status) || !S_ISDIR(status.st_mode)))
            return error_report("--%s %s: cannot make the directory %s: %s", option, path, part,
                                strerror(why == EEXIST ? ENOTDIR : why));
        if (!slash)
            return 0;
        *slash = '/';
    }
}

static int cannot_write(const struct new_file *file, int why)
{
    return error_report("cannot write %s: %s; what was written before it is complete", file->path, strerror(why));
}

FILE *files_open(const char *path, const char **why)
{
    struct stat status;
    int other = !stat(path, &status) && !S_ISREG(status.st_mode);
    FILE *file = other ? NULL : fopen(path, "re");
    *why = other ? "it is not a regular file" : file ? "" : strerror(errno);
    return file;
}

size_t files_find(glob_t *found, const char *directory, const char *pattern)
{
    char path[2 * FILES_PATH + 64];
    size_t at = 0;
    *found = (glob_t){0};
    for (const char *c = directory; *c; c++) {
        if (at >= (size_t)2 * FILES_PATH)
            return 0; /* no path that this program takes */
        if (strchr("*?[\\", *c))
            path[at++] = '\\';
        path[at++] = *c;
    }
    snprintf(path + at, sizeof path - at, "/%s", pattern);
    return glob(path, 0, NULL, found) ? 0 : found->gl_pathc;
}

int new_file_open(struct new_file *file, const char *path, int gzip)
{
    *file = (struct new_file){0};
    snprintf(file->path, sizeof file->path, "%s", path);
    snprintf(file->temporary, sizeof file->temporary, "%s.tmp", path);
    int descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return cannot_write(file, errno);
    file->file = gzdopen(descriptor, gzip ? "wb1" : "wbT"); /* T: as it is, without compression */
    if (!file->file)
        FATAL("no memory to write %s", path);
    return 0;
}

int new_file_write(struct new_file *file, const char *text, size_t n)
{
    return n && gzwrite(file->file, text, (unsigned)n) != (int)n ? -1 : 0;
}

static int close_file(struct new_file *file)
{
    gzFile open_file = file->file;
    file->file = NULL;
    errno = 0;
    return gzclose(open_file);
}

void new_file_abandon(struct new_file *file)
{
    if (!file->file)
        return;
    close_file(file);
    unlink(file->temporary);
}

int new_file_commit(struct new_file *file)
{
    if (close_file(file) != Z_OK || rename(file->temporary, file->path)) {
        int why = errno ? errno : ENOSPC;
        unlink(file->temporary);
        return cannot_write(file, why);
    }
    return 0;
}

static int replace(const char *path, const char *text)
{
    struct new_file file;
    if (new_file_open(&file, path, 0))
        return -1;
    if (new_file_write(&file, text, strlen(text))) {
        int why = errno;
        new_file_abandon(&file);
        return cannot_write(&file, why);
    }
    return new_file_commit(&file);
}

int files_replace(const char *directory, const char *name, const char *text)
{
    char path[FILES_PATH];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return replace(path, text);
}

int files_replace_path(const char *option, const char *path, const char *text)
{
    struct stat status;
    if (strlen(path) >= FILES_PATH)
        return error_report("--%s %.60s...: the path is longer than %d characters", option, path, FILES_PATH - 1);
    if (!stat(path, &status) && !S_ISREG(status.st_mode))
        return error_report("--%s %s: is not a regular file; name a file", option, path);
    return replace(path, text);
}

int files_flush_stdout(void)
{
    return fflush(stdout) || ferror(stdout) ? error_report("cannot write to the standard output: %s", strerror(errno))
                                            : 0;
}
