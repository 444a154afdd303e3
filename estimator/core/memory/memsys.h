/* memsys.h: everything behind the L1: crossbar, L2 slices, DRAM channels.
 *
 *   SM (L1 miss queue) --request port--> xbar --slice queue--> L2 slice --channel queue--> DRAM
 *   SM (fill)         <---reply port---- xbar <--reply queue-- L2 slice <----data--------- DRAM
 *
 * Each arrow is a finite queue; a full one pushes back on what feeds it, up to ww_memsys_send refusing.
 * A request covers sectors of one line (one slice, one tag). The memory system acts on its own events and
 * calls the SM back; it knows nothing of warps.
 */
#ifndef WW_CORE_MEMSYS_H
#define WW_CORE_MEMSYS_H

#include "../../config/gpu.h"
#include "../../result/result.h"
#include "../time/event.h"

/* A translation only requests that its page be translated (see tlb.h); the reply brings no data. */
enum ww_mem_kind {
    WW_MEM_READ,
    WW_MEM_WRITE,
    WW_MEM_ATOMIC,
    WW_MEM_TRANSLATION,
    WW_MEM_PEER,    /* data to or from another SM of the cluster, see peer.h */
    WW_MEM_CLUSTER, /* a CTA arrives at the barrier of its cluster */
    WW_MEM_LEAVE    /* it will not any more */
};
enum ww_mem_level { WW_LEVEL_L1, WW_LEVEL_L2, WW_LEVEL_DRAM, WW_LEVEL_TLB };

/* One request of an SM. Copied by send. */
struct ww_mem_request {
    uint64_t address; /* of the line, aligned to the request line (lsu.line, l1.line) */
    uint32_t sectors; /* bit i: sector i of the line (l1.sector bytes each) */
    uint32_t tag;     /* given back in the reply; the SM's own (MSHR number and the like) */
    uint16_t sm;
    uint8_t kind;        /* enum ww_mem_kind */
    uint8_t needs_reply; /* reads and atomics with a result: yes; writes: the acknowledgement, for fences */
    uint16_t bytes;      /* payload of a write or atomic, for flits */
    uint16_t atomic_ops; /* updates of an atomic that follow one another, for its time in the slice */
    uint8_t fine;        /* sectors are 32-byte chunks of the line, in its replies too, whatever l1.sector is;
                          * whole sectors of the L2 */
    uint8_t strong;      /* a read that must see what all SMs have written (ld.cg, volatile, relaxed) */
    uint8_t walked;      /* the memory system's own: its page's translation took a walk of the page table */
    uint32_t inst;       /* the instruction that caused it: index in ww_memsys_count_insts()'s array */
};

struct ww_mem_reply {
    uint64_t address;
    uint32_t sectors; /* that this reply brings; a request may have several replies */
    uint32_t tag;
    uint8_t kind;
    uint8_t level;  /* enum ww_mem_level: deepest level that served a sector of it: L2 or DRAM */
    uint8_t last;   /* no more replies follow for this request */
    uint8_t walked; /* it waited for a walk of the page table */
};

/* Replies to a request whose times are known when it is sent. */
struct ww_mem_answers {
    uint32_t count;
    struct ww_mem_answer {
        uint64_t ps;     /* at which all of it is at the SM */
        uint32_t chunks; /* 32-byte ones, or sectors of the L1, that it brings */
        uint8_t level;   /* enum ww_mem_level */
    } answer[3];
};

/* How the memory system calls the SM back; both run inside an event at the given time. The SM receives the
 * message in its first cycle that begins then or later. */
struct ww_memsys_client {
    void *context;
    void (*reply)(void *context, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps);
    /* A send of this SM that was refused may be tried again now. */
    void (*unblocked)(void *context, uint16_t sm, uint64_t now_ps);
};

/* Bytes that a memory system may take, more than any sensible GPU needs; beyond them ww_memsys_new fails. */
#define WW_MEMSYS_LIMIT ((size_t)4 << 30)
/* Estimates the bytes that a memory system takes. WW_UNSUPPORTED: more than the limit; names the parameters
 * that most of it is due to. */
