/* shared_table.h: the shared-memory management table of an SM, and what follows from it for its CTAs.
 *
 * A launch's shared memory is private (static, from dispatch to end) but for its last `public_bytes`, which
 * barriers of the program allocate and free. All allocations of a launch have that size, a CTA holds at most
 * one, and it gives it back before it ends; so a CTA that waits holds nothing that another could wait for.
 *
 *     0                                                               capacity
 *     | private of CTA slot 0 | of slot 1 | ...      | public | public |
 *
 * Private parts lie at their slot's place from the bottom, public ones from the top, so that neither kind
 * leaves gaps that the other cannot use. Resident private parts never reach into the topmost public place: one
 * CTA can always go on, and the others follow in the order of their requests. That is the whole proof that
 * nothing locks up. (Y. Yang et al., "Shared Memory Multiplexing", PACT 2012, section 5.) */
#ifndef WW_CORE_SHARED_TABLE_H
#define WW_CORE_SHARED_TABLE_H

#include "../../../traces/trace.h"
#include "../../config/gpu.h"
#include "../../mech/smem/smem.h"

enum ww_shared_act { WW_SHARED_NONE, WW_SHARED_ALLOC, WW_SHARED_FREE };

struct ww_shared_entry {
    uint32_t cta, size, start; /* cta: slot of the SM; bytes */
    bool valid, is_public;
};

struct ww_shared_table {
    struct ww_shared_entry *entry;
    uint32_t count, capacity; /* entries; bytes of shared memory */
};

/* Enters `size` bytes at `start`; false (nothing changes) if they do not fit, or no entry is left. */
bool ww_shared_take(struct ww_shared_table *t, uint32_t cta, uint32_t start, uint32_t size, bool is_public);
/* The same at the highest place, a multiple of `size` from the top, that is free; *start: where. */
bool ww_shared_take_top(struct ww_shared_table *t, uint32_t cta, uint32_t size, uint32_t *start);
/* Makes invalid the entry of that CTA and kind; false: there is none. */
bool ww_shared_drop(struct ww_shared_table *t, uint32_t cta, bool is_public);

/* Of a launch. */
struct ww_shared_plan {
    bool on; /* managed dynamically: the mechanism says so, and the launch allocates */
    uint32_t public_bytes, private_bytes; /* of a CTA, in whole allocation units */
    uint32_t ctas;                        /* of an SM */
    const char *limiter;                  /* what limits them */
};

/* Bytes that the launch's barriers allocate in *bytes, 0 if none does. Errors: WW_INPUT (barriers of different
 * sizes, more than the launch has; says the pc). */
enum ww_code ww_shared_public(const struct ww_launch *launch, uint32_t *bytes, struct ww_error *error);
/* What `plan` makes of a launch of which an SM holds `k` CTAs under static management. Errors: as above. */
enum ww_code ww_shared_plan(const struct ww_gpu_spec *gpu, const struct ww_launch *launch,
                            const struct ww_smem_plan *plan, uint32_t k, struct ww_shared_plan *out,
                            struct ww_error *error);

#endif
