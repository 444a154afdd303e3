/* Passes of a cached load through the L1's tags, and cycles of its data. */
#include "wavefront.h"

#include <string.h>

enum { MOST_BANKS = 16 };

/* The lines' banks: exclusive or of the digits of their numbers, here of 1, 2 or 4 bits. Loops without branches
 * become such over vectors. */
static inline __attribute__((always_inline)) void find_banks(const struct ww_line_request *r, uint32_t count,
                                                             uint32_t digit_bits, uint32_t *bank) {
    for (uint32_t i = 0; i < count; i++) bank[i] = (uint32_t)(r[i].key ^ r[i].key >> 32);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = bank[i] ^ bank[i] >> 16;
        key ^= key >> 8;
        key ^= key >> 4;
        if (digit_bits <= 2) key ^= key >> 2;
        if (digit_bits <= 1) key ^= key >> 1;
        bank[i] = key & ((1u << digit_bits) - 1);
    }
}

/* The same of digits of other lengths. */
static void find_odd_banks(const struct ww_line_request *r, uint32_t count, uint32_t digit_bits,
                           uint32_t *bank) {
    for (uint32_t i = 0; i < count; i++) {
        bank[i] = 0;
        for (uint64_t key = r[i].key; key; key >>= digit_bits) bank[i] ^= (uint32_t)key;
        bank[i] &= (1u << digit_bits) - 1;
    }
}

void ww_wavefront_order(struct ww_coalescer *c, uint32_t banks, uint8_t pass[static WW_REQUEST_MAX]) {
    struct ww_line_request sorted[WW_REQUEST_MAX];
    uint32_t bank[WW_REQUEST_MAX], digit_bits = (uint32_t)__builtin_ctz(banks), count = c->count, last = 0;
    uint8_t of[WW_REQUEST_MAX], in_bank[MOST_BANKS] = {0}, in_pass[WW_REQUEST_MAX + 1] = {0}, from = 0;
    pass[0] = 0;
    if (count < 2) return;
    if (digit_bits == 2) /* four, as a rule */
        find_banks(c->request, count, 2, bank);
    else if (digit_bits == 3)
        find_odd_banks(c->request, count, digit_bits, bank);
    else
        find_banks(c->request, count, digit_bits, bank);
    for (uint32_t i = 0; i < count; i++) in_pass[of[i] = in_bank[bank[i]]++]++;
    while (in_pass[last + 1]) last++;
    if (last == 0) {
        memset(pass, 0, count);
        return;
    }
    for (uint32_t p = 0; p <= last; p++) { /* from now on the place of the next one of the pass */
        uint8_t requests = in_pass[p];
        in_pass[p] = from;
        from = (uint8_t)(from + requests);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = in_pass[of[i]]++;
        sorted[to] = c->request[i];
        pass[to] = of[i];
    }
    memcpy(c->request, sorted, count * sizeof *sorted);
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
