/* APOGEE: adaptive prefetching on GPUs for energy efficiency. Fixed-offset addresses (FOA) are learned from the
 * lanes of one load and predicted for the warp's next executions, at a distance that adapts; thread-invariant
 * addresses (TIA) are prefetched with a load that runs earlier, which moves ahead until it is early enough.
 *
 *   a warp's state in an entry:  00 loaded --sent--> 01 on its way --back--> 10 --the load--> 00
 *                                      at the load: 01 was slow; 10 and a hit was timely; 10, a miss and the
 *                                      address as predicted was early; 10, a miss and another address was wrong
 *
 * The text leaves open, or garbles, and docs/studies/apogee.md explains: when an offset is trusted (confidence
 * at least the active threads less two, read literally the opposite), which load a state is compared with once
 * the distance is more than one (parameter `compare`), and whether a slow TIA prefetch is sent once more. */
#include "fetch_apogee.h"
#include "fetch.h"
#include <string.h>

enum { COMPARE_OWN, COMPARE_NEXT };

struct settings {
    uint32_t entries, distance, compare, queue, latency;
    bool adapt, tia, send;
};

static const struct ww_param params[] = {
    WW_PARAM_U32(settings, entries, "entries", "entry", 1, WW_APOGEE_MOST, 64, "of the prefetch table"),
    WW_PARAM_U32(settings, distance, "distance", "iteration", 1, 63, 1, "of a new entry"),
    WW_PARAM_BOOL(settings, adapt, "adapt", 1, "the distance follows the timeliness"),
    WW_PARAM_ENUM(settings, compare, "compare", "own|next", 0,
                  "load whose timeliness counts: the one that the prefetch is for, or the warp's next one"),
    WW_PARAM_BOOL(settings, tia, "tia", 1, "thread-invariant addresses are prefetched, too"),
    WW_PARAM_U32(settings, queue, "queue", "line", 1, 4096, 64, "lines that wait to be prefetched"),
    WW_PARAM_U32(settings, latency, "latency", "SM cycle", 0, 1000, 10, "from a load to its prefetches"),
    WW_PARAM_BOOL(settings, send, "send", 1, "ask memory; false: learn and ask for nothing"),
};

static void apogee_plan(const void *settings, struct ww_fetch_plan *plan) {
    const struct settings *s = settings;
    *plan = (struct ww_fetch_plan){.queue = s->queue, .latency = s->latency};
}

/* The table stays; no prefetch is on its way, and warps begin anew. */
static void apogee_begin(void *state, const void *settings, const struct ww_fetch_launch *launch) {
    struct ww_apogee *a = state;
    const struct settings *s = settings;
    (void)launch;
    a->last_known = false;
    for (uint32_t i = 0; i < s->entries; i++) {
        struct ww_apogee_entry *e = &a->entry[i];
        memset(e->state, WW_APOGEE_LOADED, sizeof e->state);
        memset(e->flying, 0, sizeof e->flying);
        memset(e->due, 0, sizeof e->due);
    }
}

/* ---- the table ---- */

static bool is_tia(const struct ww_apogee_entry *e) {
    return e->type == WW_APOGEE_TIA || e->type == WW_APOGEE_TIA_SLOW;
}

/* An entry for a new owner: an empty one, or the one of the lowest confidence. */
static struct ww_apogee_entry *replace(struct ww_apogee *a, const struct settings *s) {
    struct ww_apogee_entry *v = &a->entry[0];
    for (uint32_t i = 0; i < s->entries && v->type != WW_APOGEE_EMPTY; i++) {
        struct ww_apogee_entry *e = &a->entry[i];
        bool lower = e->confidence < v->confidence || (e->confidence == v->confidence && e->used < v->used);
        if (e->type == WW_APOGEE_EMPTY || lower) v = e;
    }
    uint16_t life = (uint16_t)(v->life + 1);
    *v = (struct ww_apogee_entry){.life = life, .used = ++a->clock, .distance = (uint8_t)s->distance};
    return v;
}

static struct ww_apogee_entry *find_load(struct ww_apogee *a, const struct settings *s, uint16_t pc) {
    for (uint32_t i = 0; i < s->entries; i++)
        if (a->entry[i].type == WW_APOGEE_FOA && a->entry[i].pc == pc) {
            a->entry[i].used = ++a->clock;
            return &a->entry[i];
        }
    struct ww_apogee_entry *e = replace(a, s);
    e->type = WW_APOGEE_FOA;
    e->pc = pc;
    return e;
}

