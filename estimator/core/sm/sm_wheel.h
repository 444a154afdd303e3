/* sm_wheel.h: a timing wheel of 256 cycles; each slot is a set of up to 64 ids (warps of an SM, SMs of a
 * group). An id that is due later than 255 cycles from now is set at the far end and looked at again.
 * Invariant: all set cycles lie in (base, base + 255], base being the cycle taken last. */
#ifndef WW_CORE_SM_WHEEL_H
#define WW_CORE_SM_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

#define WW_WHEEL_SPAN 255u
#define WW_NEVER (UINT64_MAX >> 4) /* a cycle that never comes; fits a scoreboard entry */

struct ww_wheel {
    uint64_t used[4];
    uint64_t slot[256];
};

static inline void ww_wheel_set(struct ww_wheel *w, uint64_t cycle, uint32_t id) {
    uint32_t i = (uint32_t)cycle & 255;
    w->slot[i] |= 1ull << id;
    w->used[i >> 6] |= 1ull << (i & 63);
}

static inline void ww_wheel_clear(struct ww_wheel *w, uint64_t cycle, uint32_t id) {
    uint32_t i = (uint32_t)cycle & 255;
    w->slot[i] &= ~(1ull << id);
    if (!w->slot[i]) w->used[i >> 6] &= ~(1ull << (i & 63));
}

/* Takes an id out of every slot. */
static inline void ww_wheel_forget(struct ww_wheel *w, uint32_t id) {
    for (uint32_t k = 0; k < 4; k++)
        for (uint64_t used = w->used[k]; used; used &= used - 1) {
            uint32_t i = k * 64 + (uint32_t)__builtin_ctzll(used);
            w->slot[i] &= ~(1ull << id);
            if (!w->slot[i]) w->used[k] &= ~(1ull << (i & 63));
        }
}

static inline bool ww_wheel_due(const struct ww_wheel *w, uint64_t cycle) {
    return w->slot[cycle & 255] != 0;
}

/* Takes the ids of a cycle. */
static inline uint64_t ww_wheel_take(struct ww_wheel *w, uint64_t cycle) {
    uint32_t i = (uint32_t)cycle & 255;
    uint64_t ids = w->slot[i];
    w->slot[i] = 0;
    w->used[i >> 6] &= ~(1ull << (i & 63));
    return ids;
}

static inline bool ww_wheel_is_empty(const struct ww_wheel *w) {
    return !(w->used[0] | w->used[1] | w->used[2] | w->used[3]);
}

/* The first cycle after base with an id, or WW_NEVER. */
static inline uint64_t ww_wheel_next(const struct ww_wheel *w, uint64_t base) {
    uint32_t start = (uint32_t)(base + 1) & 255, word = start >> 6;
    uint64_t bits = w->used[word] >> (start & 63);
    if (bits) return base + 1 + (uint64_t)__builtin_ctzll(bits);
    uint64_t distance = 64 - (start & 63);
    for (uint32_t k = 1; k <= 4; k++, distance += 64) {
        bits = w->used[(word + k) & 3];
        if (k == 4) bits &= (1ull << (start & 63)) - 1;
        if (bits) return base + 1 + distance + (uint64_t)__builtin_ctzll(bits);
    }
    return WW_NEVER;
}

#endif
