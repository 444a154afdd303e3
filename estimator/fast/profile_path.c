/* The critical path of a CTA as a function of latencies. */
#include "profile_path.h"
#include "profile_walk.h"
#include <stdlib.h>
#include <string.h>

#define WARPS 64

struct ww_path_latency ww_path_point(unsigned k) {
    static const double machine[3][WW_PATH_COUNT] = {
        /* issue, branch, int, imul, fp32, fp16, fp64, sfu, tensor, control, shared, pass, update, const */
        {1, 8, 4, 5, 4, 6, 8, 10, 12, 4, 20, 1, 4, 27},
        {1, 8, 6, 13, 6, 6, 48, 20, 32, 6, 28, 2, 4, 25},
        {2, 18, 22, 22, 22, 22, 24, 40, 32, 22, 50, 37, 22, 22},
    };
    static const double memory[WW_PATH_PLANES / 3] = {40, 160, 450, 1500};
    struct ww_path_latency l;
    memcpy(l.of, machine[k % 3], sizeof l.of);
    l.of[WW_PATH_MEMORY] = memory[k / 3];
    l.of[WW_PATH_LINE] = 1;
    l.of[WW_PATH_BARRIER] = k % 3 == 2 ? 64 : 20;
    return l;
}

/* A point in time and the steps of the longest path to it. */
struct moment {
    double at;
    uint32_t steps[WW_PATH_COUNT];
};

/* When a register is there: `more` steps of a class (and of a second one) behind a moment. */
struct result {
    struct moment from;
    double at;
    uint8_t class, class2;
    uint32_t more2;
};

struct warp {
    struct ww_walk walk;
    struct moment now;   /* issue of its last instruction */
    struct result last;  /* memory operation whose reply comes last */
    uint32_t redirected; /* steps to the next issue are of a branch */
    bool waits, ended;
};

struct ww_path {
    const struct ww_launch *launch;
    uint8_t *class;       /* of each instruction's result */
    struct result *board; /* WW_REG_COUNT + 1 of a warp: the last one is of asynchronous copies */
    struct warp warp[WARPS];
};

static enum ww_path_class class_of(const struct ww_inst *in) {
    static const uint8_t of_pipe[WW_PIPE_COUNT] = {
        [WW_PIPE_NONE] = WW_PATH_CONTROL, [WW_PIPE_INT] = WW_PATH_INT,       [WW_PIPE_IMUL] = WW_PATH_IMUL,
        [WW_PIPE_FP32] = WW_PATH_FP32,    [WW_PIPE_FP16] = WW_PATH_FP16,     [WW_PIPE_FP64] = WW_PATH_FP64,
        [WW_PIPE_SFU] = WW_PATH_SFU,      [WW_PIPE_TENSOR] = WW_PATH_TENSOR, [WW_PIPE_BRANCH] = WW_PATH_CONTROL,
        [WW_PIPE_MEM] = WW_PATH_MEMORY};
    if (in->op == WW_OP_SHUFFLE) return WW_PATH_SHARED;
    if (in->space == WW_SPACE_SHARED && in->op != WW_OP_ASYNC_COPY) return WW_PATH_SHARED;
    if (in->space == WW_SPACE_CONST) return WW_PATH_CONST;
    return (enum ww_path_class)of_pipe[ww_op_pipe((enum ww_op)in->op)];
}

struct ww_path *ww_path_new(const struct ww_launch *launch) {
    struct ww_path *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->launch = launch;
    p->class = malloc(launch->inst_count + 1u);
    p->board = malloc((size_t)WARPS * (WW_REG_COUNT + 1) * sizeof *p->board);
    if (!p->class || !p->board) {
        ww_path_free(p);
        return NULL;
    }
    for (uint32_t i = 0; i < launch->inst_count; i++) p->class[i] = (uint8_t)class_of(&launch->inst[i]);
    return p;
}

void ww_path_free(struct ww_path *path) {
    if (!path) return;
    free(path->class);
    free(path->board);
    free(path);
}

static void wait_for(struct warp *w, const struct result *r) {
    if (r->at <= w->now.at) return;
    w->now = r->from;
    w->now.at = r->at;
    w->now.steps[r->class]++;
    w->now.steps[r->class2] += r->more2;
}

static void wait_for_operand(const struct ww_path *p, struct warp *w, const struct ww_operand *o) {
    const struct result *board = &p->board[(w - p->warp) * (WW_REG_COUNT + 1)];
    for (uint32_t r = o->reg; r < o->reg + (uint32_t)o->n && r < WW_REG_COUNT; r++) wait_for(w, &board[r]);
}

/* What the access adds to its class: lines, or passes. */
static void measure(const struct ww_walk *walk, const struct ww_inst *in, const struct ww_access *a,
                    uint32_t mask, struct result *r) {
    struct ww_walk_line line[WW_WALK_LINES];
    r->class2 = WW_PATH_ISSUE;
    r->more2 = 0;
    if (!a || !mask) return;
    if (in->space == WW_SPACE_SHARED) {
        bool atomic = in->op == WW_OP_ATOMIC || in->op == WW_OP_REDUCE;
        uint32_t updates = 1, passes = ww_walk_passes(walk->stream, in, a, mask, atomic ? &updates : NULL);
        r->class2 = atomic ? WW_PATH_UPDATE : WW_PATH_PASS;
        r->more2 = atomic ? updates : passes - 1;
    } else if (ww_walk_kind(in) != WW_WALK_NONE) {
        unsigned lines = ww_walk_lines(walk, in, a, mask, line);
        r->class2 = WW_PATH_LINE;
        r->more2 = lines > 1 ? lines - 1 : 0;
    }
}

