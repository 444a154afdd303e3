/* fake_memory.h: a stand-in for the memory system behind the L1, defined in the test that includes it (once
 * per program): every request is answered after the same time. */
#ifndef TESTS_FAKE_MEMORY_H
#define TESTS_FAKE_MEMORY_H

#include "../../estimator/core/time/epoch.h"
#include "../../estimator/core/memory/fast_read.h"
#include "../../estimator/core/memory/memsys.h"
#include "../../estimator/core/memory/peer.h"
#include <stdlib.h>

static struct {
    uint64_t latency_ps; /* of a reply */
    uint64_t notice_ps;  /* it is put into the queue only so long before; 0: at once */
    uint8_t level;
    uint32_t most; /* requests in flight before it refuses; 0: no limit */
    uint32_t reads, writes, atomics, refused, sectors, atomic_sectors, write_bytes, updates;
} fake = {.latency_ps = 200000, .level = WW_LEVEL_L2};

struct fake_flight {
    struct ww_event event;
    struct ww_mem_request request;
    struct ww_memsys *memory;
    struct fake_flight *next, *older; /* free ones; all that there are */
    uint64_t at;                      /* time of the reply */
};

struct ww_memsys {
    struct ww_queue *queue;
    struct ww_memsys_client client;
    struct ww_clock clock;
    struct fake_flight *free, *all;
    struct ww_inst_count *inst;
    struct ww_peer *peer; /* the real one, if the GPU has GPCs */
    struct ww_arena arena;
    uint64_t live;
    uint32_t flying, l1_sector, sms;
    bool blocked[1024];
};

struct ww_memsys *ww_memsys_new(const struct ww_gpu_spec *gpu, struct ww_queue *queue,
                                const struct ww_memsys_client *client, uint64_t *counter, uint64_t seed) {
    struct ww_memsys *m = calloc(1, sizeof *m);
    (void)counter;
    (void)seed;
    if (!m) return NULL;
    m->queue = queue;
    m->client = *client;
    m->l1_sector = gpu->l1_sector;
    m->sms = gpu->sm_count;
    ww_clock_init(&m->clock, 1000);
    ww_arena_init(&m->arena, 0);
    if (gpu->sm_gpcs) m->peer = ww_peer_new(gpu, queue, &m->clock, client, &m->live, &m->arena);
    fake.reads = fake.writes = fake.atomics = fake.refused = 0;
    fake.sectors = fake.atomic_sectors = fake.write_bytes = fake.updates = 0;
    return m;
}

void ww_memsys_free(struct ww_memsys *m) {
    while (m && m->free) {
        struct fake_flight *f = m->free;
        m->free = f->next;
        free(f);
    }
    if (m) {
        ww_peer_free(m->peer);
        ww_arena_free(&m->arena);
    }
    free(m);
}

void ww_memsys_tell_writes(struct ww_memsys *m,
                           void (*performed)(void *context, uint16_t sm, uint64_t line, uint64_t now_ps),
                           void *context) {
    (void)m;
    (void)performed;
    (void)context;
}

void ww_memsys_count_insts(struct ww_memsys *m, struct ww_inst_count *inst) {
    m->inst = inst;
}

static void fake_answer(void *owner, struct ww_event *event, uint64_t now) {
    struct fake_flight *f = owner;
    struct ww_memsys *m = f->memory;
    const struct ww_mem_request *q = &f->request;
    struct ww_mem_reply reply = {.address = q->address,
                                 .sectors = q->sectors,
                                 .tag = q->tag,
                                 .kind = q->kind,
                                 .level = fake.level,
                                 .last = 1};
    uint16_t sm = q->sm;
    if (now < f->at) {
        ww_queue_add(m->queue, event, f->at);
        return;
    }
    f->next = m->free;
    m->free = f;
    m->flying--;
    m->client.reply(m->client.context, sm, &reply, now);
    for (uint16_t i = 0; i < 1024; i++)
        if (m->blocked[i]) {
            m->blocked[i] = false;
            m->client.unblocked(m->client.context, i, now);
        }
}

/* Sectors of 32 bytes that a request is for. */
static uint32_t fake_chunks(const struct ww_memsys *m, const struct ww_mem_request *request) {
    uint32_t n = (uint32_t)__builtin_popcount(request->sectors);
    return request->fine ? n : n * (m->l1_sector / 32);
}

static void fake_count(struct ww_memsys *m, const struct ww_mem_request *request) {
    if (fake.level == WW_LEVEL_DRAM && request->kind != WW_MEM_WRITE && m->inst)
        m->inst[request->inst].counter[WW_I_L2_MISS] += fake_chunks(m, request);
    fake.reads += request->kind == WW_MEM_READ;
    fake.writes += request->kind == WW_MEM_WRITE;
    fake.atomics += request->kind == WW_MEM_ATOMIC;
    fake.sectors += fake_chunks(m, request);
    if (request->kind == WW_MEM_ATOMIC) fake.atomic_sectors += fake_chunks(m, request);
    fake.write_bytes += request->bytes;
    fake.updates += request->atomic_ops;
}

bool ww_memsys_send(struct ww_memsys *m, const struct ww_mem_request *request, uint64_t now_ps) {
    if (request->kind >= WW_MEM_PEER) return ww_peer_send(m->peer, request, now_ps);
    if (fake.most && m->flying >= fake.most) {
        m->blocked[request->sm] = true;
        fake.refused++;
        return false;
    }
    struct fake_flight *f = m->free ? m->free : calloc(1, sizeof *f);
    if (!f) abort();
    if (m->free)
        m->free = f->next;
    else {
        f->older = m->all;
        m->all = f;
    }
    *f = (struct fake_flight){
        .request = *request, .memory = m, .at = now_ps + fake.latency_ps, .older = f->older};
    f->event.fn = fake_answer;
    f->event.owner = f;
    m->flying++;
    fake_count(m, request);
    ww_queue_earlier(m->queue, &f->event, f->at > fake.notice_ps ? f->at - fake.notice_ps : 0);
    return true;
}

