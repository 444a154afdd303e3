/* test_bulk_copy.c: bulk copies, tensor maps and clusters against plain C, from PTX and from machine code. */
#include "exec_test.h"
#include "../../estimator/api/record.h"
#include "../../traces/mbarrier.h"
#include "../../traces/ptx/record/device_host.h"
#include "../../traces/sass/cubin/ptxas.h"
#include "../../traces/tensor_map.h"
#include <math.h>

#define HEAD ".version 8.1\n.target sm_90a\n.address_size 64\n"
/* Kernel k(out, in, map): %rd0 to %rd2; %r0 is the thread, %r1 the buffer's and %r2 the mbarrier's place. */
#define KERNEL(attributes, body)                                                                               \
    HEAD ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) " attributes                       \
         "\n{\n.reg .b64 %rd<16>; .reg .b32 %r<24>; .reg .b16 %h<4>; .reg .f32 %f<4>; .reg .pred %p<8>;\n"     \
         ".shared .align 1024 .b8 buf[8192]; .shared .align 8 .b64 bar;\n"                                     \
         "ld.param.u64 %rd0,[p0]; ld.param.u64 %rd1,[p1]; ld.param.u64 %rd2,[p2];\n"                           \
         "mov.u32 %r0,%tid.x; mov.u32 %r1,buf; mov.u32 %r2,bar; setp.eq.u32 %p0,%r0,0;\n" body "\nret;\n}\n"
/* Thread 0 makes an mbarrier of one arrival and does `start`, which expects `bytes`; all wait for its phase 0.
 */
#define AND_WAIT(bytes, start)                                                                                 \
    "@!%p0 bra READY; mbarrier.init.shared::cta.b64 [%r2],1; fence.mbarrier_init.release.cluster;\n"           \
    "fence.proxy.async.shared::cta; mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r2]," bytes ";\n" start      \
    "\nREADY: bar.sync 0;\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1,[%r2],0; @!%p1 bra WAIT;\n"
/* Words of the buffer go out: thread t moves words t, t + 32, ... of `words`. */
#define DUMP(words)                                                                                            \
    "mov.u32 %r20,%r0;\nMORE: setp.ge.u32 %p7,%r20," words "; @%p7 bra DONE; shl.b32 %r21,%r20,2;\n"           \
    "add.u32 %r22,%r1,%r21; ld.shared.u32 %r23,[%r22]; cvt.u64.u32 %rd14,%r21; add.u64 %rd15,%rd0,%rd14;\n"    \
    "st.global.u32 [%rd15],%r23; add.u32 %r20,%r20,32; bra MORE;\nDONE:\n"
/* The other way: words of in into the buffer. */
#define FETCH(words)                                                                                           \
    "mov.u32 %r20,%r0;\nFMORE: setp.ge.u32 %p7,%r20," words "; @%p7 bra FDONE; shl.b32 %r21,%r20,2;\n"         \
    "add.u32 %r22,%r1,%r21; cvt.u64.u32 %rd14,%r21; add.u64 %rd15,%rd1,%rd14; ld.global.u32 %r23,[%rd15];\n"   \
    "st.shared.u32 [%r22],%r23; add.u32 %r20,%r20,32; bra FMORE;\nFDONE: fence.proxy.async; bar.sync 0;\n"

struct job {
    const char *text;
    uint32_t ctas, threads;
    void *out;
    size_t out_bytes;
    const void *in;
    size_t in_bytes;
    const struct ww_tensor_map *map; /* whose global address is filled in: of `in`, or of `out` */
    bool map_of_out;
    void (*spoil)(unsigned char *map);
};

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
static void want_events_of(uint64_t cta, uint32_t own, uint32_t others) {
    uint32_t found = 0;
    for (uint32_t n = 0; n < phases.count; n++) {
        if (phases.of[n].cta != cta || !phases.of[n].waited) continue;
        assert_int_equal(phases.of[n].own_waited, own);
        assert_int_equal(phases.of[n].others_waited, others);
        found++;
    }
    assert_true(found);
}

