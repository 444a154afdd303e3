/* accelsim_fixture.h: traces as text, imported from memory. */
#ifndef WW_TESTS_ACCELSIM_FIXTURE_H
#define WW_TESTS_ACCELSIM_FIXTURE_H

#include "../../estimator/warpwatt.h"
#include "../../estimator/base/arena.h"
#include "../../traces/trace.h"

struct as_text {
    unsigned version;         /* 0: the header has no version */
    const char *grid, *block; /* NULL: (1,1,1), (32,1,1) */
    const char *more;         /* further header lines, or NULL */
    const char *body;         /* what follows the header */
    bool strict;
    size_t open_limit; /* bytes of open CTAs; 0: the usual */
};

struct as_result {
    struct ww_arena arena;
    enum ww_code code;
    struct ww_error error;
    struct ww_import_stats stats;
    struct ww_trace *trace; /* NULL after an error */
    const struct ww_launch *launch;
    struct ww_cta_trace cta; /* CTA 0, if it is there */
    bool has_cta;
};

/* Imports header and body; verifies the trace and loads its CTA 0. Free with as_free, also after an error. */
void as_import(const struct as_text *text, struct as_result *r);
/* Imports bytes as a file has them. */
void as_import_bytes(const void *data, size_t n, struct as_result *r);
/* Imports a body of version 5, in one CTA with one warp: wraps its lines in "thread block" and "warp". */
void as_import_lines(const char *const *line, size_t count, struct as_result *r);
void as_free(struct as_result *r);
/* The instruction of a warp's step, and its k-th source. */
const struct ww_inst *as_inst(const struct as_result *r, uint32_t warp, uint32_t step);
/* Address of a lane in the warp's access number `access`; `step` is the access's step. */
uint64_t as_address(const struct as_result *r, uint32_t warp, uint32_t step, uint32_t access, unsigned lane);
/* The header's text, in the arena. */
const char *as_header(struct ww_arena *arena, const struct as_text *text);

#endif