static void finish_result(struct result *r, const struct warp *w, uint8_t class,
                          const struct ww_path_latency *l) {
    r->from = w->now;
    r->class = class;
    r->at = w->now.at + l->of[class] + (double)r->more2 * l->of[r->class2];
}

static void set_results(const struct ww_path *p, const struct warp *w, const struct ww_inst *in,
                        const struct result *r) {
    struct result *board = &p->board[(w - p->warp) * (WW_REG_COUNT + 1)];
    for (uint32_t d = 0; d < in->dst_count; d++)
        for (uint32_t k = in->dst[d].reg; k < in->dst[d].reg + (uint32_t)in->dst[d].n && k < WW_REG_COUNT; k++)
            board[k] = *r;
    if (in->op == WW_OP_ASYNC_COPY) board[WW_REG_COUNT] = *r;
}

static void advance(struct warp *w, const struct ww_path_latency *l) {
    enum ww_path_class c = w->redirected ? WW_PATH_BRANCH : WW_PATH_ISSUE;
    w->now.at += l->of[c];
    w->now.steps[c]++;
    w->redirected = 0;
}

/* One instruction. */
static void step(struct ww_path *p, struct warp *w, const struct ww_path_latency *l) {
    const struct ww_step *s = &w->walk.stream->step[w->walk.step++];
    const struct ww_inst *in = &p->launch->inst[s->inst];
    const struct ww_access *a = in->flags & WW_INST_ACCESS ? &w->walk.stream->access[w->walk.access++] : NULL;
    struct result r;
    advance(w, l);
    for (uint32_t i = 0; i < in->src_count; i++) wait_for_operand(p, w, &in->src[i]);
    for (uint32_t i = 0; i < in->dst_count; i++) wait_for_operand(p, w, &in->dst[i]);
    if (in->op == WW_OP_FENCE) wait_for(w, &w->last);
    if (in->op == WW_OP_ASYNC_WAIT) wait_for(w, &p->board[(w - p->warp) * (WW_REG_COUNT + 1) + WW_REG_COUNT]);
    w->redirected = in->op == WW_OP_BRANCH;
    w->waits = in->op == WW_OP_BARRIER && !(in->flags & WW_INST_BAR_ARRIVE);
    bool memory = p->class[s->inst] == WW_PATH_MEMORY || p->class[s->inst] == WW_PATH_SHARED;
    if (in->dst_count == 0 && !memory) return;
    if (s->mask == 0 && memory) return;
    measure(&w->walk, in, a, s->mask, &r);
    finish_result(&r, w, p->class[s->inst], l);
    set_results(p, w, in, &r);
    if (p->class[s->inst] == WW_PATH_MEMORY && r.at > w->last.at) w->last = r;
}

static void run_warp(struct ww_path *p, struct warp *w, const struct ww_path_latency *l) {
    while (w->walk.step < w->walk.stream->step_count && !w->waits) step(p, w, l);
    w->ended = w->walk.step >= w->walk.stream->step_count && !w->waits;
}

/* All warps that have not ended wait: the last one opens the barrier. False: all have ended. */
static bool open_barrier(struct ww_path *p, uint32_t warps, const struct ww_path_latency *l) {
    const struct warp *last = NULL;
    for (uint32_t i = 0; i < warps; i++)
        if (!p->warp[i].ended && (!last || p->warp[i].now.at > last->now.at)) last = &p->warp[i];
    if (!last) return false;
    struct moment opens = last->now;
    opens.at += l->of[WW_PATH_BARRIER];
    opens.steps[WW_PATH_BARRIER]++;
    for (uint32_t i = 0; i < warps; i++)
        if (!p->warp[i].ended) {
            p->warp[i].now = opens;
            p->warp[i].waits = false;
        }
    return true;
}

double ww_path_longest(struct ww_path *path, const struct ww_cta_trace *cta,
                       const struct ww_path_latency *latency, double steps[WW_PATH_COUNT]) {
    uint32_t warps = cta->warp_count < WARPS ? cta->warp_count : WARPS;
    struct moment end = {0};
    memset(path->board, 0, (size_t)warps * (WW_REG_COUNT + 1) * sizeof *path->board);
    for (uint32_t i = 0; i < warps; i++)
        path->warp[i] = (struct warp){.walk = {.stream = &cta->warp[i], .id = i}};
    do {
        for (uint32_t i = 0; i < warps; i++) run_warp(path, &path->warp[i], latency);
    } while (open_barrier(path, warps, latency));
    for (uint32_t i = 0; i < warps; i++) {
        struct warp *w = &path->warp[i];
        wait_for(w, &w->last); /* a CTA ends when its loads have their data */
        if (w->now.at > end.at) end = w->now;
    }
    for (int c = 0; c < WW_PATH_COUNT; c++) steps[c] = (double)end.steps[c];
    return end.at;
}
