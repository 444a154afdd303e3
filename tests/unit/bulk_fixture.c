/* bulk_fixture.c: kernels with bulk copies, run from PTX and from machine code. */
#include "bulk_fixture.h"
#include "../../traces/mbarrier.h"
#include "../../traces/ptx/record/device_host.h"
#include "../../traces/sass/cubin/ptxas.h"

/* ---- the recorded trace ---- */

/* What the steps of a launch tell of the phases of mbarriers. */
static struct phases {
    struct {
        uint64_t cta;
        uint32_t offset, phase, own, others, own_waited, others_waited;
        bool waited;
    } of[64];
    uint32_t count, cluster;
} phases;

static void add_step(uint64_t cta, struct ww_mbarrier_step s) {
    struct phases *p = &phases;
    uint32_t n = 0;
    if (s.kind == WW_MBARRIER_NONE) return;
    if (s.rank) cta = cta / p->cluster * p->cluster + s.rank - 1;
    while (n < p->count && (p->of[n].cta != cta || p->of[n].offset != s.offset || p->of[n].phase != s.phase))
        n++;
    assert_true(n < 64);
    if (n == p->count) {
        memset(&p->of[n], 0, sizeof p->of[n]);
        p->of[n].cta = cta, p->of[n].offset = s.offset, p->of[n].phase = s.phase;
        p->count++;
    }
    if (s.kind == WW_MBARRIER_WAIT) {
        p->of[n].waited = true;
        p->of[n].own_waited = s.events;
        p->of[n].others_waited = s.others;
    } else {
        *(s.rank ? &p->of[n].others : &p->of[n].own) += s.events;
    }
}

static void add_steps(uint64_t cta, const struct ww_access *a, const uint64_t *pool, uint32_t mask) {
    uint32_t n = 0;
    if (!ww_mbarrier_is_far(a)) {
        if (mask) add_step(cta, ww_mbarrier_own(a));
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1, n++) {
        uint64_t lane = (uint64_t)__builtin_ctz(m);
        uint64_t word = a->list == WW_AFFINE ? a->base + (uint64_t)a->stride * lane : pool[a->list + n];
        add_step(cta, ww_mbarrier_unpack(word));
    }
}

static void look_at_steps(void *device, const struct ww_cta_trace *cta) {
    uint32_t count;
    const struct ww_inst *table = ww_device_table(device, &count);
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        const struct ww_warp_stream *s = &cta->warp[w];
        for (uint32_t n = 0, a = 0; n < s->step_count; n++) {
            const struct ww_inst *in = &table[s->step[n].inst];
            if (!(in->flags & WW_INST_ACCESS)) continue;
            const struct ww_access *access = &s->access[a++];
            if (in->op == WW_OP_BARRIER && in->barrier == WW_MBARRIER)
                add_steps(cta->index, access, s->pool, s->step[n].mask);
        }
    }
}

/* Each wait is for as many events as there are. */
static void check_waits(void) {
    for (uint32_t n = 0; n < phases.count; n++) {
        if (!phases.of[n].waited) continue;
        assert_int_equal(phases.of[n].own, phases.of[n].own_waited);
        assert_int_equal(phases.of[n].others, phases.of[n].others_waited);
    }
}

/* What the last run's waits of that CTA were for. */
void want_events_of(uint64_t cta, uint32_t own, uint32_t others) {
    uint32_t found = 0;
    for (uint32_t n = 0; n < phases.count; n++) {
        if (phases.of[n].cta != cta || !phases.of[n].waited) continue;
        assert_int_equal(phases.of[n].own_waited, own);
        assert_int_equal(phases.of[n].others_waited, others);
        found++;
    }
    assert_true(found);
}

void want_events(uint32_t own, uint32_t others) {
    for (uint64_t cta = 0; cta < 2; cta++) want_events_of(cta, own, others);
}

static enum ww_code run_code(enum ww_record_code code, const struct job *j, struct ww_error *error) {
    struct ww_record_options options = {.arch = "sm_90", .code = code, .instruction_limit = 100000000};
    struct exec_test t = {0};
    unsigned char map[WW_TENSOR_MAP_BYTES] = {0};
    assert_int_equal(ww_device_new(&options, NULL, &t.device, &t.error), WW_OK);
    ww_device_watch(t.device, look_at_steps, t.device);
    phases.count = 0;
    phases.cluster = j->ctas < 2 ? 1 : 2;
    exec_must(&t, ww_device_module_text(t.device, j->text, strlen(j->text), "test.ptx", &t.module, &t.error));
    uint64_t arg[3] = {exec_alloc(&t, j->out, j->out_bytes),
                       exec_alloc(&t, j->in, j->in_bytes ? j->in_bytes : 16)};
    if (j->map) {
        struct ww_tensor_map m = *j->map;
        m.global = arg[j->map_of_out ? 0 : 1];
        if (ww_tensor_map_check(&m)) fail_msg("%s", ww_tensor_map_check(&m));
        ww_tensor_map_encode(&m, map);
        if (j->spoil) j->spoil(map);
    }
    arg[2] = exec_alloc(&t, map, sizeof map);
    enum ww_code result = exec_launch(&t, "k", j->ctas, j->threads, 0, arg, 3);
    if (result == WW_OK) check_waits();
    if (result == WW_OK) exec_must(&t, ww_device_read(t.device, j->out, arg[0], j->out_bytes, &t.error));
    *error = t.error;
    exec_close(&t);
    return result;
}

/* Whether there is a ptxas for sm_90a; without one PTX alone is run. */
static bool has_ptxas(void) {
    static int known = -1;
    if (known >= 0) return known;

    const char text[] = HEAD ".visible .entry k() { ret; }\n";
    struct ww_record_options options = {.arch = "sm_90", .code = WW_RECORD_SASS};
    struct exec_test t = {0};
    assert_int_equal(ww_device_new(&options, NULL, &t.device, &t.error), WW_OK);
    known = ww_device_module_text(t.device, text, strlen(text), "t.ptx", &t.module, &t.error) == WW_OK;
    exec_close(&t);
    return known;
}

/* Runs it both ways; want() looks at what came out. */
void both(const struct job *j, void (*want)(const void *out)) {
    unsigned char *first = malloc(j->out_bytes);
    struct ww_error e = {0};
    memcpy(first, j->out, j->out_bytes);
    if (run_code(WW_RECORD_PTX, j, &e) != WW_OK) fail_msg("PTX: %s: %s", e.where, e.text);
    want(j->out);
    if (has_ptxas()) {
        memcpy(j->out, first, j->out_bytes);
        if (run_code(WW_RECORD_SASS, j, &e) != WW_OK) fail_msg("machine code: %s: %s", e.where, e.text);
        want(j->out);
    }
    free(first);
}

void refused_as(enum ww_record_code code, const struct job *j, const char *part) {
    struct ww_error e = {0};
    if (code == WW_RECORD_SASS && !has_ptxas()) return;
    if (run_code(code, j, &e) == WW_OK) fail_msg("no error in place of '%s'", part);
    if (!strstr(e.text, part)) fail_msg("'%s' does not say '%s'", e.text, part);
}

void refused(const struct job *j, const char *part) {
    refused_as(WW_RECORD_PTX, j, part);
    refused_as(WW_RECORD_SASS, j, part);
}

uint32_t in_words[4096];
uint32_t out_words[4096];

void fill_in(void) {
    for (uint32_t n = 0; n < 4096; n++) in_words[n] = n * 2654435761u;
    memset(out_words, 0, sizeof out_words);
}
