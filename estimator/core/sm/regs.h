/* regs.h: register banks and operand caches of schedulers, where the trace has the compiler's control fields
 * and front.rf_window is above 0 (Volta and later).
 *
 *   issue -> (waits until its reads fit the next front.rf_window cycles) -> reads -> unit
 *                                      bank 0: a register a cycle    operand cache: one value for each bank
 *                                      bank 1: a register a cycle    and place (A, B, C) of an operand
 *
 * An instruction that has to wait holds the scheduler's issue, so what depends on it is as far behind it as
 * ever. A source whose place in the cache holds its register, of the same warp, reads no bank. A read of the
 * place puts its register there if the compiler marked it, and empties the place if not. Loads, stores and
 * special functions read when ports are idle: they wait in queues, and are not held here. */
#ifndef WW_CORE_REGS_H
#define WW_CORE_REGS_H

#include "sm.h"

enum { WW_RF_BANKS = 2, WW_RF_PLACES = 3 };

struct ww_rf {                  /* of a scheduler */
    uint64_t port[WW_RF_BANKS]; /* the bank's port is free from this cycle on */
    uint64_t window;            /* front.rf_window */
    uint64_t reads;             /* registers read from banks so far */
    uint64_t writes; /* that instructions were to write; not those of matrix instructions of warpgroups */
    uint32_t live;   /* bit bank * places + place: it keeps something */
    uint16_t kept[WW_RF_BANKS * WW_RF_PLACES + 1]; /* by the same, from 1: warp's slot and register */
};

/* In ww_code_table.bank with it, of an instruction: registers that it reads of bank 0 and of bank 1 (0 if it
 * reads late; front.rf_window at most), 1 if it has any to keep, registers that it writes; then for each source
 * with a place two bytes, register and: */
#define WW_RF_AT 7u    /* bank * places + place, places from 1 */
#define WW_RF_REUSE 8u /* is to be kept */
#define WW_RF_SAME 16u /* another operand of the instruction reads the register */
#define WW_RF_HEAD 4u

/* Memory from the arena; sm->rf stays NULL without. False: out of memory. */
bool ww_regs_init(struct ww_sm *sm, struct ww_arena *arena);
/* The instruction of the warp is issued in `cycle`. Returns the cycles by which its reads wait; the
 * scheduler issues nothing meanwhile. */
uint64_t ww_regs_read(struct ww_sm *sm, struct ww_sched *s, const struct ww_warp *w, const struct ww_dinst *d,
                      uint64_t cycle);

#endif
