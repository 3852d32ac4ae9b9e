/* Notes what a process writes, makes, renames and removes below the folder WRITES_BELOW, one line each, in the file WRITES_LOG.

   Loaded before the C library (LD_PRELOAD), so what TensorFlow and HDF5 write by themselves is noted too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(const char *what, const char *path) {
    const char *log = getenv("WRITES_LOG"), *below = getenv("WRITES_BELOW");
    char line[4600];
    if (!log || !below || !path) return;
    if (path[0] == '/') {
        size_t length = strlen(below);
        if (strncmp(path, below, length) || path[length] != '/') return;
        path += length + 1;
    }
    if (getenv("WRITES_SLOWLY")) usleep(60000); /* who reads without waiting comes too early */
    int length = snprintf(line, sizeof line, "%s %s\n", what, path);
    int file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0) return;
    if (write(file, line, length) < 0) abort();
    close(file);
}

#define REAL(name, type, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))
#define OPENED(name)                                                                         \
    int name(const char *path, int flags, ...) {                                             \
        va_list rest;                                                                        \
        va_start(rest, flags);                                                               \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;              \
        va_end(rest);                                                                        \
        if ((flags & O_ACCMODE) != O_RDONLY) note("write", path);                            \
        return REAL(name, int, const char *, int, ...)(path, flags, mode);                   \
    }
OPENED(open)
OPENED(open64)

int openat(int folder, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if ((flags & O_ACCMODE) != O_RDONLY) note("write", path);
    return REAL(openat, int, int, const char *, int, ...)(folder, path, flags, mode);
}

#define FOPENED(name)                                                                        \
    FILE *name(const char *path, const char *mode) {                                         \
        if (mode[0] != 'r' || strchr(mode, '+')) note("write", path);                        \
        return REAL(name, FILE *, const char *, const char *)(path, mode);                   \
    }
FOPENED(fopen)
FOPENED(fopen64)

int rename(const char *from, const char *to) {
    note("rename", to);
    return REAL(rename, int, const char *, const char *)(from, to);
}

int unlink(const char *path) {
    note("remove", path);
    return REAL(unlink, int, const char *)(path);
}

int mkdir(const char *path, mode_t mode) {
    int made = REAL(mkdir, int, const char *, mode_t)(path, mode);
    note(made ? "found" : "folder", path);
    return made;
}
