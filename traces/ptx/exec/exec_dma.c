/* exec_dma.c: the intrinsics of D2MA, ww_dma_configure() and ww_dma_execute() (traces/kernels/ww_dma.h).
 *
 * A transfer takes effect when all warps of its CTA have reached it: ww_dma_execute() is a barrier of its own,
 * whose last arrival copies the tile. All warps must ask for the same transfer. */
#include "simt.h"
#include <string.h>

enum { CONFIGURE_ARGUMENTS = 9, EXECUTE_ARGUMENTS = 4 };

bool ww_ex_is_dma(const char *name) {
    return strncmp(name, "ww_dma_", 7) == 0 &&
           (strcmp(name, "ww_dma_configure") == 0 || ww_ex_is_dma_start(name));
}

bool ww_ex_is_dma_start(const char *name) {
    return strcmp(name, "ww_dma_execute") == 0;
}

static uint32_t number(struct ex_warp *w, const struct ex_inst *i, uint32_t n, unsigned lane) {
    return (uint32_t)ww_ex_argument(w, i, n, lane);
}

static void fail_lane(struct ex_warp *w, unsigned lane, const char *why) {
    ww_ex_fail(w, lane, WW_EXEC, "a bulk transfer that the engine cannot do: %s", why);
}

static bool buffer_of(struct ex_warp *w, const struct ex_inst *i, unsigned lane, uint32_t *buffer) {
    *buffer = number(w, i, 0, lane);
    if (*buffer < WW_DMA_BUFFERS) return true;
    ww_ex_fail(w, lane, WW_EXEC, "buffer %u of a bulk transfer; a CTA has %d", *buffer, WW_DMA_BUFFERS);
    return false;
}

void ww_ex_dma_configure(struct ex_warp *w, const struct ex_inst *i, uint32_t mask) {
    unsigned lane = (unsigned)__builtin_ctz(mask);
    uint32_t buffer;
    if (i->elem_count != CONFIGURE_ARGUMENTS) {
        fail_lane(w, lane, "ww_dma_configure() takes 9 arguments");
        return;
    }
    if (!buffer_of(w, i, lane, &buffer)) return;
    uint32_t rows = number(w, i, 2, lane);
    w->cta->dma[buffer] = (struct ww_dma){.columns = number(w, i, 1, lane),
                                          .rows = rows ? rows : 1,
                                          .two = rows != 0,
                                          .size = number(w, i, 3, lane),
                                          .stride = number(w, i, 4, lane),
                                          .mode = (uint8_t)number(w, i, 5, lane),
                                          .halo_rows = number(w, i, 6, lane),
                                          .halo_columns = number(w, i, 7, lane),
                                          .constant = number(w, i, 8, lane),
                                          .buffer = (uint8_t)buffer};
}

static bool element(struct ex_warp *w, const struct ww_dma *d, uint64_t from, uint32_t to) {
    unsigned char *source = NULL, bytes[8] = {0};
    if (from) {
        source = ww_ex_generic(w, 0, from, d->size);
        if (!source) return false;
    } else {
        memcpy(bytes, &d->constant, d->size < 2 ? d->size : 2);
    }
    memcpy(w->cta->shared + to, source ? source : bytes, d->size);
    return true;
}

void ww_simt_dma_copy(struct ex_cta *cta, uint32_t buffer) {
    const struct ww_dma *d = &cta->transfer[buffer];
    struct ex_warp *w = &cta->warp[0];
    for (uint32_t r = 0; r < ww_dma_rows(d); r++) {
        struct ww_dma_row row = ww_dma_row(d, r);
        uint32_t k = row.first;
        for (uint32_t n = 0; n < row.left; n++) element(w, d, 0, ww_dma_place(d, k++));
        for (uint32_t n = 0; n < row.count; n++)
            if (!element(w, d, row.global + n * ww_dma_pitch(d), ww_dma_place(d, k++))) return;
        for (uint32_t n = 0; n < row.right; n++) element(w, d, 0, ww_dma_place(d, k++));
    }
}

/* The transfer as one lane asks for it; false: it cannot be done. */
static bool asked(struct ex_warp *w, const struct ex_inst *i, unsigned lane, struct ww_dma *d) {
    uint32_t buffer;
    if (i->elem_count != EXECUTE_ARGUMENTS) {
        fail_lane(w, lane, "ww_dma_execute() takes 4 arguments");
        return false;
    }
    if (!buffer_of(w, i, lane, &buffer)) return false;
    uint64_t shared = ww_ex_argument(w, i, 1, lane);
    *d = w->cta->dma[buffer];
    d->global = ww_ex_argument(w, i, 2, lane);
    d->region = (uint8_t)number(w, i, 3, lane);
    d->shared = (uint32_t)(shared - EX_SHARED_WINDOW);
    const char *why = shared < EX_SHARED_WINDOW ? "its destination is not in shared memory" : ww_dma_check(d);
    if (!why && (uint64_t)d->shared + ww_dma_bytes(d) > w->run->shared_bytes)
        why = "it ends outside of the CTA's shared memory";
    if (why) fail_lane(w, lane, why);
    return !why;
}

bool ww_ex_dma_execute(struct ex_warp *w, const struct ex_inst *i, uint32_t mask, uint32_t *buffer) {
    struct ww_dma d = {.global = 0};
    uint64_t word[WW_DMA_WORDS];
    unsigned first = (unsigned)__builtin_ctz(mask);
    for (uint32_t m = mask; m; m &= m - 1) {
        if (!asked(w, i, (unsigned)__builtin_ctz(m), &d)) return false;
        ww_dma_pack(&d, word);
        if (m != mask && memcmp(word, w->dma, sizeof word) != 0) {
            fail_lane(w, (unsigned)__builtin_ctz(m), "threads of the CTA ask for different ones");
            return false;
        }
        memcpy(w->dma, word, sizeof word);
    }
    struct ww_dma *of_cta = &w->cta->transfer[d.buffer];
    if (w->cta->barrier[SIMT_BARRIERS + d.buffer].used) {
        uint64_t before[WW_DMA_WORDS];
        ww_dma_pack(of_cta, before);
        if (memcmp(word, before, sizeof word) != 0) {
            fail_lane(w, first, "warps of the CTA ask for different ones");
            return false;
        }
    }
    if (__builtin_popcount(mask) < WW_DMA_WORDS) {
        fail_lane(w, first, "a warp with fewer than 3 active threads asks for it");
        return false;
    }
    *of_cta = d;
    *buffer = d.buffer;
    return true;
}
