/* collect.h: operand collectors and result buses of an SM, where the GPU has them (collect.units_sp above 0).
 *
 *   issue -> instruction register -> collector unit --reads, a bank serves one a cycle--> dispatch register
 *         -> unit, if a result bus is free when it will have the result -> register bank
 *
 * The stages and their order in a cycle are those of GPGPU-Sim 3.2.2: an instruction is in its register in the
 * cycle of its issue, in a collector one cycle later, reads at most one operand in each cycle after that,
 * leaves the collector in the cycle after its last read, and starts in the one after. A bank that a result is
 * written to serves no read in that cycle. A GPU's latencies are from issue to dependent issue of an
 * instruction that nothing delays, so what is added to them is the delay alone.
 *
 * All is decided at issue: instructions take collectors, banks and buses in the order of their issue, where the
 * simulator's arbiter is round-robin. Collectors of memory instructions precede the load/store queue, which
 * is finite itself; so they delay instructions, but never refuse one. Branches and barriers take none. */
#ifndef WW_CORE_COLLECT_H
#define WW_CORE_COLLECT_H

#include "sm.h"

enum ww_collect_class { WW_COLLECT_SP, WW_COLLECT_SFU, WW_COLLECT_MEM, WW_COLLECT_CLASSES };
enum { WW_COLLECT_SPAN = 2048, WW_COLLECT_UNITS = 32, WW_COLLECT_PORTS = 4 };

/* Reservations of one cycle; an entry is reused for a later cycle. */
struct ww_collect_cycle {
    uint64_t cycle;
    uint64_t banks;         /* that read or write */
    uint8_t results, loads; /* on the result buses; at the load/store unit's write port */
};

struct ww_collect {
    struct ww_collect_cycle at[WW_COLLECT_SPAN];
    uint64_t stage[WW_COLLECT_CLASSES][WW_COLLECT_PORTS]; /* instruction registers: free from */
    uint64_t unit[WW_COLLECT_CLASSES][WW_COLLECT_UNITS];  /* collectors: free from */
    uint64_t out[WW_COLLECT_CLASSES][WW_COLLECT_PORTS];   /* dispatch registers: free from */
    uint8_t ports[WW_COLLECT_CLASSES], units[WW_COLLECT_CLASSES];
};

/* Memory from the arena; sm->collect stays NULL where the GPU has no collectors. False: out of memory. */
bool ww_collect_init(struct ww_sm *sm, struct ww_arena *arena);
/* An instruction for a unit is issued in `cycle`; an instruction register of its class is free. Takes all that
 * it needs, and sets from when on schedulers find a register free. Returns the cycles that its result is later.
 */
uint64_t ww_collect_issue(struct ww_sm *sm, const struct ww_dinst *d, uint64_t cycle);
/* A memory instruction is issued: returns the delay of its operands in cycles. */
uint64_t ww_collect_memory(struct ww_sm *sm, const struct ww_dinst *d, uint64_t cycle);
/* Registers of a load are written, not before `ready`: the cycle in which the port takes them. */
uint64_t ww_collect_load(struct ww_sm *sm, const struct ww_dinst *d, uint64_t ready);

#endif
