/* The text of a source file and its hash. Opening never waits, since the name may be of a FIFO. */
#include "source_text.h"
#include "hash.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *read_all(int fd, size_t size) {
    size_t n = 0;
    char *text = malloc(size + 1);
    while (text && n < size) {
        ssize_t got = read(fd, text + n, size - n);
        if (got <= 0) break;
        n += (size_t)got;
    }
    if (text && n < size) {
        free(text);
        return NULL;
    }
    if (text) text[size] = 0;
    return text;
}

char *ww_source_read(const char *path, size_t *bytes, char hash[WW_SOURCE_TEXT_HASH]) {
    struct stat s;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return NULL;
    bool good = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0 && s.st_size <= WW_SOURCE_TEXT_MAX;
    char *text = good ? read_all(fd, (size_t)s.st_size) : NULL;
    close(fd);
    if (!text) return NULL;
    *bytes = (size_t)s.st_size;
    snprintf(hash, WW_SOURCE_TEXT_HASH, "%016llx", (unsigned long long)ww_hash_bytes(text, *bytes, 0));
    return text;
}
