/* run_fast.c: mode fast: every instruction is replayed, with memory behind the SMs as reservations
 * (core/memory/fast.h). Counters, states, energy and laws are those of a full replay; its cycles and joules
 * have the interval in which full replay's lie. */
#include "../core/memory/memsys.h"
#include "../fast/replay_error.h"
#include "run_int.h"

enum ww_code ww_run_fast(struct run *r, struct ww_error *error) {
    struct ww_model_error e;
    WW_TRY(ww_memsys_check_fast(&r->options->gpu->spec, error));
    WW_TRY(ww_run_replay(r, true, error));
    double cycles = (double)r->result->cycles, joules = r->result->energy_j;
    ww_replay_error_of(r->confidence, &e);
    r->result->cycles_interval = (struct ww_interval){cycles * e.cycles_low, cycles * e.cycles_high};
    r->result->energy_interval = (struct ww_interval){joules * e.energy_low, joules * e.energy_high};
    return WW_OK;
}
