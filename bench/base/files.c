/* files.c - directories, and files that appear when they are complete. */
#include "base/files.h"

#include "kernels/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_directory(const char *path)
{
    struct stat status;
    int why = errno, yes = !stat(path, &status) && S_ISDIR(status.st_mode);
    errno = why;
    return yes;
}

int files_make_directories(const char *option, const char *path)
{
    char part[FILES_PATH];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = *part ? strchr(part + 1, '/') : NULL;; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = 0;
        if (mkdir(part, 0777) && !is_directory(part))
            return error_report("--%s %s: cannot make the directory %s: %s", option, path, part,
                                strerror(errno == EEXIST ? ENOTDIR : errno));
        if (!slash)
            return 0;
        *slash = '/';
    }
}

int files_write_all(int file, const char *text, size_t n)
{
    while (n) {
        ssize_t written = write(file, text, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        text += written;
        n -= (size_t)written;
    }
    return 0;
}

static int cannot_write(const struct new_file *file, int why)
{
    return error_report("cannot write %s: %s; what was written before it is complete", file->path, strerror(why));
}

int new_file_open(struct new_file *file, const char *path, int gzip)
{
    *file = (struct new_file){.file = -1};
    snprintf(file->path, sizeof file->path, "%s", path);
    snprintf(file->temporary, sizeof file->temporary, "%s.tmp", path);
    file->file = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->file < 0)
        return cannot_write(file, errno);
    if (gzip) {
        file->zip = gzdopen(file->file, "wb1");
        if (!file->zip)
            FATAL("no memory to compress %s", path);
    }
    return 0;
}

int new_file_write(struct new_file *file, const char *text, size_t n)
{
    if (!file->zip)
        return files_write_all(file->file, text, n);
    return n && gzwrite(file->zip, text, (unsigned)n) != (int)n ? -1 : 0;
}

static int close_file(struct new_file *file)
{
    errno = 0;
    int failed = file->zip ? gzclose(file->zip) != Z_OK : close(file->file);
    file->zip = NULL;
    file->file = -1;
    return failed ? -1 : 0;
}

void new_file_abandon(struct new_file *file)
{
    if (file->file < 0)
        return;
    close_file(file);
    unlink(file->temporary);
}

int new_file_commit(struct new_file *file)
{
    if (close_file(file) || rename(file->temporary, file->path)) {
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