enum ww_code ww_memsys_check(const struct ww_gpu_spec *gpu, struct ww_error *error);
/* Whether fast replay follows the GPU's memory. WW_UNSUPPORTED: it would leave out what it must count; names
 * the parameters and their limit. */
enum ww_code ww_memsys_check_fast(const struct ww_gpu_spec *gpu, struct ww_error *error);
/* False: the reads of a full DRAM queue, a batch of writes behind them and the next ones take more of the bus
 * than fast replay keeps reservations of; `why` says so. */
bool ww_memsys_fast_reaches(const struct ww_gpu_spec *gpu, char *why, size_t size);

struct ww_memsys;
struct ww_inst_count;
/* counter: array of WW_COUNTER_COUNT that the memory system adds to. NULL: out of memory. */
struct ww_memsys *ww_memsys_new(const struct ww_gpu_spec *gpu, struct ww_queue *queue,
                                const struct ww_memsys_client *client, uint64_t *counter, uint64_t seed);
/* From now on requests are served by reservations, without events of the L2 and DRAM (fast.h); to be called
 * before the first one. Errors: WW_UNSUPPORTED, WW_NOMEM. */
enum ww_code ww_memsys_make_fast(struct ww_memsys *m, const struct ww_gpu_spec *gpu, struct ww_error *error);
/* With fast replay: whether SMs fetch their replies by ww_memsys_fetch. If so, client->reply and
 * client->unblocked are not called. Nothing may be in flight. False: SMs share ports, and nothing changes. */
bool ww_memsys_set_fetched(struct ww_memsys *m, bool fetched);
/* The time of the next reply to the SM; UINT64_MAX: none is in flight. */
uint64_t ww_memsys_next(const struct ww_memsys *m, uint16_t sm);
/* That reply, if it is at the SM at time ps. False: it is not. */
bool ww_memsys_fetch(struct ww_memsys *m, uint16_t sm, uint64_t ps, struct ww_mem_reply *reply);
/* With fetched replies: of the places of requests, those of the mask, the first of 32 being bit 0: `local`, an
 * address, becomes where the request goes. The host loads what they will look at. */
struct ww_mem_place {
    uint64_t local; /* address within the slice */
    uint32_t slice, set, bank, row;
    uint32_t index; /* fast_read.h: of the line */
};
void ww_memsys_expect(const struct ww_memsys *m, struct ww_mem_place *place, uint32_t mask);
/* Sends the request, which goes to the place (NULL: it is found), at `ps`, or when it is no longer refused,
 * which is returned; its replies are not fetched, but told here. */
uint64_t ww_memsys_book(struct ww_memsys *m, const struct ww_mem_request *request,
                        const struct ww_mem_place *place, uint64_t ps, struct ww_mem_answers *answers);
/* When the SM may retry the request that was refused last. */
uint64_t ww_memsys_again(const struct ww_memsys *m, uint16_t sm);
/* SMs have nothing more to send: lets the queue wait until everything is written. */
void ww_memsys_drain(struct ww_memsys *m);
void ww_memsys_free(struct ww_memsys *m);
/* Sectors that miss in the L2 or join a miss there are counted in `inst`, too, from now on; NULL: they are not.
 */
void ww_memsys_count_insts(struct ww_memsys *m, struct ww_inst_count *inst);
/* From now on calls the function when a write or an atomic has been performed, with its SM and line. NULL: it
 * does not. */
void ww_memsys_tell_writes(struct ww_memsys *m,
                           void (*performed)(void *context, uint16_t sm, uint64_t line, uint64_t now_ps),
                           void *context);
/* Offers a request at time now, which may be up to one SM cycle before the queue's time (its events are not
 * before the queue's floor). False: the SM's port or the slice pushes back; nothing has changed, and
 * unblocked() will be called. */
bool ww_memsys_send(struct ww_memsys *m, const struct ww_mem_request *request, uint64_t now_ps);

/* ---- the memory system apart from the SMs; see exchange.h ---- */

