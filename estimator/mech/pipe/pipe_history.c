/* The bank-conflict history cache of section 4.2 and figure 7. */
#include "pipe_history.h"
#include "pipe.h"

/* The way that holds the instruction is the first afterwards; false: none does. */
static bool find(struct ww_pipe_history *h, uint32_t set, uint8_t tag) {
    for (uint32_t w = 0; w < WW_HISTORY_WAYS; w++) {
        struct ww_history_way found = h->way[set][w];
        if (!found.valid || found.tag != tag) continue;
        for (; w > 0; w--) h->way[set][w] = h->way[set][w - 1];
        h->way[set][0] = found;
        return true;
    }
    return false;
}

static uint8_t tag_of(uint32_t pc) {
    return (uint8_t)((pc & ((1u << WW_HISTORY_PC_BITS) - 1)) / WW_HISTORY_SETS);
}

uint32_t ww_history_predict(struct ww_pipe_history *h, uint32_t pc, bool *hit) {
    uint32_t set = pc % WW_HISTORY_SETS;
    *hit = find(h, set, tag_of(pc));
    return *hit ? h->way[set][0].conflicts : 0;
}

void ww_history_update(struct ww_pipe_history *h, uint32_t pc, uint32_t conflicts) {
    uint32_t set = pc % WW_HISTORY_SETS;
    if (!find(h, set, tag_of(pc)))
        for (uint32_t w = WW_HISTORY_WAYS - 1; w > 0; w--) h->way[set][w] = h->way[set][w - 1];
    h->way[set][0] = (struct ww_history_way){true, tag_of(pc), (uint8_t)(conflicts < 255 ? conflicts : 255)};
}

void ww_pipe_plan_of(const void *settings, struct ww_pipe_plan *plan) {
    const struct ww_pipe_settings *s = settings;
    uint32_t width = 4u << s->width;
    *plan = (struct ww_pipe_plan){.stages = s->stages,
                                  .memory = s->memory,
                                  .width = width,
                                  .ports = s->ports,
                                  .parts = 32 / width,
                                  .nonmem = s->memory,
                                  .premem = ww_pipe_premem(32, width),
                                  .barrel = (enum ww_pipe_barrel)s->barrel,
                                  .aware = (enum ww_pipe_aware)s->aware};
}

static uint32_t log2_of(uint32_t n) {
    uint32_t bits = 0;
    while (n >> (bits + 1)) bits++;
    return bits;
}

struct ww_pipe_overhead ww_pipe_overhead(const struct ww_pipe_plan *plan, uint32_t warp, uint32_t warps,
                                         uint32_t sets, uint32_t ways) {
    struct ww_pipe_overhead o = {.latches = plan->width * (plan->nonmem + plan->premem),
                                 .writeback_inputs = plan->nonmem + 3,
                                 .memory_inputs = plan->premem + 1,
                                 .tag_bits = WW_HISTORY_PC_BITS - log2_of(sets),
                                 .degree_bits = log2_of(warp),
                                 .gates = 2 * warps,
                                 .counter = log2_of(warp)};
    o.history_bytes = sets * ways * (o.tag_bits + o.degree_bits) / 8;
    return o;
}
