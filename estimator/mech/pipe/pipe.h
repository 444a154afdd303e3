/* pipe.h: kind "pipe", an in-order barrel pipeline and how its memory stages and its writeback are organised.
 *
 *   fetch ... EXE --+--> [PREMEM queue] -> MEM0 .. MEMm --+--> WB
 *                   '--> NONMEM path or queue ------------'
 *
 * C. Gou, G. N. Gaydadjiev, "Elastic Pipeline: Addressing GPU On-chip Shared Memory Bank Conflicts", CF 2011. A
 * warp is fetched as sub-warps of `width` threads, one a cycle; each moves a stage a cycle until something
 * stops it. Core keeps the stages up to EXE, which move together, and the warps; what lies behind EXE is an
 * organisation's: a step function over struct ww_pipe_back, called once a cycle while anything is in the
 * pipeline. One instruction is written back in a cycle; data from memory have priority at the port, as core
 * decides. The paper draws the priorities of the multiplexers and does not print them; those
 * assumed here are in pipe_split.c and pipe_elastic.c. */
#ifndef WW_MECH_PIPE_H
#define WW_MECH_PIPE_H

#include "../mech.h"

#define WW_PIPE_MEMORY_MOST 8 /* memory stages */
#define WW_PIPE_PARTS_MOST 8  /* sub-warps of a warp */

/* When a warp may issue again (section 6). */
enum ww_pipe_barrel {
    WW_BARREL_STRICT,       /* after its instruction has been written back */
    WW_BARREL_OUT_OF_ORDER, /* when operands are there; writeback in any order */
    WW_BARREL_IN_ORDER /* when operands are there; written back in order, so not behind a predicted conflict */
};

/* Whether memory warps keep the safe distance from a shared-memory warp that conflicts (sections 4 and 5.2). */
enum ww_pipe_aware {
    WW_AWARE_OFF,
    WW_AWARE_SAFE,
    WW_AWARE_ANYWAY /* not if no other warp is ready */
};

struct ww_pipe_plan {
    uint32_t stages;               /* from fetch to writeback, both included; 0: there is no such pipeline */
    uint32_t memory, width, ports; /* memory stages; SIMD width; shared-memory accesses of a bank in a cycle */
    uint32_t parts;                /* sub-warps of a warp */
    uint32_t nonmem, premem;       /* entries of the queues: equations 2 and 3 */
    enum ww_pipe_barrel barrel;
    enum ww_pipe_aware aware;
};

/* A sub-warp of an instruction in flight. */
struct ww_subwarp {
    uint8_t op;     /* core's number of the instruction */
    uint8_t cycles; /* that MEM0 still needs, 1 or more */
    bool valid;     /* false: a bubble */
    bool memory;    /* goes through the memory stages */
    bool leaves;    /* a load: is not written back from here, its data are, later */
};

enum ww_pipe_cause { WW_PIPE_NOT_STALLED, WW_PIPE_CONFLICT, WW_PIPE_OTHER };

/* One cycle of the organisation: from one edge to the next. */
struct ww_pipe_cycle {
    struct ww_subwarp exe;          /* what EXE holds */
    bool port_taken;                /* in the next cycle data from memory are written back */
    bool closed;                    /* the way to memory has no room for what EXE holds */
    uint64_t wait[2];               /* bit by op: must not be written back yet */
    enum ww_pipe_cause stalled;     /* EXE keeps what it holds, and with it all stages before it */
    struct ww_subwarp written;      /* is in writeback in the next cycle */
    struct ww_subwarp passed, left; /* leaves MEM0; leaves the last memory stage without writeback */
};

/* The stages behind EXE. All zero: empty. */
struct ww_pipe_back {
    struct ww_subwarp mem[WW_PIPE_MEMORY_MOST], nonmem[WW_PIPE_MEMORY_MOST], premem[WW_PIPE_PARTS_MOST];
    uint32_t nonmem_count, premem_count; /* as queues: the first entries, oldest first */
};

struct ww_pipe_ops {
    struct ww_mech_info info;
    /* What the settings (that info.params describe) mean. */
    void (*plan)(const void *settings, struct ww_pipe_plan *plan);
    /* NULL where the plan has no stages. */
    void (*step)(struct ww_pipe_back *back, const struct ww_pipe_plan *plan, struct ww_pipe_cycle *c);
};

/* ---- the equations ---- */