/* Picoseconds from the time at which a request is offered to the first at which it can matter behind its
 * slice's port. 0: they cannot be apart on this GPU. strong: SMs send strong reads. Clocks must not change
 * while they are. */
uint64_t ww_memsys_lead(const struct ww_memsys *m, bool strong);
/* From now on they are apart: messages wait for ww_memsys_tell, and requests for ww_memsys_exchange. Events up
 * to `now` have fired. False: they stay together, since pages are being translated, or memory is short. */
bool ww_memsys_part(struct ww_memsys *m, uint64_t now_ps);
/* For the memory system's side: takes the requests that were exchanged last, and lets events up to time ps
 * pass, or until it is idle. False: requests need translation, or memory is short: no event has passed, and the
 * two are to be joined as soon as the SMs have come as far. */
bool ww_memsys_advance(struct ww_memsys *m, uint64_t ps);
/* Both sides are at rest: passes on requests and messages. quiet: by SM, gets the time of the first message
 * to it, or `end`, if none of these comes before. False: memory was short. */
bool ww_memsys_exchange(struct ww_memsys *m, uint64_t *quiet, uint64_t end);
/* For the SMs' side: a tick at time ps begins. */
void ww_memsys_tick(struct ww_memsys *m, uint64_t ps);
/* Time of the next message to SMs; UINT64_MAX: none is left. */
uint64_t ww_memsys_told(const struct ww_memsys *m);
/* Replies whose time has come. */
struct ww_memsys_told {
    uint64_t ps; /* of the last one */
    uint32_t count;
    bool to_take; /* SMs, ahead of the others, have not taken all of them before */
};
/* The time of the next message has come; time `end` has not passed yet. Of what is no reply the client is told,
 * alone. Of replies those up to `end` have come, if no other message is before: sms, bit sm of words of 2^shift
 * SMs, gets SMs that have one to take. */
struct ww_memsys_told ww_memsys_tell(struct ww_memsys *m, uint64_t end, uint32_t shift, uint64_t *sms);
/* A reply to an SM, and the next two to it in the window. Valid until the next exchange. */
struct ww_mem_coming {
    const struct ww_mem_reply *reply, *next, *third; /* NULL: there are not so many */
};
/* Takes the SM's next reply, which there is. *quiet, the SM's own, was its time, and becomes that of the one
 * after it. */
struct ww_mem_coming ww_memsys_take_reply(struct ww_memsys *m, uint16_t sm, uint64_t *quiet);
/* The SM's next replies, which stay. */
struct ww_mem_coming ww_memsys_coming(const struct ww_memsys *m, uint16_t sm);
/* After an exchange, with no messages left: they are together again; the last tick was at time ps. False:
 * memory was short. */
bool ww_memsys_join(struct ww_memsys *m, uint64_t ps);

struct ww_peer;
/* The network of the SMs of a GPC; NULL: the GPU has none. */
struct ww_peer *ww_memsys_peer(struct ww_memsys *m);
/* A time before which the SM receives no message unless it sends a request; events up to `now` have fired. */
uint64_t ww_memsys_quiet(const struct ww_memsys *m, uint16_t sm, uint64_t now_ps);
/* The same of every SM, by number. */
void ww_memsys_quiet_all(const struct ww_memsys *m, uint64_t now_ps, uint64_t *quiet);
/* True if nothing is in flight anywhere (dirty lines may stay in the L2). */
bool ww_memsys_idle(const struct ww_memsys *m);
/* Closes a launch at time now: time-based counters (DRAM cycles, active cycles, refreshes) are brought up
 * to date. L2 contents stay for the next launch. */
void ww_memsys_end_launch(struct ww_memsys *m, uint64_t now_ps);
/* Adds to `counter` what time-based counters lack up to time now; nothing changes. */
void ww_memsys_count(const struct ww_memsys *m, uint64_t now_ps, uint64_t *counter);
/* Clock domain of crossbar, L2 and controller, and of the DRAM; a governor may change them. */
struct ww_clock *ww_memsys_l2_clock(struct ww_memsys *m);
struct ww_clock *ww_memsys_dram_clock(struct ww_memsys *m);

#endif