static void want_events(uint32_t own, uint32_t others) {
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
static void both(const struct job *j, void (*want)(const void *out)) {
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

static void refused(const struct job *j, const char *part) {
    for (int code = WW_RECORD_PTX; code <= WW_RECORD_SASS; code++) {
        struct ww_error e = {0};
        if (code == WW_RECORD_AUTO || (code == WW_RECORD_SASS && !has_ptxas())) continue;
        assert_int_equal(run_code((enum ww_record_code)code, j, &e), WW_EXEC);
        if (!strstr(e.text, part)) fail_msg("'%s' does not say '%s'", e.text, part);
    }
}

static uint32_t in_words[4096];
static uint32_t out_words[4096];

static void fill_in(void) {
    for (uint32_t n = 0; n < 4096; n++) in_words[n] = n * 2654435761u;
    memset(out_words, 0, sizeof out_words);
}

/* ---- linear ---- */

static void want_copy(const void *out) {
    assert_memory_equal(out, in_words, 1024);
}

static void a_bulk_copy_fills_shared_memory_and_ends_the_phase(void **state) {
    (void)state;
    fill_in();
    const struct job j = {
        .text = KERNEL("", AND_WAIT("1024", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                                            "[%r1],[%rd1],1024,[%r2];") DUMP("256")),
        .ctas = 1,
        .threads = 32,
        .out = out_words,
        .out_bytes = 1024,
        .in = in_words,
        .in_bytes = 4096};
    both(&j, want_copy);
}

static void a_bulk_copy_stores_shared_memory(void **state) {
    (void)state;
    fill_in();
    const struct job j = {
        .text = KERNEL("", FETCH("256") "@!%p0 bra END; cp.async.bulk.prefetch.L2.global [%rd1],512;"
                                        "cp.async.bulk.global.shared::cta.bulk_group [%rd0],[%r1],1024;"
                                        "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; END:"),
        .ctas = 1,
        .threads = 32,
        .out = out_words,
        .out_bytes = 1024,
        .in = in_words,
        .in_bytes = 4096};
    both(&j, want_copy);
}

static float float_in[64], float_out[64];

static void want_sums(const void *out) {
    const float *f = out;
    for (int n = 0; n < 64; n++) assert_true(f[n] == (float)n + 0.5f * (float)n);
}

static void want_minima(const void *out) {
    const int32_t *v = out;
    for (int n = 0; n < 64; n++) assert_int_equal(v[n], n % 2 ? -n : -1000);
}

static void a_bulk_reduction_adds_and_takes_minima(void **state) {
    (void)state;
    struct job j = {
        .text = KERNEL(
            "", FETCH("64") "@!%p0 bra END;"
                            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd0],[%r1],256;"
                            "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:"),
        .ctas = 1,
        .threads = 32,
        .out = float_out,
        .out_bytes = 256,
        .in = float_in,
        .in_bytes = 256};
    for (int n = 0; n < 64; n++) {
        float_in[n] = 0.5f * (float)n;
        float_out[n] = (float)n;
    }
    both(&j, want_sums);
    static int32_t a[64], b[64];
    for (int n = 0; n < 64; n++) {
        a[n] = -n;
        b[n] = n % 2 ? 5 : -1000;
    }
    j.text =
        KERNEL("", FETCH("64") "@!%p0 bra END;"
                               "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%rd0],[%r1],256;"
                               "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:");
    j.in = a;
    j.out = b;
    both(&j, want_minima);
}

/* ---- tensors ---- */

#define WIDTH 100
#define HEIGHT 20
static uint16_t plane[HEIGHT][104];

/* A box of 64 x 16 of 16-bit elements, at column -8 and row 10, swizzled over 128 bytes. */
static void want_tile(const void *out) {
    const unsigned char *got = out;
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 64; column++) {
            int x = column - 8, y = row + 10;
            uint16_t expect = x < 0 || y >= HEIGHT ? 0 : plane[y][x], v;
            unsigned at = (unsigned)(row * 128 + column * 2);
            at ^= (at >> 7 & 7) << 4;
            memcpy(&v, got + at, 2);
            if (v != expect) fail_msg("row %d column %d: %u, expected %u", row, column, v, expect);
        }
}

