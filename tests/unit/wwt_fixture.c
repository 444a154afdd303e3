/* Made-up traces for the tests of the container. */
#include "wwt_fixture.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct maker {
    struct ww_arena *arena;
    struct ww_rng rng;
    const struct ww_made_shape *shape;
    struct ww_launch *launch;
    uint32_t lanes; /* of the warp that is being made */
};

static uint32_t below(struct maker *m, uint32_t n) {
    return ww_rng_below(&m->rng, n);
}

static void make_inst(struct maker *m, struct ww_inst *i, uint32_t number) {
    static const uint8_t widths[] = {1, 2, 4, 4, 4, 8, 16};
    static const uint8_t ops[] = {WW_OP_INT, WW_OP_FP32, WW_OP_BRANCH, WW_OP_SFU, WW_OP_VOTE};
    bool access = number % 3 == 1;
    *i = (struct ww_inst){.pc = number * 16, .op = ops[below(m, sizeof ops)], .dst_count = 1, .src_count = 2};
    i->dst[0] = (struct ww_operand){(uint16_t)below(m, 200), 1};
    i->src[0] = (struct ww_operand){(uint16_t)below(m, 200), 2};
    i->src[1] = (struct ww_operand){(uint16_t)(WW_REG_PRED + below(m, 8)), 1};
    i->mnemonic = 1 + below(m, m->launch->string_count - 1);
    i->file = below(m, m->launch->string_count);
    i->line = below(m, 1000);
    if (!access) return;
    i->flags = WW_INST_ACCESS | (below(m, 2) ? WW_INST_BYPASS_L1 : 0);
    i->op = (uint8_t)(below(m, 2) ? WW_OP_LOAD : WW_OP_STORE);
    if (i->op == WW_OP_STORE) i->dst_count = 0, i->dst[0] = (struct ww_operand){0};
    i->space = (uint8_t)(1 + below(m, WW_SPACE_COUNT - 1));
    i->width = widths[below(m, sizeof widths)];
    if (number % 12 == 1)
        *i = (struct ww_inst){.pc = number * 16, .op = WW_OP_BARRIER, .flags = WW_INST_ACCESS};
}

static void make_code(struct maker *m) {
    static const char *const strings[] = {"", "IADD3", "LDG.E", "FFMA \"quoted\"\t", "kernel.cu"};
    struct ww_launch *l = m->launch;
    struct ww_inst *inst = ww_arena_array(m->arena, m->shape->inst_count, sizeof *inst);
    l->string = strings;
    l->string_count = 5;
    for (uint32_t i = 0; i < m->shape->inst_count; i++) make_inst(m, &inst[i], i);
    l->inst = inst;
    l->inst_count = m->shape->inst_count;
    l->kernel = "made_up";
    l->arch = "sm_70";
    l->registers_per_thread = 32;
    l->shared_static = 1024;
    l->shared_dynamic = 512;
    l->local_bytes = 16;
}

static uint32_t make_mask(struct maker *m, uint32_t before) {
    if (m->shape->regular) return m->lanes;
    switch (below(m, 8)) {
    case 0:
        return (uint32_t)ww_rng_next(&m->rng) & m->lanes;
    case 1:
        return 0;
    case 2:
        return (1u << below(m, 32)) & m->lanes;
    case 3:
        return before & (uint32_t)ww_rng_next(&m->rng);
    case 4:
        return m->lanes;
    default:
        return before;
    }
}

/* A walk through the instructions with jumps back and ahead. */
static uint32_t make_steps(struct maker *m, struct ww_step **out) {
    uint32_t n = m->shape->steps ? m->shape->steps / 2 + below(m, m->shape->steps) : 0, inst = 0,
             mask = m->lanes;
    if (m->shape->regular) n = m->shape->steps;
    struct ww_step *step = ww_arena_array(m->arena, n, sizeof *step);
    for (uint32_t i = 0; i < n; i++) {
        step[i] = (struct ww_step){inst, mask};
        inst = m->shape->regular || below(m, 10) ? inst + 1 : below(m, m->shape->inst_count);
        if (inst >= m->shape->inst_count) inst = 0;
        mask = make_mask(m, mask);
    }
    *out = step;
    return n;
}

