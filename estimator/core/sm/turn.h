/* turn.h: a port that serves one request a cycle; a mask has the reservations of the next 64 cycles. */
#ifndef WW_CORE_TURN_H
#define WW_CORE_TURN_H

#include <stdint.h>

struct ww_turns {
    uint64_t base, taken; /* bit i: cycle base + i is taken */
};

/* Reserves the first free cycle from `cycle` on and returns it; no call asks for a cycle before `now`. A cycle
 * beyond the mask is taken to be free. */
static inline uint64_t ww_turn_take(struct ww_turns *t, uint64_t now, uint64_t cycle) {
    uint64_t passed = now - t->base;
    if (cycle < now || cycle - now > 63) return cycle;
    t->taken = passed < 64 ? t->taken >> passed : 0;
    t->base = now;
    uint64_t busy = t->taken >> (cycle - now);
    uint32_t wait = ~busy ? (uint32_t)__builtin_ctzll(~busy) : 64;
    uint64_t turn = cycle - now + wait;
    if (turn < 64) t->taken |= 1ull << turn;
    return now + turn;
}

#endif