static void a_tensor_copy_swizzles_and_fills_what_lies_outside(void **state) {
    (void)state;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < 104; x++) plane[y][x] = (uint16_t)(1 + y * 256 + x);
    const struct ww_tensor_map map = {.type = WW_TENSOR_U16,
                                      .rank = 2,
                                      .swizzle = WW_SWIZZLE_128,
                                      .dim = {WIDTH, HEIGHT},
                                      .stride = {2, sizeof plane[0]},
                                      .box = {64, 16},
                                      .step = {1, 1}};
    const struct job j = {
        .text =
            KERNEL("", "prefetch.tensormap [%rd2];" AND_WAIT(
                           "2048", "mov.u32 %r5,-8; mov.u32 %r6,10;"
                                   "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                                   "bytes [%r1],[%rd2,{%r5,%r6}],[%r2];") DUMP("512")),
        .ctas = 1,
        .threads = 32,
        .out = out_words,
        .out_bytes = 2048,
        .in = plane,
        .in_bytes = sizeof plane,
        .map = &map};
    both(&j, want_tile);
}

/* As CUTLASS has them: a dimension of one element and stride 0 for a batch that there is not. */
static void a_dimension_may_have_stride_0(void **state) {
    (void)state;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < 104; x++) plane[y][x] = (uint16_t)(1 + y * 256 + x);
    const struct ww_tensor_map map = {.type = WW_TENSOR_U16,
                                      .rank = 3,
                                      .swizzle = WW_SWIZZLE_128,
                                      .dim = {WIDTH, HEIGHT, 1},
                                      .stride = {2, sizeof plane[0], 0},
                                      .box = {64, 16, 1},
                                      .step = {1, 1, 1}};
    const struct job j = {
        .text =
            KERNEL("", AND_WAIT("2048", "mov.u32 %r5,-8; mov.u32 %r6,10; mov.u32 %r7,0;"
                                        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::"
                                        "complete_tx::bytes [%r1],[%rd2,{%r5,%r6,%r7}],[%r2];") DUMP("512")),
        .ctas = 1,
        .threads = 32,
        .out = out_words,
        .out_bytes = 2048,
        .in = plane,
        .in_bytes = sizeof plane,
        .map = &map};
    both(&j, want_tile);
}

static float volume[4][6][8];

/* Every second element of dimensions 1 and 2; NaN outside. */
static void want_steps(const void *out) {
    const float *got = out;
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 8; x++) {
                int fx = x + 4, fy = 2 * y + 1, fz = 2 * z + 3;
                float v = got[(z * 3 + y) * 8 + x];
                bool outside = fx >= 8 || fy >= 6 || fz >= 4;
                if (outside ? !isnan(v) : v != volume[fz][fy][fx])
                    fail_msg("element %d %d %d: %g", x, y, z, (double)v);
            }
}

static void element_strides_skip_and_floats_are_filled_with_nan(void **state) {
    (void)state;
    for (int n = 0; n < 192; n++) ((float *)volume)[n] = (float)n;
    const struct ww_tensor_map map = {.type = WW_TENSOR_F32,
                                      .rank = 3,
                                      .fill_nan = true,
                                      .dim = {8, 6, 4},
                                      .stride = {4, 32, 192},
                                      .box = {8, 6, 4},
                                      .step = {1, 2, 2}};
    const struct job j = {
        .text = KERNEL(
            "", AND_WAIT("192", "mov.u32 %r5,4; mov.u32 %r6,1; mov.u32 %r7,3;"
                                "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::"
                                "bytes [%r1],[%rd2,{%r5,%r6,%r7}],[%r2];") DUMP("48")),
        .ctas = 1,
        .threads = 32,
        .out = out_words,
        .out_bytes = 192,
        .in = volume,
        .in_bytes = sizeof volume,
        .map = &map};
    both(&j, want_steps);
}