/* The first answer to the SM that is under way, or what one to a request of now would take. */
uint64_t ww_memsys_quiet(const struct ww_memsys *m, uint16_t sm, uint64_t now_ps) {
    uint64_t first = now_ps + fake.latency_ps;
    for (const struct fake_flight *f = m->all; f; f = f->older)
        if (f->event.queued && f->request.sm == sm && f->at < first) first = f->at;
    return first;
}

void ww_memsys_quiet_all(const struct ww_memsys *m, uint64_t now_ps, uint64_t *quiet) {
    for (uint16_t sm = 0; sm < m->sms; sm++) quiet[sm] = ww_memsys_quiet(m, sm, now_ps);
}

bool ww_memsys_idle(const struct ww_memsys *m) {
    return m->flying == 0 && m->live == 0;
}

void ww_memsys_count(const struct ww_memsys *m, uint64_t now_ps, uint64_t *counter) {
    (void)m;
    (void)now_ps;
    (void)counter;
}

void ww_memsys_fill(struct ww_memsys *m, const struct ww_mem_request *request) {
    (void)m;
    (void)request;
}

void ww_memsys_end_launch(struct ww_memsys *m, uint64_t now_ps) {
    (void)m;
    (void)now_ps;
}

struct ww_peer *ww_memsys_peer(struct ww_memsys *m) {
    return m->peer;
}

/* Fast replay: SMs that book their requests know the same time of the answer; others cannot use it. */
enum ww_code ww_memsys_make_fast(struct ww_memsys *m, const struct ww_gpu_spec *gpu, struct ww_error *error) {
    (void)m, (void)gpu, (void)error;
    return WW_OK;
}
struct ww_fast *ww_memsys_plain(const struct ww_memsys *m) {
    (void)m;
    return NULL;
}
bool ww_memsys_set_fetched(struct ww_memsys *m, bool fetched) {
    (void)m, (void)fetched;
    return true;
}
void ww_memsys_expect(const struct ww_memsys *m, struct ww_mem_place *place, uint32_t mask) {
    (void)m, (void)place, (void)mask;
}

uint64_t ww_memsys_book(struct ww_memsys *m, const struct ww_mem_request *request,
                        const struct ww_mem_place *place, uint64_t ps, struct ww_mem_answers *answers) {
    (void)place;
    fake_count(m, request);
    *answers = (struct ww_mem_answers){.count = 1};
    answers->answer[0] = (struct ww_mem_answer){.ps = ps + fake.latency_ps,
                                                .chunks = (uint32_t)__builtin_popcount(request->sectors),
                                                .level = fake.level};
    return ps;
}
bool ww_memsys_fetch(struct ww_memsys *m, uint16_t sm, uint64_t ps, struct ww_mem_reply *reply) {
    (void)m, (void)sm, (void)ps, (void)reply;
    return false;
}
uint64_t ww_memsys_next(const struct ww_memsys *m, uint16_t sm) {
    (void)m, (void)sm;
    return UINT64_MAX;
}
uint64_t ww_memsys_again(const struct ww_memsys *m, uint16_t sm) {
    (void)m, (void)sm;
    return 0;
}
void ww_memsys_drain(struct ww_memsys *m) {
    (void)m;
}
/* It is never apart from the SMs. */
uint64_t ww_memsys_lead(const struct ww_memsys *m, bool strong) {
    (void)m, (void)strong;
    return 0;
}
bool ww_memsys_part(struct ww_memsys *m, uint64_t now_ps) {
    (void)m, (void)now_ps;
    return false;
}
bool ww_memsys_advance(struct ww_memsys *m, uint64_t ps) {
    (void)m, (void)ps;
    return false;
}
bool ww_memsys_exchange(struct ww_memsys *m, uint64_t *quiet, uint64_t end) {
    (void)m, (void)quiet, (void)end;
    return false;
}
void ww_memsys_tick(struct ww_memsys *m, uint64_t ps) {
    (void)m, (void)ps;
}
uint64_t ww_memsys_told(const struct ww_memsys *m) {
    (void)m;
    return UINT64_MAX;
}
struct ww_memsys_told ww_memsys_tell(struct ww_memsys *m, uint64_t end, uint32_t shift, uint64_t *sms) {
    (void)m, (void)end, (void)shift, (void)sms;
    return (struct ww_memsys_told){0};
}
struct ww_mem_coming ww_memsys_take_reply(struct ww_memsys *m, uint16_t sm, uint64_t *quiet) {
    (void)m, (void)sm, (void)quiet;
    return (struct ww_mem_coming){0};
}
struct ww_mem_coming ww_memsys_coming(const struct ww_memsys *m, uint16_t sm) {
    (void)m, (void)sm;
    return (struct ww_mem_coming){0};
}
bool ww_memsys_join(struct ww_memsys *m, uint64_t ps) {
    (void)m, (void)ps;
    return true;
}
struct ww_clock *ww_memsys_l2_clock(struct ww_memsys *m) {
    return &m->clock;
}

struct ww_clock *ww_memsys_dram_clock(struct ww_memsys *m) {
    return &m->clock;
}

#endif
