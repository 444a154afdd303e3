/* dma.h: the engine of bulk transfers of an SM (D2MA; Jamshidi, Samadi, Mahlke, PACT 2014, section 4).
 *
 *   issue --start--> controller of the CTA (4 buffers) --queue--> address generation --MSHR, port--> memory
 * system ^ squash, wake        |  ranges of tiles in flight                                                   |
 *     '---------------------'<---------------- shared memory is written <-------------- reply -------------'
 *
 * A transfer of a buffer:  idle -> (armed: warps arrive, start=last only) -> in flight -> idle
 *
 * Warps execute the same starts; the n-th start of a buffer by any warp is one transfer. The first one (or the
 * last, start=last) puts it in flight; those of other warps commit without effect, and a warp that asks for the
 * next transfer while one is in flight or armed waits. So does a load or atomic of a tile in flight: its issue
 * is squashed and its warp waits until a transfer of its CTA completes, then issues again.
 *
 * One address-generation unit works on transfers in the order of their start: a request for each segment of a
 * row side by side, one a cycle; or an element a cycle of a strided vector, and a request when the segment
 * changes (figure 5c); then constants of a halo, a segment a cycle. A request takes an MSHR of the L1, whose
 * 16-bit field says where in shared memory its data go, and the SM's port when the load/store unit's queue
 * leaves it free. It is not looked up in the L1. */
#ifndef WW_CORE_DMA_H
#define WW_CORE_DMA_H

#include "../../../traces/dma.h"
#include "../../mech/dma/dma.h"
#include "../memory/memsys.h"
#include "pipe.h"
#include "sm_wheel.h"

struct ww_sm;
struct ww_warp;
struct ww_core;
struct ww_arena;

struct ww_dma_buffer {
    struct ww_dma d;
    uint32_t begin, end;                  /* bytes of shared memory that the tile takes */
    uint32_t started;                     /* transfers that were put in flight */
    bool armed, in_flight;                /* some warps have arrived; the engine has it */
    bool generated;                       /* all requests have been sent and constants written */
    uint32_t inst;                        /* that began the transfer */
    uint32_t outstanding;                 /* requests without a reply */
    uint64_t asked_at, first_at, last_at; /* cycles: first instruction of it, first request made, last one
                                           * sent */
    uint64_t started_at;                  /* the engine was told to */
    uint32_t generating;                  /* cycles of the unit's work on its requests */
    uint64_t done_at;                     /* the last of its data are in shared memory */
};

/* A CTA's buffer management table. */
struct ww_dma_controller {
    struct ww_dma_buffer buffer[WW_DMA_BUFFERS];
    uint32_t count[WW_DMA_BUFFERS][64]; /* by warp of the CTA: starts that it has issued */
    uint64_t asked[64]; /* by warp: cycle + 1 of its first instruction since its last start, or 0 */
    uint64_t waiting;   /* warps of the SM */
    uint8_t watched;    /* bit per buffer: loads must be compared with its range */
};

struct ww_dma_engine {
    struct ww_dma_controller *controller; /* by CTA slot */
    uint16_t *ring;                       /* buffers to generate addresses of: CTA slot * 4 + buffer */
    uint32_t head, count, capacity;
    /* address generation, of the buffer at the head */
    uint32_t row, place; /* of the next element from memory */
    uint32_t constants;  /* segments of the halo that are still to be written */
    bool open, held;     /* in the middle of a buffer; a request waits to be sent */
    bool starved;        /* it waits for an MSHR */
    uint64_t segment;    /* of the request that is made, or that waits */
    uint32_t chunks;     /* 32-byte chunks of it */
    uint64_t next;       /* cycle of the unit's next work, WW_NEVER: none */
    uint64_t complete;   /* cycle of the next completion, WW_NEVER: none is known */
};

/* Makes the engine, if the launch has bulk transfers. Errors: WW_NOMEM, WW_UNSUPPORTED (the GPU has none). */
enum ww_code ww_dma_init(struct ww_sm *sm, struct ww_arena *arena, struct ww_error *error);
/* A CTA comes to the slot. */
void ww_dma_cta(struct ww_sm *sm, uint32_t cta);
/* Whether the head of a ready warp may issue: a start, or an access to shared memory. A load that may, of a
 * tile that the next one has replaced before the warp came to its start, counts as a hazard. */
bool ww_dma_admits(struct ww_sm *sm, const struct ww_warp *w, const struct ww_dinst *d);
/* Whether all warps of the CTA that have not ended have issued `starts` starts of the buffer. */
bool ww_dma_all_at(const struct ww_sm *sm, uint32_t cta, uint32_t buffer, uint32_t starts);
/* The warp's issue was squashed: it waits until a transfer of its CTA completes. */
void ww_dma_wait(struct ww_sm *sm, const struct ww_warp *w);
/* A bulk-transfer instruction issues. Errors are noted in the core. */
void ww_dma_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint32_t mask, uint64_t cycle);
/* A warp of the CTA has ended: transfers that waited for it may start. */
void ww_dma_exit(struct ww_sm *sm, uint32_t cta, uint64_t cycle);
/* Address generation and completions in `cycle`. */
void ww_dma_step(struct ww_sm *sm, uint64_t cycle);
/* Cycle of the next step, after `cycle`. */
static inline uint64_t ww_dma_next(const struct ww_dma_engine *e, uint64_t cycle) {
    uint64_t at = e->next < e->complete ? e->next : e->complete;
    return at > cycle ? at : cycle + 1;
}
/* The memory system takes requests again, or an MSHR may be free. */
static inline void ww_dma_retry(struct ww_dma_engine *e, uint64_t cycle) {
    if (!e || !e->count || e->next != WW_NEVER) return;
    e->starved = false;
    e->next = cycle;
}
/* A reply to the request in MSHR m. */
void ww_dma_reply(struct ww_sm *sm, uint32_t m, const struct ww_mem_reply *reply, uint64_t cycle);

#endif
