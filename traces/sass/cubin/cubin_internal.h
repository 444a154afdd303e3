/* cubin_internal.h: what the pieces of the cubin reader share. Offsets in messages count from the file's start.
 */
#ifndef WW_TRACES_SASS_CUBIN_INTERNAL_H
#define WW_TRACES_SASS_CUBIN_INTERNAL_H

#include "../../../estimator/base/arena.h"
#include "cubin.h"

#define CUBIN_NONE UINT32_MAX

enum cubin_kind { CUBIN_OTHER, CUBIN_TEXT, CUBIN_GLOBAL, CUBIN_CONSTANT, CUBIN_SHARED };

struct ww_cubin_section {
    const char *name;
    uint64_t name_at; /* of the header in the file */
    uint32_t type, link, info;
    uint64_t flags, offset, size, align, entry_bytes;
    enum cubin_kind kind;
    uint32_t bank, kernel; /* CUBIN_CONSTANT; CUBIN_TEXT, and what belongs to one kernel: its index */
    uint64_t place;        /* offset in the code block or in global memory */
    unsigned char *data;   /* the copy that relocations change; NULL: none is kept */
};

struct ww_cubin_symbol {
    const char *name;
    uint64_t value, size;
    uint32_t section;  /* 0: undefined; CUBIN_NONE: an absolute value */
    uint32_t external; /* 1 + index of externs; 0: none */
    uint8_t type, bind, other;
};

/* One entry of a relocation section. */
struct cubin_reloc {
    uint64_t at; /* place of the entry in the file */
    uint64_t offset;
    uint32_t type, symbol;
    uint64_t addend;
    bool has_addend;
};

static inline uint64_t cubin_get(const unsigned char *p, unsigned bytes) {
    uint64_t v = 0;
    for (unsigned n = bytes; n > 0; n--) v = v << 8 | p[n - 1];
    return v;
}

/* An error at a byte of the file. */
__attribute__((format(printf, 5, 6))) enum ww_code ww_cubin_bad(const struct ww_cubin *c,
                                                                struct ww_error *error, enum ww_code code,
                                                                uint64_t at, const char *fmt, ...);
/* True if the name begins with the prefix; *rest is what follows. */
bool ww_cubin_prefix(const char *name, const char *prefix, const char **rest);
struct ww_cubin_kernel *ww_cubin_kernel_named(const struct ww_cubin *c, const char *name);
/* Number of entries of a relocation section; reads one. */
uint64_t ww_cubin_reloc_count(const struct ww_cubin_section *s);
enum ww_code ww_cubin_reloc(const struct ww_cubin *c, const struct ww_cubin_section *s, uint64_t number,
                            struct cubin_reloc *reloc, struct ww_error *error);

/* What follows fills kernels from .nv.info sections, from constant and shared ones, and from line tables. */
enum ww_code ww_cubin_read_info(struct ww_cubin *c, struct ww_error *error);
enum ww_code ww_cubin_read_lines(struct ww_cubin *c, struct ww_error *error);
/* Section headers, names and symbols of an ELF file whose header has been checked. */
enum ww_code ww_cubin_read_elf(struct ww_cubin *c, struct ww_error *error);

#endif
