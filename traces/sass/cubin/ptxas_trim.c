/* The limit of the cache of compiled code, and which files are removed when it is reached. */
#include "ptxas.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_MB 512
#define LIMIT_MB_MAX (UINT64_C(1) << 40)
#define DIGITS 32
#define ENDING ".cubin"
#define NAME (DIGITS + sizeof ENDING)

struct entry {
    char name[NAME];
    uint64_t bytes;
    struct timespec used;
};
struct entries {
    struct entry *p;
    size_t n, cap;
    uint64_t bytes;
};

uint64_t ww_ptxas_cache_limit(void) {
    const char *text = getenv("WARPWATT_PTXAS_CACHE_MB");
    size_t digits = text ? strspn(text, "0123456789") : 0;
    uint64_t mb = LIMIT_MB;
    if (digits && !text[digits]) mb = digits > 12 ? LIMIT_MB_MAX : strtoull(text, NULL, 10);
    return (mb > LIMIT_MB_MAX ? LIMIT_MB_MAX : mb) << 20;
}

/* A file that a cache made: 32 hexadecimal digits and an ending, of code or of the PTX that programs are built
 * to. */
static bool is_ours(const char *name) {
    size_t n = strspn(name, "0123456789abcdef");
    return n == DIGITS && (strcmp(name + n, ENDING) == 0 || strcmp(name + n, ".ptx") == 0);
}

static void add(struct entries *all, int dir, const char *name) {
    struct stat st;
    if (!is_ours(name) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) return;
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 256;
        struct entry *more = realloc(all->p, cap * sizeof *more);
        if (!more) return;
        all->p = more;
        all->cap = cap;
    }
    struct entry *e = &all->p[all->n++];
    snprintf(e->name, NAME, "%.*s", (int)NAME - 1, name);
    e->bytes = (uint64_t)st.st_size;
    e->used = st.st_mtim;
    all->bytes += e->bytes;
}

static int by_use(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

void ww_ptxas_cache_trim(const char *folder, uint64_t limit) {
    struct entries all = {0};
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) add(&all, dirfd(d), e->d_name);
    if (all.bytes > limit) qsort(all.p, all.n, sizeof *all.p, by_use);
    for (size_t i = 0; i < all.n && all.bytes > limit; i++)
        if (unlinkat(dirfd(d), all.p[i].name, 0) == 0) all.bytes -= all.p[i].bytes;
    if (d) closedir(d);
    free(all.p);
}