/* entry, warp (6 bits), life (16 bits) */
static uint32_t token_of(const struct ww_apogee *a, const struct ww_apogee_entry *e, uint32_t warp) {
    return (uint32_t)(e - a->entry) << 22 | warp << 16 | e->life;
}

static struct ww_apogee_entry *entry_of(struct ww_apogee *a, uint32_t token) {
    struct ww_apogee_entry *e = &a->entry[token >> 22];
    return e->life == (token & 0xffff) ? e : NULL;
}

static void apogee_queued(void *state, uint32_t token) {
    struct ww_apogee_entry *e = entry_of(state, token);
    uint32_t warp = token >> 16 & 63;
    if (!e) return;
    e->flying[warp]++;
    if (e->due[warp]) e->state[warp] = WW_APOGEE_SENT;
}

static void apogee_done(void *state, uint32_t token) {
    struct ww_apogee_entry *e = entry_of(state, token);
    uint32_t warp = token >> 16 & 63;
    if (!e || !e->flying[warp] || --e->flying[warp]) return;
    if (e->state[warp] == WW_APOGEE_SENT) e->state[warp] = WW_APOGEE_BACK;
}

/* ---- fixed offsets ---- */

/* The quotient of the differences of addresses and of thread indices, if it is whole and fits its field. */
static bool offset_between(uint64_t a, uint64_t b, uint32_t threads, int16_t *offset) {
    int64_t bytes = (int64_t)(b - a), most = 1 << (WW_APOGEE_OFFSET_BITS - 1);
    if (bytes % (int64_t)threads != 0) return false;
    bytes /= (int64_t)threads;
    *offset = (int16_t)bytes;
    return bytes >= -most && bytes < most;
}

/* Goes over the active threads of a load as section 5.3.1 does: the second one gives the offset, unless the
 * entry has one, and each one behind it that agrees raises the confidence; one that does not agree resets it,
 * and the offset is learned anew with the next load. */
static void learn(struct ww_apogee_entry *e, const struct ww_fetch_load *load) {
    uint32_t lane = (uint32_t)__builtin_ctz(load->mask), rank = 0;
    bool agreed = true;
    for (uint32_t m = load->mask & (load->mask - 1); m && agreed; m &= m - 1) {
        uint32_t next = (uint32_t)__builtin_ctz(m);
        int16_t offset;
        agreed = offset_between(load->address[rank], load->address[rank + 1], next - lane, &offset);
        if (agreed && !e->offset_known) {
            e->offset = offset;
            e->offset_known = true;
        } else if (agreed) {
            agreed = offset == e->offset;
            if (agreed && e->confidence < (1u << WW_APOGEE_CONFIDENCE_BITS) - 1) e->confidence++;
        }
        lane = next;
        rank++;
    }
    if (!agreed) {
        e->confidence = 0;
        e->offset_known = false;
    }
    e->thread = (uint8_t)(31 - (uint32_t)__builtin_clz(load->mask));
    e->address = load->address[load->lanes - 1];
}

/* "Fewer than two less than the number of active threads" in the text; meant is: not fewer. */
static bool is_trusted(const struct ww_apogee_entry *e, uint32_t active) {
    return e->offset_known && e->confidence + 2u >= active;
}

/* Address of lane 0, by the offset. */
static uint64_t lane_0(const struct ww_apogee_entry *e) {
    return e->address - (uint64_t)((int64_t)e->offset * e->thread);
}

/* Outcome, by this load, of the prefetch that the state of its warp belongs to. */
static void judge(struct ww_apogee_entry *e, const struct settings *s, const struct ww_fetch_load *load,
                  struct ww_fetch_requests *requests) {
    uint32_t w = load->warp;
    if (!e->due[w]) return;
    if (s->compare == COMPARE_OWN && --e->due[w]) return;
    bool slow = e->state[w] == WW_APOGEE_SENT, back = e->state[w] == WW_APOGEE_BACK;
    bool early = back && load->absent && e->target[w] == lane_0(e);
    if (s->adapt && slow && e->distance < (1u << WW_APOGEE_DISTANCE_BITS) - 1) {
        e->distance++;
        requests->farther++;
    } else if (s->adapt && early && e->distance > 1) {
        e->distance--;
        requests->nearer++;
    }
    e->state[w] = WW_APOGEE_LOADED;
    e->due[w] = 0;
}