static void make_list(struct maker *m, const struct ww_step *step, struct ww_access *a, uint64_t *pool,
                      uint32_t *used, uint64_t base) {
    unsigned kind = below(m, 5), n = (unsigned)__builtin_popcount(step->mask);
    *a = (struct ww_access){.base = 12345, .stride = 77, .list = *used}; /* both without meaning */
    for (unsigned i = 0; i < n; i++) {
        uint64_t at = base;
        if (kind == 0) at = ww_rng_next(&m->rng);                    /* anywhere */
        if (kind == 1) at = base + 4 * (uint64_t)below(m, 1u << 20); /* a gather */
        if (kind == 2) at = base + 4 * (i % 16) + 4096 * (i / 16);   /* two rows of a tile */
        if (kind == 3) at = base + 8 * i;                            /* affine if the mask is */
        if (kind == 4) at = base + 64 * i + 4 * below(m, 2);         /* rows walked unevenly */
        pool[(*used)++] = at;
    }
}

static void make_accesses(struct maker *m, struct ww_warp_stream *s, uint64_t cta, uint32_t warp) {
    uint32_t used = 0, n = 0;
    struct ww_access *a = ww_arena_array(m->arena, s->step_count, sizeof *a);
    uint64_t *pool = m->shape->regular ? NULL : ww_arena_array(m->arena, (size_t)s->step_count * 32, 8);
    for (uint32_t i = 0; i < s->step_count; i++) {
        const struct ww_inst *inst = &m->launch->inst[s->step[i].inst];
        if (!(inst->flags & WW_INST_ACCESS)) continue;
        uint64_t base = 0x7f0000000000u + s->step[i].inst * 0x1000000u + cta * 4096 + warp * 128u;
        unsigned kind = m->shape->regular ? 0 : below(m, 6);
        if (kind >= 3 && inst->op != WW_OP_BARRIER)
            make_list(m, &s->step[i], &a[n], pool, &used, base + i * 4);
        else if (kind == 2)
            a[n] = (struct ww_access){ww_rng_next(&m->rng), (int32_t)ww_rng_next(&m->rng), WW_AFFINE};
        else
            a[n] = (struct ww_access){base + (kind ? i * 256u : 0), kind ? 8 : 4, WW_AFFINE};
        n++;
    }
    s->access = a;
    s->pool = pool;
    s->access_count = n;
}

static uint32_t lanes_of(const struct ww_launch *l, uint32_t warp) {
    uint32_t left = l->block[0] * l->block[1] * l->block[2] - 32 * warp;
    return left >= 32 ? UINT32_MAX : (1u << left) - 1;
}

static void make_cta(struct maker *m, struct ww_cta_trace *cta, struct ww_warp_stream *path) {
    struct ww_warp_stream *warp = ww_arena_array(m->arena, m->launch->warps_per_cta, sizeof *warp);
    for (uint32_t w = 0; w < m->launch->warps_per_cta; w++) {
        m->lanes = lanes_of(m->launch, w);
        bool partial = m->lanes != UINT32_MAX;
        if (m->shape->paths && !partial)
            warp[w] = path[below(m, m->shape->paths)];
        else
            warp[w].step_count = make_steps(m, (struct ww_step **)&warp[w].step);
        make_accesses(m, &warp[w], cta->index, w);
    }
    cta->warp_count = m->launch->warps_per_cta;
    cta->warp = warp;
}

void ww_made_launch(struct ww_arena *arena, uint64_t seed, const struct ww_made_shape *shape,
                    struct ww_made_launch *out) {
    struct maker m = {.arena = arena, .shape = shape, .launch = &out->launch, .lanes = UINT32_MAX};
    struct ww_warp_stream path[16] = {0};
    ww_rng_seed(&m.rng, seed);
    *out = (struct ww_made_launch){0};
    memcpy(out->launch.grid, shape->grid, sizeof shape->grid);
    memcpy(out->launch.block, shape->block, sizeof shape->block);
    make_code(&m);
    out->launch.cta_count = (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];
    out->launch.warps_per_cta = (shape->block[0] * shape->block[1] * shape->block[2] + 31) / 32;
    out->cta_count = (size_t)out->launch.cta_count;
    for (uint32_t i = 0; i < shape->paths; i++)
        path[i].step_count = make_steps(&m, (struct ww_step **)&path[i].step);
    out->cta = ww_arena_array(arena, out->cta_count, sizeof *out->cta);
    for (size_t i = 0; i < out->cta_count; i++) {
        out->cta[i].index = i;
        make_cta(&m, &out->cta[i], path);
    }
}

