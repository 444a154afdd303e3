/* run_fast.c: mode fast: every instruction is replayed, with memory behind the SMs as reservations
 * (core/memory/fast.h). Counters, states, energy and laws are those of a full replay; its cycles and joules
 * have the interval in which full replay's lie. */
#include "../core/memory/memsys.h"
#include "../fast/replay_error.h"
#include "run_int.h"

/* The share of the time that DRAM's buses move data. */
static double dram_use(const struct ww_result *result) {
    double busy = 0, cycles = 0;
    for (size_t i = 0; i < result->launch_count; i++) {
        busy += (double)result->launch[i].counter[WW_C_DRAM_BUSY_CYCLES];
        cycles += (double)result->launch[i].counter[WW_C_DRAM_CYCLES];
    }
    return cycles > 0 ? busy / cycles : 0;
}

enum ww_code ww_run_fast(struct run *r, struct ww_error *error) {
    const struct ww_gpu_spec *gpu = &r->options->gpu->spec;
    const bool prefetches = gpu->l2_prefetch != WW_L2_PREFETCH_OFF;
    struct ww_model_error e;
    WW_TRY(ww_memsys_check_fast(gpu, error));
    WW_TRY(ww_replay_error_check(prefetches, r->confidence, error));
    WW_TRY(ww_run_replay(r, true, error));
    char why[256];
    if (!ww_memsys_fast_reaches(gpu, why, sizeof why)) {
        const char *before = r->result->warning;
        r->result->warning = ww_arena_printf(r->arena, "%s%s%s", before ? before : "", before ? "; " : "", why);
    }
    double cycles = (double)r->result->cycles, joules = r->result->energy_j;
    ww_replay_error_of(prefetches, dram_use(r->result), r->confidence, &e);
    r->result->cycles_interval = (struct ww_interval){cycles * e.cycles_low, cycles * e.cycles_high};
    r->result->energy_interval = (struct ww_interval){joules * e.energy_low, joules * e.energy_high};
    return WW_OK;
}
