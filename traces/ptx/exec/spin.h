/* spin.h: loops that only wait for memory, and writes to what they wait for; private to the recorder.
 *
 * A spin loop is the code from a branch's target to the branch, which goes back, where nothing but registers
 * changes, no register is carried from one iteration to the next, and a global load that every SM sees
 * (volatile, relaxed, acquire) is among it. So an iteration whose branch is taken has no effect: its steps are
 * taken back. The load that is left is recorded as a wait (WW_INST_WAIT) for the write that its value comes
 * from.
 *
 * So that this is the first write that ends the loop, a loop that goes round again reads the value of the next
 * write after the one that it has read, not the latest. Memory could always have given it that.
 */
#ifndef WW_TRACES_PTX_SPIN_H
#define WW_TRACES_PTX_SPIN_H

#include "mem.h"
#include "record.h"

#define SPIN_LENGTH 64u /* instructions of a loop */

/* Of a group of lanes: what its loop has read. */
struct spin_watch {
    uint64_t address, count;
    size_t at; /* steps of the warp when the iteration began */
    bool goes_round;
};

struct spin_loop {
    uint32_t first, last; /* entries of the recorder; last: the branch */
    uint64_t guarded;     /* bit per entry from first on: it may have no effect */
    uint64_t never;       /* the same: it never has an effect */
};
/* Marks the loop in the table, if it is one that only waits. Its branches before the last one leave it. */
enum ww_code ww_spin_add(struct recorder *r, const struct spin_loop *loop, struct ww_error *error);
void ww_spin_free(struct recorder *r);

/* A step has written to global memory: lanes of mask, `width` bytes each, at their address. */
void ww_spin_wrote(struct record_spins *s, const struct mem *mem, const uint64_t *address, uint32_t mask,
                   uint32_t width);

/* A load of a loop, at its only address. */
struct spin_poll {
    uint64_t count;      /* writes that it comes behind */
    unsigned char *old;  /* what it reads; NULL: what memory holds */
    unsigned char *host; /* where that is */
};
/* inst: its entry; steps: of the warp. False: it cannot be followed. */
bool ww_spin_poll(const struct recorder *r, const struct mem *mem, struct spin_watch *w, uint32_t inst,
                  size_t steps, uint64_t address, struct spin_poll *out);
/* The lanes of mask all go back: takes back the steps of the iteration, if no other lanes share them. */
void ww_spin_again(const struct recorder *r, uint32_t branch, uint32_t mask, struct record_stream *s,
                   struct spin_watch *w);

#endif
