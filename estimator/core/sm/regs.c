/* Register banks and operand caches of the schedulers. */
#include "regs.h"
#include "../../result/result.h"

bool ww_regs_init(struct ww_sm *sm, struct ww_arena *arena) {
    if (!sm->core->code.banked) return true;
    sm->rf = ww_arena_array(arena, sm->core->gpu->sm_schedulers, sizeof *sm->rf);
    for (uint32_t i = 0; sm->rf && i < sm->core->gpu->sm_schedulers; i++)
        sm->rf[i].window = sm->core->gpu->front_rf_window;
    return sm->rf != NULL;
}

/* What is kept is not read; each read of a place decides about what it keeps. A register that two operands name
 * is read unless both are kept: `spared` is the one that the first of them did without. */
static inline void use_kept(struct ww_sm *sm, struct ww_rf *rf, uint32_t slot, const uint8_t *e, uint32_t count,
                            uint32_t *need) {
    uint32_t live = rf->live, spared = WW_NONE;
    for (const uint8_t *end = e + 2 * count; e < end; e += 2) {
        uint32_t flags = e[1], at = flags & WW_RF_AT, bit = 1u << at;
        uint16_t value = (uint16_t)(slot << 8 | e[0]);
        if (live & bit && rf->kept[at] == value) {
            sm->core->counter[WW_C_REG_REUSE]++;
            if (!(flags & WW_RF_SAME) && need[e[0] & 1]) {
                need[e[0] & 1]--;
                spared = e[0];
            }
        } else if (flags & WW_RF_SAME && spared == e[0]) {
            need[e[0] & 1]++;
            spared = WW_NONE;
        }
        live &= ~bit;
        if (flags & WW_RF_REUSE) {
            live |= bit;
            rf->kept[at] = value;
        }
    }
    rf->live = live;
}

static inline uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

uint64_t ww_regs_read(struct ww_sm *sm, struct ww_sched *s, const struct ww_warp *w, const struct ww_dinst *d,
                      uint64_t cycle) {
    struct ww_rf *rf = &sm->rf[w->sched];
    const uint8_t *e = sm->core->code.bank + d->bank;
    uint32_t need[WW_RF_BANKS] = {e[0], e[1]};
    if (rf->live | e[2]) use_kept(sm, rf, w->slot, e + WW_RF_HEAD, d->reads, need);
    /* A bank that is not read stays behind this cycle's window: the later ones find it as it was. */
    uint64_t from0 = later(rf->port[0], cycle), from1 = later(rf->port[1], cycle), most = cycle + rf->window;
    uint64_t last = later(from0 + need[0], from1 + need[1]), hold;
    rf->port[0] = from0 + need[0];
    rf->port[1] = from1 + need[1];
    rf->reads += need[0] + need[1];
    rf->writes += e[3];
    if (last <= most) return 0;
    hold = last - most;
    rf->port[0] = later(from0, cycle + hold) + need[0];
    rf->port[1] = later(from1, cycle + hold) + need[1];
    s->blocked_slot = WW_SLOT_REG_PORT;
    s->blocked_from = s->next_issue;
    s->next_issue += hold;
    s->blocked_until = s->next_issue;
    sm->core->counter[WW_C_REG_BANK_CONFLICT] += hold;
    return hold;
}
