/* Passes of a cached load through the L1's tags, and cycles of its data. */
#include "wavefront.h"

#include <string.h>

enum { MOST_BANKS = 16 };

/* A line's bank: exclusive or of the digits of its number. Digits of a power of two bits are folded. */
static inline uint32_t bank_of(uint64_t key, uint32_t digit_bits) {
    uint32_t bank = 0;
    if (!(digit_bits & (digit_bits - 1))) {
        for (uint32_t shift = 32; shift >= digit_bits && shift; shift >>= 1) key ^= key >> shift;
        return (uint32_t)key & ((1u << digit_bits) - 1);
    }
    for (; key; key >>= digit_bits) bank ^= (uint32_t)key;
    return bank & ((1u << digit_bits) - 1);
}

void ww_wavefront_order(struct ww_coalescer *c, uint32_t banks, uint8_t pass[static WW_REQUEST_MAX]) {
    struct ww_line_request sorted[WW_REQUEST_MAX];
    uint8_t of[WW_REQUEST_MAX], in_bank[MOST_BANKS] = {0}, in_pass[WW_REQUEST_MAX + 1] = {0};
    uint32_t digit_bits = (uint32_t)__builtin_ctz(banks), most = 0;
    pass[0] = 0;
    if (c->count < 2) return;
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t key = c->request[i].key;
        of[i] = in_bank[digit_bits == 2 ? bank_of(key, 2) : bank_of(key, digit_bits)]++; /* four, as a rule */
        in_pass[of[i] + 1]++;
        if (of[i] > most) most = of[i];
    }
    if (most == 0) {
        memset(pass, 0, c->count);
        return;
    }
    for (uint32_t p = 1; p <= most; p++) in_pass[p + 1] = (uint8_t)(in_pass[p + 1] + in_pass[p]);
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t at = in_pass[of[i]]++;
        sorted[at] = c->request[i];
        pass[at] = of[i];
    }
    memcpy(c->request, sorted, c->count * sizeof *sorted);
}

uint32_t ww_wavefront_data(struct ww_core *core, const struct ww_lsu_entry *e, const struct ww_dinst *d,
                           uint32_t requests) {
    const struct ww_access *a = e->access;
    uint32_t row = core->banks.banks << core->banks.bank_shift, waves;
    if (!a || d->local) { /* words of all lanes lie in rows */
        waves = requests;
    } else if (d->width <= 4 && requests < 2) {
        waves = 1;
    } else if (a->list == WW_AFFINE && e->mask == UINT32_MAX && a->stride == (int64_t)d->width) {
        waves = d->width <= 4 ? 1 : d->width / 4;
    } else {
        struct ww_smem_passes p =
            ww_shapes_passes(&core->shapes, &core->banks, a, e->pool, e->mask, d->width, false);
        waves = p.parts + p.conflicts;
    }
    uint32_t cycles = row / core->gpu->l1_bytes_per_cycle;
    return (waves ? waves : 1) * (cycles ? cycles : 1);
}
