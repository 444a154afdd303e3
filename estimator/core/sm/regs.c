/* Register banks and operand caches of the schedulers. */
#include "regs.h"
#include "../../result/result.h"

#include <string.h>

bool ww_regs_init(struct ww_sm *sm, struct ww_arena *arena) {
    uint32_t schedulers = sm->core->gpu->sm_schedulers;
    if (!sm->core->code.banked) return true;
    sm->rf = ww_arena_array(arena, schedulers, sizeof *sm->rf);
    if (!sm->rf) return false;
    for (uint32_t k = 0; k < schedulers; k++) memset(sm->rf[k].kept, 0xff, sizeof sm->rf[k].kept);
    return true;
}

/* Registers that the instruction reads of each bank; what the cache keeps is taken from there. */
static void count_reads(struct ww_sm *sm, struct ww_rf *rf, uint32_t slot, const struct ww_dinst *d,
                        uint32_t *need) {
    const uint8_t *e = sm->core->code.bank + d->bank;
    for (uint32_t i = 0; i < d->reads; i++, e += 2) {
        uint32_t bank = e[0] % sm->core->gpu->front_rf_banks, place = e[1] & WW_RF_PLACE;
        uint16_t value = (uint16_t)(slot << 8 | e[0]);
        bool kept = false;
        if (place) {
            uint16_t *at = &rf->kept[bank][place - 1];
            kept = *at == value;
            *at = e[1] & WW_RF_REUSE ? value : WW_RF_EMPTY;
        }
        sm->core->counter[WW_C_REG_REUSE] += kept;
        need[bank] += !kept && !(e[1] & WW_RF_SAME);
    }
}

/* Cycles until the reads of a bank fit the next `window`; more than that fit are made after it. */
static uint64_t wait_of(uint64_t port, uint32_t need, uint32_t window, uint64_t cycle) {
    uint64_t most = cycle + window, last = (port > cycle ? port : cycle) + (need < window ? need : window);
    return last > most ? last - most : 0;
}

static bool reads_late(const struct ww_dinst *d) {
    return !d->ii || d->group == WW_G_SFU;
}

uint64_t ww_regs_read(struct ww_sm *sm, struct ww_sched *s, uint32_t slot, const struct ww_dinst *d,
                      uint64_t cycle) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    struct ww_rf *rf = &sm->rf[s - sm->sched];
    uint32_t need[WW_RF_BANKS] = {0};
    uint64_t hold = 0;
    count_reads(sm, rf, slot, d, need);
    if (reads_late(d)) return 0;
    for (uint32_t b = 0; b < g->front_rf_banks; b++) {
        uint64_t wait = need[b] ? wait_of(rf->port[b], need[b], g->front_rf_window, cycle) : 0;
        if (wait > hold) hold = wait;
    }
    for (uint32_t b = 0; b < g->front_rf_banks; b++)
        if (need[b]) rf->port[b] = (rf->port[b] > cycle + hold ? rf->port[b] : cycle + hold) + need[b];
    if (!hold) return 0;
    s->blocked_slot = WW_SLOT_REG_PORT;
    s->blocked_from = s->next_issue;
    s->next_issue += hold;
    s->blocked_until = s->next_issue;
    sm->core->counter[WW_C_REG_BANK_CONFLICT] += hold;
    return hold;
}