static uint32_t images[2][5][6][8]; /* N, H, W, C */

/* The 3 x 3 filter's column for offsets (2, 1) of a convolution with padding 1: pixels from (w 2, h -1, n 0)
 * on. */
static void want_pixels(const void *out) {
    const uint32_t *got = out;
    int w = 2, h = -1, n = 0;
    for (int p = 0; p < 40; p++) {
        int x = w + 2, y = h + 1;
        for (int c = 0; c < 4; c++) {
            bool inside = x >= 0 && x < 6 && y >= 0 && y < 5 && n < 2;
            uint32_t expect = inside ? images[n][y][x][4 + c] : 0;
            if (got[p * 4 + c] != expect)
                fail_msg("pixel %d channel %d: %u, expected %u", p, c, got[p * 4 + c], expect);
        }
        if (++w > 4) { /* the last filter position: 6 - 1 + upper corner (-1) */
            w = -1;
            if (++h > 3) {
                h = -1;
                n++;
            }
        }
    }
}

static void im2col_walks_over_the_box_of_pixels(void **state) {
    (void)state;
    for (uint32_t n = 0; n < 480; n++) ((uint32_t *)images)[n] = n + 1;
    const struct ww_tensor_map map = {.type = WW_TENSOR_U32,
                                      .rank = 4,
                                      .im2col = true,
                                      .dim = {8, 6, 5, 2},
                                      .stride = {4, 32, 192, 960},
                                      .box = {1, 1, 1, 1},
                                      .step = {1, 1, 1, 1},
                                      .lower = {-1, -1},
                                      .upper = {-1, -1},
                                      .channels = 4,
                                      .pixels = 40};
    const struct job j = {
        .text = KERNEL(
            "", AND_WAIT("640", "mov.u32 %r5,4; mov.u32 %r6,2; mov.u32 %r7,-1; mov.u32 %r8,0; mov.b16 %h1,2;"
                                "mov.b16 %h2,1; cp.async.bulk.tensor.4d.shared::cluster.global.im2col."
                                "mbarrier::complete_tx::bytes [%r1],[%rd2,{%r5,%r6,%r7,%r8}],[%r2],"
                                "{%h1,%h2};") DUMP("160")),
        .ctas = 1,
        .threads = 32,
        .out = out_words,
        .out_bytes = 640,
        .in = images,
        .in_bytes = sizeof images,
        .map = &map};
    both(&j, want_pixels);
}

static void want_stored(const void *out) {
    const uint32_t *got = out; /* 16 x 8 of 32-bit elements; the box of 8 x 4 lies at (12, 6) */
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 16; x++) {
            bool inside = x >= 12 && y >= 6;
            uint32_t expect = 1000 + (inside ? 2 * in_words[(y - 6) * 8 + x - 12] : 0);
            if (got[y * 16 + x] != expect)
                fail_msg("element %d %d: %u, expected %u", x, y, got[y * 16 + x], expect);
        }
}

static void tensor_reductions_leave_what_lies_outside(void **state) {
    (void)state;
    fill_in();
    for (int n = 0; n < 128; n++) out_words[n] = 1000;
    const struct ww_tensor_map map = {
        .type = WW_TENSOR_U32, .rank = 2, .dim = {16, 8}, .stride = {4, 64}, .box = {8, 4}, .step = {1, 1}};
#define ADD_TILE "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd2,{%r5,%r6}],[%r1];"
    const struct job j = {
        .text = KERNEL("", FETCH("32") "@!%p0 bra END; mov.u32 %r5,12; mov.u32 %r6,6;" ADD_TILE ADD_TILE
                                       "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:"),
        .ctas = 1,
        .threads = 32,
        .out = out_words,
        .out_bytes = 512,
        .in = in_words,
        .in_bytes = 4096,
        .map = &map,
        .map_of_out = true};
    both(&j, want_stored);
}

/* ---- clusters ---- */

