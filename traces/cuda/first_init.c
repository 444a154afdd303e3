/* first_init.c: a function that is called after the C library's own start-up code and before that of all other
 * files.
 *
 * A library that is linked with -z initfirst is started before the C library, which then has no environment and
 * cannot open files for it. So the first entry of each file's .init_array is made to lead to a few
 * instructions, which call the function and then what the entry led to. */
#include "first_init.h"
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRIES_MAX 512u
#define STUB_BYTES 32u

typedef void (*init_function)(int, char **, char **);

static void (*wanted)(void);
static init_function before[ENTRIES_MAX]; /* what the entries led to */
static unsigned entry_count;

static bool write_pointer(init_function *place, init_function value) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)place / page * page;
    size_t bytes = (uintptr_t)place + sizeof value - first;
    if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    *place = value; /* the page stays writable: what else lies in it is not known */
    return true;
}

static void reached(int argc, char **argv, char **envp, uint64_t n) {
    if (wanted) {
        void (*call)(void) = wanted;
        wanted = NULL;
        call();
    }
    before[n](argc, argv, envp);
}

/* mov $n, %ecx; movabs $reached, %rax; jmp *%rax */
static void write_stub(unsigned char *at, uint32_t n) {
    void (*target)(int, char **, char **, uint64_t) = reached;
    memcpy(at, "\xb9", 1);
    memcpy(at + 1, &n, 4);
    memcpy(at + 5, "\x48\xb8", 2);
    memcpy(at + 7, &target, 8);
    memcpy(at + 15, "\xff\xe0", 2);
}

static init_function *init_array(const struct link_map *l) {
    uintptr_t at = 0, bytes = 0;
    for (const ElfW(Dyn) *d = l->l_ld; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_INIT_ARRAY) at = d->d_un.d_ptr;
        if (d->d_tag == DT_INIT_ARRAYSZ) bytes = d->d_un.d_val;
    }
    return at && bytes >= sizeof(init_function) ? (init_function *)(l->l_addr + at) : NULL;
}

static bool is_early(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strncmp(name, "libc.", 5) == 0 || strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.", 3) == 0 ||
           strncmp(name, "libpthread", 10) == 0 || strncmp(name, "libwarpwatt-", 12) == 0 ||
           strncmp(name, "linux-vdso", 10) == 0;
}

static void lead_here(const struct link_map *l, unsigned char *stubs) {
    init_function *place = init_array(l), stub;
    unsigned char *at = stubs + (size_t)entry_count * STUB_BYTES;
    if (!place || !*place || is_early(l->l_name) || entry_count == ENTRIES_MAX) return;
    write_stub(at, entry_count);
    memcpy(&stub, &at, sizeof stub);
    before[entry_count] = *place;
    if (write_pointer(place, stub)) entry_count++;
}

void ww_first_init(void (*call)(void)) {
    size_t bytes = (size_t)ENTRIES_MAX * STUB_BYTES;
    if (environ) {
        call();
        return;
    }
    unsigned char *stubs = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stubs == MAP_FAILED) return;
    wanted = call;
    for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next) lead_here(l, stubs);
    mprotect(stubs, bytes, PROT_READ | PROT_EXEC);
}
