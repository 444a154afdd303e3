/* Large blocks of memory in large pages of the system. */
#include "pages.h"
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define WW_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WW_ASAN 1
#endif
#endif

#ifdef WW_ASAN
void *ww_pages_new(size_t *size, size_t align) {
    (void)align;
    return calloc(1, *size);
}

void ww_pages_free(void *block, size_t size) {
    (void)size;
    free(block);
}
#else
static size_t rounded(size_t size) {
    return (size + WW_PAGES_LARGE - 1) & ~(WW_PAGES_LARGE - 1);
}

void *ww_pages_new(size_t *size, size_t align) {
    if (*size > SIZE_MAX / 2) return NULL;
    size_t total = rounded(*size);
    /* What lies in front of the multiple and behind the block is given back. */
    char *all = mmap(NULL, total + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    size_t before = -(uintptr_t)all & (align - 1);
    if (before) munmap(all, before);
    munmap(all + before + total, align - before);
#ifdef MADV_HUGEPAGE
    madvise(all + before, total, MADV_HUGEPAGE);
#endif
    *size = total;
    return all + before;
}

void ww_pages_free(void *block, size_t size) {
    if (block) munmap(block, rounded(size));
}
#endif