/* The warp's next access but `distance`: its lanes in the order of their indices, n threads further on. */
static void ask_foa(const struct ww_apogee *a, struct ww_apogee_entry *e, const struct ww_fetch_load *load,
                    struct ww_fetch_requests *requests) {
    uint64_t base = lane_0(e) + (uint64_t)((int64_t)e->offset * (int64_t)e->distance * (int64_t)load->threads);
    bool free = !e->due[load->warp]; /* else its state is still that of an earlier prefetch */
    if (requests->count == WW_FETCH_REQUESTS) return;
    requests->request[requests->count++] =
        (struct ww_fetch_request){.base = base,
                                  .stride = e->offset,
                                  .mask = UINT32_MAX,
                                  .width = load->width,
                                  .token = free ? token_of(a, e, load->warp) : WW_FETCH_NO_TOKEN};
    if (!free) return;
    e->due[load->warp] = e->distance;
    e->target[load->warp] = base;
}

/* ---- thread-invariant addresses ---- */

/* A load of one address has missed: it is to be prefetched with the load before it, from now on. */
static void add_tia(struct ww_apogee *a, const struct settings *s, uint64_t address, uint8_t confidence) {
    for (uint32_t i = 0; i < s->entries; i++) {
        struct ww_apogee_entry *e = &a->entry[i];
        if (!is_tia(e) || e->address != address) continue;
        e->used = ++a->clock;
        if (e->state[0] == WW_APOGEE_SENT) e->type = WW_APOGEE_TIA_SLOW;
        e->state[0] = WW_APOGEE_LOADED;
        return;
    }
    if (!a->last_known) return;
    struct ww_apogee_entry *e = replace(a, s);
    e->type = WW_APOGEE_TIA;
    e->pc = a->last;
    e->address = address;
    e->confidence = confidence;
    e->thread = WW_APOGEE_SCALAR;
}

/* The load that entries go with runs: what was slow moves on to the load before it, the others are prefetched.
 */
static void trigger(struct ww_apogee *a, const struct settings *s, uint16_t pc,
                    struct ww_fetch_requests *requests) {
    for (uint32_t i = 0; i < s->entries; i++) {
        struct ww_apogee_entry *e = &a->entry[i];
        if (!is_tia(e) || e->pc != pc) continue;
        if (e->type == WW_APOGEE_TIA_SLOW && a->last_known && a->last != pc) {
            e->type = WW_APOGEE_TIA;
            e->pc = a->last;
            requests->farther++;
            continue;
        }
        if (requests->count == WW_FETCH_REQUESTS) return;
        requests->request[requests->count++] =
            (struct ww_fetch_request){.base = e->address, .mask = 1, .width = 1, .token = token_of(a, e, 0)};
        e->due[0] = 1;
    }
}

/* ---- the load ---- */

static void apogee_load(void *state, const void *settings, const struct ww_fetch_load *load,
                        struct ww_fetch_requests *requests) {
    struct ww_apogee *a = state;
    const struct settings *s = settings;
    uint16_t pc = (uint16_t)(load->pc & ((1u << WW_APOGEE_PC_BITS) - 1));
    if (!load->mask) return;
    struct ww_apogee_entry *e = find_load(a, s, pc);
    learn(e, load);
    judge(e, s, load, requests);
    if (is_trusted(e, load->lanes)) {
        if (e->offset != 0)
            ask_foa(a, e, load, requests);
        else if (s->tia && load->lanes > 1)
            e->thread = WW_APOGEE_SCALAR;
        if (e->offset == 0 && s->tia && load->missed) add_tia(a, s, load->address[0], e->confidence);
    }
    if (s->tia) trigger(a, s, pc, requests);
    a->last = pc;
    a->last_known = true;
    if (!s->send) requests->count = 0;
}

const struct ww_fetch_ops ww_fetch_apogee = {
    .info = {.kind = WW_KIND_FETCH,
             .name = "apogee",
             .help = "fixed-offset and thread-invariant addresses, at a distance that adapts",
             .paper =
                 "Sethia, Dasika, Samadi, Mahlke: APOGEE: Adaptive Prefetching on GPUs for Energy Efficiency, "
                 "PACT 2013",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .plan = apogee_plan,
    .state_size = sizeof(struct ww_apogee),
    .begin = apogee_begin,
    .load = apogee_load,
    .queued = apogee_queued,
    .done = apogee_done,
};
