/* supply.h: instruction supply of an SM whose schedulers have instruction caches of their own (icache.l0_kb
 * above 0; Volta and later).
 *
 *   a warp's buffer <-- L0 cache <-- stream buffer <-- L1.5 cache (sm->icache) <-- L2 <-- DRAM
 *                       '---- one of each a scheduler ----'   '--- one an SM ---'
 *
 * A buffer of front.ibuffer instructions runs ahead of the warp, so the next line is asked for so many
 * instructions before the warp comes to it. Of the warps of a scheduler that go elsewhere (a taken branch, the
 * start of a CTA) one is served in a cycle. A line that the L0 lacks is looked for in the stream buffer, whose
 * lines follow one another in the code; one that is there moves into the L0, those before it are dropped, and
 * the buffer asks for as many more; one that is on its way keeps its place until it comes, so that no more
 * lines are under way than the buffer has places. One that is not restarts the buffer behind it. A warp goes on
 * in a line that its L0 lacked icache.stream_cycles after it has come to it, or when it is there, if that is
 * later. */
#ifndef WW_CORE_SUPPLY_H
#define WW_CORE_SUPPLY_H

#include "../../base/arena.h"
#include "turn.h"

#include <stdbool.h>
#include <stdint.h>

struct ww_sm;
struct ww_warp;
struct ww_core;

#define WW_INST_BYTES 16u /* of an instruction, from Volta on */

/* Where a line comes from, in the low bits of its arrival. */
enum { WW_FROM_L0, WW_FROM_L15, WW_FROM_L2, WW_FROM_BITS = 2 };
#define WW_ARRIVAL(cycle, from) ((cycle) << WW_FROM_BITS | (from))

/* The same in all SMs; made once a launch. */
struct ww_supply_plan {
    bool on;
    uint32_t sets, ways, depth; /* of an L0; lines of a stream buffer */
    uint32_t ahead;             /* instructions by which a buffer runs ahead */
    uint32_t entry;             /* cycles until a warp that comes to a line goes on, if the L0 lacked it */
    uint32_t first, last;       /* lines of the code */
    uint32_t cold;              /* cycles that the L2 adds for a line that it lacks; 0: it has the code */
    bool kept;                  /* the L1.5 has the whole code from a launch before */
    bool fits;                  /* the L0 has room for the whole code */
    bool listed;                /* the code is so short that L0s keep a list of where its lines are */
    bool plain;                 /* both: a line that is there is only looked up */
};

struct ww_l0_line {
    uint32_t key, used;
    uint64_t arrival; /* the cycle from which the line is there, and from where it comes: supply.c */
};

struct ww_l0 {
    struct ww_l0_line *line;
    uint16_t *where;             /* by line of the code: its place in `line` + 1, 0: none; or NULL */
    uint64_t *stream;            /* arrivals of the lines in the stream buffer, a ring */
    uint32_t first, head, count; /* of these: the first one's line and place */
    uint32_t uses;
    struct ww_turns turns; /* of warps that go elsewhere */
};

struct ww_supply {
    struct ww_l0 *l0; /* by scheduler */
    uint64_t *met;    /* bit per line of the code: the SM has had it from the L2 */
};

/* Sets the launch's shape; cold: no launch has run this code before. */
void ww_supply_plan(struct ww_core *core, bool cold);
/* Memory from the arena. False: out of memory. */
bool ww_supply_init(struct ww_sm *sm, struct ww_arena *arena);
/* Empties the caches of the SM: what launches leave in them is forgotten. */
void ww_supply_forget(struct ww_sm *sm);
/* Instruction `inst` of the warp, behind which the code goes on, can leave the warp's buffer without a look at
 * what schedulers share. */
bool ww_supply_local(const struct ww_sm *sm, const struct ww_warp *w, uint32_t inst);
/* As ww_front_fill. */
uint64_t ww_supply_fill(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle);

#endif
