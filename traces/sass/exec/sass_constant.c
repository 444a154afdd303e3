/* sass_constant.c: a launch's constant banks, and the rows of the constants that its instructions read. */
#include "grid.h"
#include <math.h>
#include <stdlib.h>

static void put(struct sx_run *r, uint32_t at, uint64_t value, uint32_t bytes) {
    if (at <= r->bank_bytes[0] && bytes <= r->bank_bytes[0] - at) memcpy(r->bank[0] + at, &value, bytes);
}

/* One divided by n, not below: with it kernels compute the number of a cluster. */
static uint32_t reciprocal(uint32_t n) {
    float f = nextafterf(1.0f / (float)n, (n & (n - 1)) ? 1.0f : 0.0f);
    uint32_t v;
    if (!(n & (n - 1))) f = 1.0f / (float)n;
    memcpy(&v, &f, sizeof v);
    return v;
}

/* From `at` on: whether there are clusters, CTAs of one in each dimension, their reciprocals as floats,
 * clusters in each dimension; at + 0x48 CTAs of one. */
static void fill_cluster(struct sx_run *r, uint32_t at) {
    uint32_t ctas = 1;
    put(r, at, r->cluster[0] != 0, 4);
    for (uint32_t n = 0; n < 3; n++) {
        uint32_t of = r->cluster[n] ? r->cluster[n] : 1;
        put(r, at + 4 + 4 * n, of, 4);
        put(r, at + 0x10 + 4 * n, reciprocal(of), 4);
        put(r, at + 0x1c + 4 * n, r->grid[n] / of, 4);
        ctas *= of;
    }
    put(r, at + 0x48, ctas, 4);
}

/* What the driver puts into bank 0. */
static void fill_bank0(struct sx_run *r) {
    const struct sx_kernel *k = r->kernel;
    const struct sx_arch *a = k->arch;
    for (uint32_t n = 0; n < 3; n++) {
        put(r, a->block + 4 * n, r->block[n], 4);
        put(r, a->grid + 4 * n, r->grid[n], 4);
    }
    if (a->shared_window) put(r, a->shared_window, SX_SHARED_WINDOW, 8); /* else a special register tells */
    put(r, a->local_window, SX_LOCAL_WINDOW, 8);
    put(r, a->stack, r->local_top, 4);
    put(r, a->dynamic_shared, r->dynamic_shared, 4);
    put(r, a->grid_id, r->grid_id, 8);
    put(r, a->envreg + 4, r->workspace >> 32, 4); /* of a cooperative grid: its workspace's address */
    put(r, a->envreg + 8, (uint32_t)r->workspace, 4);
    put(r, a->sm_count, SX_SMS, 4);
    put(r, a->shared_reserved, a->shared_base, 4);
    if (a->param_address) put(r, a->param_address, SX_CONST_WINDOW + a->params, 8);
    if (a->cluster) fill_cluster(r, a->cluster);
    for (uint32_t n = 0; n < k->entry->param_bytes; n++) put(r, k->entry->param_offset + n, r->param[n], 1);
}

static enum ww_code copy_banks(struct sx_run *r, struct ww_error *error) {
    const struct sx_kernel *k = r->kernel;
    for (unsigned n = 0; n < WW_CUBIN_BANKS; n++) {
        const struct ww_cubin_bytes *from = &k->entry->bank[n];
        uint64_t bytes = from->size;
        if (n == 0) {
            uint64_t least = (uint64_t)k->entry->param_offset + k->entry->param_bytes;
            if (bytes < least) bytes = least;
            if (bytes < k->arch->params) bytes = k->arch->params;
        }
        if (bytes > WW_CUBIN_BANK_MAX)
            return ww_fail(error, WW_INPUT, k->entry->name,
                           "%llu bytes in constant bank %u: expected at most %u", (unsigned long long)bytes, n,
                           WW_CUBIN_BANK_MAX);
        r->bank[n] = calloc(1, bytes ? bytes : 1);
        if (!r->bank[n]) return ww_fail_nomem(error, "a launch's constants");
        r->bank_bytes[n] = (uint32_t)bytes;
        if (from->size) memcpy(r->bank[n], from->data, from->size);
    }
    return WW_OK;
}

static enum ww_code fill_rows(struct sx_run *r, struct ww_error *error) {
    const struct sx_kernel *k = r->kernel;
    uint32_t *rows = (uint32_t *)(void *)r->constants;
    for (unsigned l = 0; l < SX_LANES; l++) rows[SX_WIDE * SX_LANES + l] = SX_ALL;
    for (uint32_t n = 0; n < k->constant_count; n++) {
        const struct sx_constant *c = &k->constant[n];
        uint32_t word[4] = {(uint32_t)c->value, (uint32_t)(c->value >> 32)};
        if (c->bank >= 0) {
            if (c->offset > r->bank_bytes[c->bank] || 4 * c->rows > r->bank_bytes[c->bank] - c->offset)
                return ww_fail(error, WW_INPUT, k->entry->name,
                               "an instruction reads c[%d][0x%x], the bank has %u bytes", (int)c->bank,
                               c->offset, r->bank_bytes[c->bank]);
            memcpy(word, r->bank[c->bank] + c->offset, 4 * (size_t)c->rows);
        }
        uint32_t *to = rows + c->at / 4;
        for (uint32_t m = 0; m < c->rows; m++)
            for (unsigned l = 0; l < SX_LANES; l++) to[m * SX_LANES + l] = word[m];
    }
    return WW_OK;
}

enum ww_code ww_sx_constants_new(struct sx_run *r, struct ww_error *error) {
    size_t bytes = (size_t)(SX_WIDE + 1 + r->kernel->constant_rows) * SX_ROW;
    memset(r->bank, 0, sizeof r->bank);
    r->constants = aligned_alloc(SX_ROW, bytes);
    if (!r->constants) return ww_fail_nomem(error, "a launch's constants");
    memset(r->constants, 0, bytes);
    WW_TRY(copy_banks(r, error));
    fill_bank0(r);
    return fill_rows(r, error);
}

void ww_sx_constants_free(struct sx_run *r) {
    for (unsigned n = 0; n < WW_CUBIN_BANKS; n++) {
        free(r->bank[n]);
        r->bank[n] = NULL;
    }
    free(r->constants);
    r->constants = NULL;
}
