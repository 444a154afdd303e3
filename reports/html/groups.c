/* What charts stack: warp states, issue slots and components in groups that people can tell apart; and a
 * sentence on what bounds a run. */
#include "../../estimator/result/result.h"
#include "page.h"

const struct ww_series ww_state_groups[WW_STATE_GROUPS] = {
    {"issued", 1},
    {"waits for arithmetic", 2},
    {"waits for shared memory or constants", 3},
    {"waits for a cache", 10},
    {"waits for DRAM or translation", 4},
    {"ready, load/store path taken", 5},
    {"ready, arithmetic unit taken", 6},
    {"at a barrier, paused, or waits for a transfer", 7},
    {"no instruction fetched", 8},
    {"finished, its CTA is not", 9},
};

unsigned ww_group_of_state(enum ww_warp_state s) {
    switch (s) {
    case WW_S_ISSUED:
        return 0;
    case WW_S_WAIT_ALU:
    case WW_S_WAIT_SFU:
    case WW_S_WAIT_STALL:
    case WW_S_WAIT_READ:
        return 1;
    case WW_S_WAIT_SHARED:
    case WW_S_WAIT_CONST:
        return 2;
    case WW_S_WAIT_L1:
    case WW_S_WAIT_L2:
        return 3;
    case WW_S_WAIT_DRAM:
    case WW_S_WAIT_TLB:
        return 4;
    case WW_S_EXCESS_MEM:
        return 5;
    case WW_S_EXCESS_ALU:
        return 6;
    case WW_S_NO_INST:
        return 8;
    case WW_S_DONE:
        return 9;
    default:
        return 7;
    }
}

const struct ww_series ww_slot_groups[WW_SLOT_GROUPS] = {
    {"issued", 1},
    {"waits for arithmetic", 2},
    {"waits for shared memory or constants", 3},
    {"waits for memory", 4},
    {"load/store path taken", 5},
    {"arithmetic unit or collector taken", 6},
    {"barriers, pauses, transfers", 7},
    {"no instruction fetched", 8},
    {"no warp left to run, launch processed", 9},
};

unsigned ww_group_of_slot(enum ww_slot s) {
    switch (s) {
    case WW_SLOT_ISSUED:
        return 0;
    case WW_SLOT_WAIT_ALU:
    case WW_SLOT_WAIT_STALL:
    case WW_SLOT_WAIT_READ:
        return 1;
    case WW_SLOT_WAIT_SHARED:
    case WW_SLOT_CONST_MISS:
        return 2;
    case WW_SLOT_WAIT_MEM:
        return 3;
    case WW_SLOT_EXCESS_MEM:
        return 4;
    case WW_SLOT_EXCESS_ALU:
    case WW_SLOT_COLLECT:
    case WW_SLOT_REG_PORT:
        return 5;
    case WW_SLOT_NO_INST:
        return 7;
    case WW_SLOT_DRAIN:
    case WW_SLOT_EMPTY:
    case WW_SLOT_LAUNCH:
        return 8;
    default:
        return 6;
    }
}

const struct ww_series ww_power_groups[WW_ENERGY_GROUPS] = {
    {"instructions and registers", 2},
    {"lanes", 1},
    {"load/store, shared memory, L1", 5},
    {"interconnect and L2", 10},
    {"DRAM and its controllers", 4},
    {"SM pipeline and clocks", 3},
    {"idle SMs", 9},
    {"constant", 8},
};

/* The sentence for a group of slots. */
static const char *const bound_by[WW_SLOT_GROUPS] = {
    "instruction issue",
    "the latency of arithmetic: warps wait for results, too few are resident to hide it",
    "shared memory or the constant cache: warps wait for their data",
    "memory latency: warps wait for loads, too few are resident to hide it",
    "the load/store path: warps are ready, but it is taken or held up by memory",
    "arithmetic units or operand collectors: warps are ready, but these are taken",
    "synchronisation: warps wait at barriers, for pauses or transfers",
    "instruction fetch: warps have no instruction",
    "too little parallelism: schedulers have no warp to run, or the launch itself is processed",
};

void ww_bound_text(const struct ww_launch_result *sum, char out[240]) {
    double slots[WW_SLOT_GROUPS] = {0}, total = 0;
    struct ww_level level[WW_LEVELS];
    char share[32], busy[32];
    unsigned top = 0;
    for (int s = 0; s < WW_SLOT_COUNT; s++) {
        slots[ww_group_of_slot((enum ww_slot)s)] += (double)sum->slot[s];
        total += (double)sum->slot[s];
    }
    if (total <= 0) {
        snprintf(out, 240, "not known: no issue slots were counted");
        return;
    }
    ww_levels(sum, level);
    if (level[2].busy > 0.6) { /* what all loads then wait for */
        snprintf(out, 240, "DRAM bandwidth: its data bus is busy %s of the time",
                 ww_percent(level[2].busy, busy));
        return;
    }
    for (unsigned g = 1; g < WW_SLOT_GROUPS; g++)
        if (slots[g] > slots[top]) top = g;
    snprintf(out, 240, "%s (%s of all issue slots)", bound_by[top], ww_percent(slots[top] / total, share));
}