/* Equations 1 and 5: least cycles from a shared-memory warp to the next memory warp. conflicts: the sum of its
 * sub-warps' conflict degrees. */
static inline uint32_t ww_pipe_safe_distance(uint32_t conflicts, uint32_t ports) {
    return (conflicts + ports - 1) / ports;
}

/* Equation 3, for any sizes. Equation 2 is the number of memory stages itself. */
static inline uint32_t ww_pipe_premem(uint32_t warp, uint32_t width) {
    return (warp + width - 1) / width - 1;
}

/* Equation 4: the sum of the degrees of a warp's sub-warps. */
static inline uint32_t ww_pipe_warp_degree(const uint8_t *degree, uint32_t parts) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < parts; i++) sum += degree[i];
    return sum;
}

/* Tables 1 and 2: hardware of a core with these queues and a history cache of so many sets and ways. */
struct ww_pipe_overhead {
    uint32_t latches;                         /* of one lane: simd width x (M + N) */
    uint32_t writeback_inputs, memory_inputs; /* of the two multiplexers, M + 3 and N + 1 */
    uint32_t tag_bits, degree_bits, history_bytes;
    uint32_t gates;   /* AND and NAND */
    uint32_t counter; /* bits of accumulator, counter and comparator */
};
struct ww_pipe_overhead ww_pipe_overhead(const struct ww_pipe_plan *plan, uint32_t warp, uint32_t warps,
                                         uint32_t sets, uint32_t ways);

/* ---- settings that the organisations share ---- */
struct ww_pipe_settings {
    uint32_t stages, memory, width, ports, barrel, aware;
};
#define WW_PIPE_PARAMS(aware_default)                                                                          \
    WW_PARAM_U32(ww_pipe_settings, stages, "stages", "stage", 6, 48, 24, "from fetch to writeback"),           \
        WW_PARAM_U32(ww_pipe_settings, memory, "memory", "stage", 2, 8, 4,                                     \
                     "memory stages among them, at most stages - 4"),                                          \
        WW_PARAM_ENUM(ww_pipe_settings, width, "width", "4|8|16|32", 1, "SIMD width in lanes"),                \
        WW_PARAM_U32(ww_pipe_settings, ports, "ports", "access", 1, 8, 1, "ports of a shared-memory bank"),    \
        WW_PARAM_ENUM(ww_pipe_settings, barrel, "barrel", "strict|out_of_order|in_order", 0,                   \
                      "a warp issues again after its writeback, or relaxed with this order of writeback"),     \
        WW_PARAM_ENUM(ww_pipe_settings, aware, "aware", "off|safe|anyway", aware_default,                      \
                      "memory warps keep the safe distance from predicted conflicts; anyway: unless nothing "  \
                      "else is ready")
/* The plan of these settings. */
void ww_pipe_plan_of(const void *settings, struct ww_pipe_plan *plan);

/* ---- what the organisations share ---- */

/* A step of the memory stages after the last one has been dealt with; held: that one stays, and all others with
 * it, while an access at MEM0 continues. Returns whether MEM0 is free now. */
static inline bool ww_pipe_advance(struct ww_pipe_back *b, uint32_t stages, bool held,
                                   struct ww_subwarp *passed) {
    struct ww_subwarp *first = &b->mem[0];
    bool busy = first->valid && first->cycles > 1;
    if (busy) first->cycles--;
    if (held) return false;
    for (uint32_t i = stages - 1; i > 1; i--) b->mem[i] = b->mem[i - 1];
    b->mem[1] = busy ? (struct ww_subwarp){0} : *first;
    if (busy) return false;
    *passed = *first;
    first->valid = false;
    return true;
}

static inline bool ww_pipe_may_write(const struct ww_pipe_cycle *c, const struct ww_subwarp *s) {
    return !((c->wait[s->op >> 6] >> (s->op & 63)) & 1);
}

/* What comes out of the last memory stage: true if it has to stay. */
static inline bool ww_pipe_memory_end(const struct ww_pipe_back *b, uint32_t stages, struct ww_pipe_cycle *c) {
    const struct ww_subwarp *last = &b->mem[stages - 1];
    if (!last->valid) return false;
    if (last->leaves)
        c->left = *last;
    else if (c->port_taken || !ww_pipe_may_write(c, last))
        return true;
    else
        c->written = *last;
    return false;
}

static inline bool ww_pipe_busy(const struct ww_pipe_back *b) {
    return b->mem[0].valid && b->mem[0].cycles > 1;
}

#endif