#define PAIR ".explicitcluster .reqnctapercluster 2,1,1"
#define RANK "mov.u32 %r3,%cluster_ctarank; xor.b32 %r4,%r3,1;"
#define CLUSTER_SYNC "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
/* Each thread stores %r10 at word (CTA, thread) of out. */
#define RESULT                                                                                                 \
    "mov.u32 %r11,%ctaid.x; mov.u32 %r12,%ntid.x; mad.lo.u32 %r11,%r11,%r12,%r0; mul.wide.u32 %rd9,%r11,4;"    \
    "add.u64 %rd9,%rd0,%rd9; st.global.u32 [%rd9],%r10;"

static void want_exchange(const void *out) {
    const uint32_t *got = out;
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t cta = n / 64, peer = cta ^ 1;
        assert_int_equal(got[n], peer * 1000 + n % 64 + 7);
    }
}

static void ctas_of_a_cluster_read_each_others_shared_memory(void **state) {
    (void)state;
    const struct job j = {
        .text = KERNEL(PAIR, RANK "mov.u32 %r5,%ctaid.x; mad.lo.u32 %r5,%r5,1000,%r0; shl.b32 %r6,%r0,2;"
                                  "add.u32 %r7,%r1,%r6; mapa.shared::cluster.u32 %r8,%r7,%r4;" CLUSTER_SYNC
                                  "st.shared::cluster.u32 [%r8],%r5;" CLUSTER_SYNC
                                  "atom.shared::cluster.add.u32 %r9,[%r8],7;" CLUSTER_SYNC
                                  "ld.shared.u32 %r10,[%r7];" RESULT),
        .ctas = 4,
        .threads = 64,
        .out = out_words,
        .out_bytes = 1024};
    both(&j, want_exchange);
}

static void want_multicast(const void *out) {
    const uint32_t *got = out;
    for (uint32_t n = 0; n < 128; n++) assert_int_equal(got[n], in_words[n % 64]);
}

/* CTA 0 copies for both; each waits at its own mbarrier. */
static void a_multicast_copy_ends_the_phases_of_all_its_ctas(void **state) {
    (void)state;
    fill_in();
    const struct job j = {
        .text = KERNEL(
            PAIR,
            RANK "@!%p0 bra READY; mbarrier.init.shared::cta.b64 [%r2],1; fence.mbarrier_init.release.cluster;"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r2],256; READY:" CLUSTER_SYNC
                 "setp.eq.u32 %p2,%r3,0; and.pred %p2,%p2,%p0; mov.b16 %h1,3; @!%p2 bra WAIT;"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%r1],[%rd1],256,[%r2],%h1;"
                 "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1,[%r2],0; @!%p1 bra WAIT;"
                 "shl.b32 %r6,%r0,2; add.u32 %r7,%r1,%r6; ld.shared.u32 %r10,[%r7];" CLUSTER_SYNC RESULT),
        .ctas = 2,
        .threads = 64,
        .out = out_words,
        .out_bytes = 512,
        .in = in_words,
        .in_bytes = 1024};
    both(&j, want_multicast);
    want_events_of(1, 1, 1);
    want_events_of(0, 2, 0);
}

static void want_async(const void *out) {
    const uint32_t *got = out;
    for (uint32_t n = 0; n < 64; n++) assert_int_equal(got[n], 500 + (n / 32 ^ 1) * 100 + n % 32 + 3);
}

/* Stores and reductions into the other CTA complete bytes of its mbarrier, at which it waits. */
static void asynchronous_stores_complete_the_mbarrier_of_the_other_cta(void **state) {
    (void)state;
    const struct job j = {
        .text = KERNEL(
            PAIR,
            RANK "@!%p0 bra READY; mbarrier.init.shared::cta.b64 [%r2],2; fence.mbarrier_init.release.cluster;"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r2],256; READY:" CLUSTER_SYNC
                 "shl.b32 %r6,%r0,2; add.u32 %r7,%r1,%r6; mapa.shared::cluster.u32 %r8,%r7,%r4;"
                 "mapa.shared::cluster.u32 %r9,%r2,%r4; mad.lo.u32 %r5,%r3,100,%r0; add.u32 %r5,%r5,500;"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8],%r5,[%r9];"
                 "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r8],3,[%r9];"
                 "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _,[%r9];"
                 "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1,[%r2],0; @!%p1 bra WAIT;"
                 "ld.shared.u32 %r10,[%r7];" CLUSTER_SYNC RESULT),
        .ctas = 2,
        .threads = 32,
        .out = out_words,
        .out_bytes = 256};
    both(&j, want_async);
    want_events(1, 65); /* 32 of stores, 32 of reductions, one arrival */
}