static enum ww_code write_launch(struct ww_trace_writer *w, const struct ww_made_launch *l, uint64_t order,
                                 struct ww_error *error) {
    size_t n = l->cta_count, *at = malloc((n + 1) * sizeof *at);
    struct ww_rng rng;
    ww_rng_seed(&rng, order);
    for (size_t i = 0; i < n; i++) at[i] = i;
    for (size_t i = n; order && i > 1; i--) {
        size_t k = ww_rng_below(&rng, (uint32_t)i), t = at[i - 1];
        at[i - 1] = at[k];
        at[k] = t;
    }
    enum ww_code code = ww_trace_writer_launch(w, &l->launch, error);
    for (size_t i = 0; i < n && code == WW_OK; i++) code = ww_trace_writer_cta(w, &l->cta[at[i]], error);
    free(at);
    return code ? code : ww_trace_writer_end_launch(w, error);
}

enum ww_code ww_made_write(const char *path, const struct ww_made_launch *launch, size_t count, uint64_t order,
                           struct ww_error *error) {
    const struct ww_trace_meta meta = {"workload made_up", "n=1", NULL};
    struct ww_trace_writer *w;
    WW_TRY(ww_trace_writer_new(path, &meta, 0, &w, error));
    for (size_t i = 0; i < count; i++) {
        enum ww_code code = write_launch(w, &launch[i], order, error);
        if (code != WW_OK) {
            ww_trace_writer_abort(w);
            return code;
        }
    }
    return ww_trace_writer_finish(w, NULL, error);
}

unsigned ww_made_addresses(uint32_t mask, const struct ww_access *a, const uint64_t *pool, uint64_t *out) {
    unsigned n = 0;
    for (; mask; mask &= mask - 1, n++)
        out[n] = a->list != WW_AFFINE ? ww_listed(a, pool, n)
                                      : a->base + (uint64_t)(int64_t)a->stride * (uint64_t)__builtin_ctz(mask);
    return n;
}

static const char *compare_warp(const struct ww_launch *l, const struct ww_warp_stream *s,
                                const struct ww_warp_stream *e) {
    uint64_t x[32], y[32];
    uint32_t k = 0;
    if (s->step_count != e->step_count || s->access_count != e->access_count) return "counts differ";
    for (uint32_t i = 0; i < s->step_count; i++) {
        if (s->step[i].inst != e->step[i].inst) return "an instruction differs";
        if (s->step[i].mask != e->step[i].mask) return "a mask differs";
        if (!(l->inst[s->step[i].inst].flags & WW_INST_ACCESS)) continue;
        const struct ww_access *a = &s->access[k], *b = &e->access[k];
        k++;
        unsigned n = ww_made_addresses(s->step[i].mask, a, s->pool, x);
        ww_made_addresses(s->step[i].mask, b, e->pool, y);
        if (memcmp(x, y, n * sizeof *x) != 0) return "an address differs";
        bool same = n == 1 || (a->base == b->base && a->stride == b->stride); /* one lane has any stride */
        if (b->list == WW_AFFINE && (a->list != WW_AFFINE || !same)) return "an affine access changed its form";
    }
    return k == s->access_count ? NULL : "there are too many accesses";
}

const char *ww_made_compare(const struct ww_launch *launch, const struct ww_cta_trace *cta,
                            const struct ww_cta_trace *expected) {
    if (cta->index != expected->index || cta->warp_count != expected->warp_count) return "another CTA";
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        const char *why = compare_warp(launch, &cta->warp[w], &expected->warp[w]);
        if (why) return why;
    }
    return NULL;
}

static char directory[64];

const char *ww_made_path(struct ww_arena *arena, const char *name) {
    if (!directory[0]) {
        snprintf(directory, sizeof directory, "/tmp/ww-test-XXXXXX");
        if (!mkdtemp(directory)) abort();
    }
    return ww_arena_printf(arena, "%s/%s", directory, name);
}

void ww_made_clean(void) {
    DIR *d = directory[0] ? opendir(directory) : NULL;
    if (!d) return;
    for (const struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(directory);
    directory[0] = 0;
}

unsigned char *ww_made_read(struct ww_arena *arena, const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) abort();
    *n = (size_t)ftell(f);
    rewind(f);
    unsigned char *p = ww_arena_alloc(arena, *n + 1);
    if (!p || fread(p, 1, *n, f) != *n) abort();
    fclose(f);
    return p;
}

void ww_made_put(const char *path, const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f)) abort();
}
