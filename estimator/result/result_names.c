/* Names of the enumerations that the .def files declare. */
#include "result.h"
#include "names.h"

struct counter_row {
    const char *name, *unit, *level, *help;
};

static const struct counter_row counters[WW_COUNTER_COUNT] = {
#define X(id, name, unit, level, help) [WW_C_##id] = {name, unit, level, help},
#include "counter.def"
#undef X
};

static const struct {
    const char *name, *heading, *help;
    int step;
} inst_counters[WW_INST_COUNTER_COUNT] = {
#define REPORT(heading) heading
#define DATA(heading) NULL
#define X(id, name, step, shown, heading, sum, help) [WW_I_##id] = {name, shown(heading), help, step},
#include "inst_counter.def"
#undef X
};

static const struct {
    const char *name, *nsight, *help;
} states[WW_STATE_COUNT] = {
#define X(id, name, nsight, help) [WW_S_##id] = {name, nsight, help},
#include "state.def"
#undef X
};

struct named {
    const char *name, *help;
};

static const struct named slots[WW_SLOT_COUNT] = {
#define X(id, name, help) [WW_SLOT_##id] = {name, help},
#include "slot.def"
#undef X
};

static const struct named components[WW_COMPONENT_COUNT] = {
#define X(id, name, help) [WW_P_##id] = {name, help},
#include "component.def"
#undef X
};

#define LOOKUP(fn, type, table, count, field)                                                                  \
    const char *fn(enum type i) {                                                                              \
        return (unsigned)i < (count) ? (table)[i].field : NULL;                                                \
    }

LOOKUP(ww_counter_name, ww_counter, counters, WW_COUNTER_COUNT, name)
LOOKUP(ww_counter_unit, ww_counter, counters, WW_COUNTER_COUNT, unit)
LOOKUP(ww_counter_level, ww_counter, counters, WW_COUNTER_COUNT, level)
LOOKUP(ww_counter_help, ww_counter, counters, WW_COUNTER_COUNT, help)
LOOKUP(ww_inst_counter_name, ww_inst_counter, inst_counters, WW_INST_COUNTER_COUNT, name)
LOOKUP(ww_inst_counter_heading, ww_inst_counter, inst_counters, WW_INST_COUNTER_COUNT, heading)
LOOKUP(ww_inst_counter_help, ww_inst_counter, inst_counters, WW_INST_COUNTER_COUNT, help)
LOOKUP(ww_state_name, ww_warp_state, states, WW_STATE_COUNT, name)
LOOKUP(ww_state_nsight, ww_warp_state, states, WW_STATE_COUNT, nsight)
LOOKUP(ww_state_help, ww_warp_state, states, WW_STATE_COUNT, help)
LOOKUP(ww_slot_name, ww_slot, slots, WW_SLOT_COUNT, name)
LOOKUP(ww_slot_help, ww_slot, slots, WW_SLOT_COUNT, help)
LOOKUP(ww_component_name, ww_component, components, WW_COMPONENT_COUNT, name)
LOOKUP(ww_component_help, ww_component, components, WW_COMPONENT_COUNT, help)

int ww_inst_counter_step(enum ww_inst_counter c) {
    return (unsigned)c < WW_INST_COUNTER_COUNT ? inst_counters[c].step : 0;
}

bool ww_inst_counter_has_merges(const struct ww_launch_result *l, enum ww_inst_counter c) {
    enum ww_inst_counter merges = c == WW_I_L1_MISS ? WW_I_L1_MERGED : WW_I_L2_MERGED;
    return (c == WW_I_L1_MISS || c == WW_I_L2_MISS) && l->pc_unknown >> merges & 1;
}

static const enum ww_counter by_epoch[WW_EPOCH_COUNTERS] = {
    WW_C_SM_ACTIVE_CYCLES, WW_C_LSU_STALL_CYCLES, WW_C_MEM_SATURATED_CYCLES, WW_C_EP_CYCLES,
    WW_C_MP_CYCLES,        WW_C_LOAD_CYCLES,      WW_C_L1_RESERVATION_FAIL,  WW_C_L1_SECTOR_READ,
    WW_C_L1_SECTOR_HIT,    WW_C_XBAR_SECTOR_READ, WW_C_XBAR_SECTOR_WRITE,    WW_C_L2_STALL_CYCLES,
    WW_C_L2_SECTOR_HIT,    WW_C_TLB_WALK_CYCLES,  WW_C_DRAM_SECTOR_READ,     WW_C_DRAM_SECTOR_WRITE,
    WW_C_DRAM_BUSY_CYCLES, WW_C_DRAM_CYCLES,
};

enum ww_counter ww_epoch_counter(size_t i) {
    return by_epoch[i < WW_EPOCH_COUNTERS ? i : 0];
}

const char *ww_copy_way_name(uint32_t way) {
    static const char *const names[WW_COPY_WAYS] = {"to device", "from device", "within", "fill"};
    return way < WW_COPY_WAYS ? names[way] : NULL;
}

uint32_t ww_energy_group(enum ww_component c) {
    switch (c) {
    case WW_P_ICACHE:
    case WW_P_IBUFFER:
    case WW_P_SCHEDULER:
    case WW_P_REGFILE:
    case WW_P_COLLECTOR:
        return 0;
    case WW_P_INT:
    case WW_P_FP32:
    case WW_P_FP64:
    case WW_P_SFU:
    case WW_P_TENSOR:
        return 1;
    case WW_P_LSU:
    case WW_P_SHARED:
    case WW_P_L1:
    case WW_P_TEXTURE:
    case WW_P_CONSTANT_CACHE:
        return 2;
    case WW_P_XBAR:
    case WW_P_L2:
        return 3;
    case WW_P_SM_OTHER:
        return 5;
    case WW_P_SM_IDLE:
        return 6;
    case WW_P_CONSTANT:
        return 7;
    default:
        return 4;
    }
}