static void want_copied(const void *out) {
    const uint32_t *got = out;
    for (uint32_t n = 0; n < 64; n++) assert_int_equal(got[n], 700 + (n / 32 ^ 1) * 100 + n % 32);
}

/* 128 bytes of each CTA go to the other one's, 2 KB further on. */
static void a_bulk_copy_within_the_cluster_ends_the_phase_of_the_other_cta(void **state) {
    (void)state;
    const struct job j = {
        .text = KERNEL(
            PAIR,
            RANK "@!%p0 bra READY; mbarrier.init.shared::cta.b64 [%r2],1; fence.mbarrier_init.release.cluster;"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r2],128; READY:"
                 "shl.b32 %r6,%r0,2; add.u32 %r7,%r1,%r6; mad.lo.u32 %r5,%r3,100,%r0; add.u32 %r5,%r5,700;"
                 "st.shared.u32 [%r7],%r5; fence.proxy.async; add.u32 %r8,%r1,2048;"
                 "mapa.shared::cluster.u32 %r8,%r8,%r4; mapa.shared::cluster.u32 %r9,%r2,%r4;" CLUSTER_SYNC
                 "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                 "[%r8],[%r1],128,[%r9];"
                 "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1,[%r2],0; @!%p1 bra WAIT;"
                 "ld.shared.u32 %r10,[%r7+2048];" CLUSTER_SYNC RESULT),
        .ctas = 2,
        .threads = 32,
        .out = out_words,
        .out_bytes = 256};
    both(&j, want_copied);
    want_events(1, 1);
}

static void want_own(const void *out) {
    const uint32_t *got = out;
    for (uint32_t n = 0; n < 64; n++) assert_int_equal(got[n], 7);
}

/* Its own bytes are events of the CTA itself, not of another one. */
static void asynchronous_stores_may_go_to_the_cta_itself(void **state) {
    (void)state;
    const struct job j = {
        .text = KERNEL(
            PAIR,
            RANK "@!%p0 bra READY; mbarrier.init.shared::cta.b64 [%r2],1; fence.mbarrier_init.release.cluster;"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r2],128; READY:" CLUSTER_SYNC
                 "shl.b32 %r6,%r0,2; add.u32 %r7,%r1,%r6; mapa.shared::cluster.u32 %r8,%r7,%r3;"
                 "mapa.shared::cluster.u32 %r9,%r2,%r3; mov.u32 %r5,7;"
                 "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8],%r5,[%r9];"
                 "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1,[%r2],0; @!%p1 bra WAIT;"
                 "ld.shared.u32 %r10,[%r7];" CLUSTER_SYNC RESULT),
        .ctas = 2,
        .threads = 32,
        .out = out_words,
        .out_bytes = 256};
    both(&j, want_own);
    want_events(33, 0); /* and the arrival that expects the bytes */
}

static void want_registers(const void *out) {
    const uint32_t *got = out;
    for (uint32_t cta = 0; cta < 8; cta++) {
        assert_int_equal(got[4 * cta], cta % 2);     /* rank */
        assert_int_equal(got[4 * cta + 1], 2);       /* ranks */
        assert_int_equal(got[4 * cta + 2], cta / 2); /* cluster */
        assert_int_equal(got[4 * cta + 3], 4);       /* clusters */
    }
}

