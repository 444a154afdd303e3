/* test_bulk_copy.c: bulk copies, tensor maps and clusters against plain C, from PTX and from machine code. */
#include "bulk_fixture.h"
#include <math.h>

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

/* Nothing is read for a program: a range outside of all allocations is no error. */
static void a_prefetch_may_leave_the_allocation(void **state) {
    (void)state;
    fill_in();
    const struct job j = {
        .text = KERNEL("", FETCH("256") "@!%p0 bra END; add.u64 %rd1,%rd1,0x40000000;"
                                        "cp.async.bulk.prefetch.L2.global [%rd1],512;"
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
        cmocka_unit_test(a_prefetch_may_leave_the_allocation),
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