static void special_registers_tell_of_the_cluster(void **state) {
    (void)state;
    const struct job j = {
        .text = KERNEL(PAIR, "mov.u32 %r3,%ctaid.x; mul.wide.u32 %rd9,%r3,16; add.u64 %rd9,%rd0,%rd9;"
                             "mov.u32 %r4,%cluster_ctarank; mov.u32 %r5,%cluster_nctarank;"
                             "mov.u32 %r6,%clusterid.x; mov.u32 %r7,%nclusterid.x;"
                             "st.global.v4.u32 [%rd9],{%r4,%r5,%r6,%r7};"),
        .ctas = 8,
        .threads = 1,
        .out = out_words,
        .out_bytes = 128};
    both(&j, want_registers);
}

/* ---- hostile ---- */

static const struct ww_tensor_map small = {
    .type = WW_TENSOR_U32, .rank = 2, .dim = {16, 8}, .stride = {4, 64}, .box = {8, 4}, .step = {1, 1}};
#define LOAD_SMALL                                                                                             \
    KERNEL("",                                                                                                 \
           "mov.u32 %r5,0; " AND_WAIT("128", "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"  \
                                             "complete_tx::bytes [%r1],[%rd2,{%r5,%r5}],[%r2];"))

static void change_a_byte(unsigned char *map) {
    map[30] ^= 1;
}

static void all_ones(unsigned char *map) {
    memset(map, 255, WW_TENSOR_MAP_BYTES);
}

static void hostile_tensor_maps_end_in_an_error(void **state) {
    (void)state;
    struct job j = {.text = LOAD_SMALL,
                    .ctas = 1,
                    .threads = 32,
                    .out = out_words,
                    .out_bytes = 512,
                    .in = in_words,
                    .in_bytes = 512,
                    .map = &small,
                    .spoil = change_a_byte};
    refused(&j, "its bytes have been changed");
    j.spoil = all_ones;
    refused(&j, "not written by cuTensorMapEncodeTiled");
    struct ww_tensor_map far = small;
    far.dim[1] = 4000; /* rows that nobody has allocated */
    far.stride[1] = 1 << 20;
    j.spoil = NULL;
    j.map = &far;
    refused(&j, "out-of-bounds load");
}

static void bad_bulk_copies_end_in_an_error(void **state) {
    (void)state;
    struct job j = {
        .text = KERNEL("", AND_WAIT("16", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                                          "[%r1],[%rd1],16384,[%r2];")),
        .ctas = 1,
        .threads = 32,
        .out = out_words,
        .out_bytes = 512,
        .in = in_words,
        .in_bytes = sizeof in_words};
    refused(&j, "out-of-bounds store of 16384 bytes");
    j.text = KERNEL(
        "", AND_WAIT("16", "add.u64 %rd1,%rd1,8; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                           "bytes [%r1],[%rd1],16,[%r2];"));
    refused(&j, "its global address is a multiple of 16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bulk_copy_fills_shared_memory_and_ends_the_phase),
        cmocka_unit_test(a_bulk_copy_stores_shared_memory),
        cmocka_unit_test(a_bulk_reduction_adds_and_takes_minima),
        cmocka_unit_test(a_tensor_copy_swizzles_and_fills_what_lies_outside),
        cmocka_unit_test(a_dimension_may_have_stride_0),
        cmocka_unit_test(element_strides_skip_and_floats_are_filled_with_nan),
        cmocka_unit_test(im2col_walks_over_the_box_of_pixels),
        cmocka_unit_test(tensor_reductions_leave_what_lies_outside),
        cmocka_unit_test(ctas_of_a_cluster_read_each_others_shared_memory),
        cmocka_unit_test(a_multicast_copy_ends_the_phases_of_all_its_ctas),
        cmocka_unit_test(asynchronous_stores_complete_the_mbarrier_of_the_other_cta),
        cmocka_unit_test(a_bulk_copy_within_the_cluster_ends_the_phase_of_the_other_cta),
        cmocka_unit_test(asynchronous_stores_may_go_to_the_cta_itself),
        cmocka_unit_test(special_registers_tell_of_the_cluster),
        cmocka_unit_test(hostile_tensor_maps_end_in_an_error),
        cmocka_unit_test(bad_bulk_copies_end_in_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
