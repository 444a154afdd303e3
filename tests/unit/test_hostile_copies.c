/* test_hostile_copies.c: misuse of mbarriers, tensor maps, bulk copies and clusters ends in an error that says
 * what is wrong, from PTX and from machine code. */
#include "bulk_fixture.h"

/* Thread 0 alone. */
#define ALONE(body) KERNEL("", "@!%p0 bra END;\n" body "\nEND:")
#define INIT(count) "mbarrier.init.shared::cta.b64 [%r2]," count ";\n"
#define EXPECT(bytes) "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2]," bytes ";\n"
#define COMPLETE(bytes) "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2]," bytes ";\n"
#define ARRIVE "mbarrier.arrive.shared::cta.b64 _,[%r2];\n"
#define WAIT_FOREVER "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p1,[%r2],0; @!%p1 bra AGAIN;\n"
#define LOAD(bytes)                                                                                            \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],[%rd1]," bytes ",[%r2];"
#define TENSOR                                                                                                 \
    "mov.u32 %r4,0; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "         \
    "[%r1],[%rd2,{%r4,%r4}],[%r2];"
#define PREFETCH(dims, list)                                                                                   \
    "mov.u32 %r4,0; cp.async.bulk.prefetch.tensor." dims ".L2.global.tile [%rd2,{" list "}];"
/* Two CTAs; %r3 is the rank. */
#define PAIR(body) KERNEL(".reqnctapercluster 2,1,1", "mov.u32 %r3,%cluster_ctarank;\n" body "\nEND:")
#define SYNC "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
#define OF_RANK(rank)                                                                                          \
    "mov.u32 %r4," rank "; mapa.shared::cluster.u32 %r5,%r1,%r4; mapa.shared::cluster.u32 %r6,%r2,%r4;\n"
/* CTA 1 exits; CTA 0 goes on when that has surely happened. */
#define ONE_EXITS                                                                                              \
    "setp.eq.u32 %p2,%r3,1; @%p2 bra END; mov.u32 %r10,0;\n"                                                   \
    "LOOP: add.u32 %r10,%r10,1; bar.sync 0; setp.lt.u32 %p3,%r10,20000; @%p3 bra LOOP;\n" OF_RANK("1")
#define MULTICAST(mask)                                                                                        \
    PAIR("@!%p0 bra END; " INIT("1") "mov.b16 %h0," mask "; cp.async.bulk.shared::cluster.global.mbarrier::"   \
                                     "complete_tx::bytes.multicast::cluster [%r1],[%rd1],16,[%r2],%h0;")

struct misuse {
    const char *text, *ptx, *sass; /* what the errors say; NULL: none is expected there */
};

static const struct ww_tensor_map small = {
    .type = WW_TENSOR_U32, .rank = 2, .dim = {8, 4}, .stride = {4, 32}, .box = {8, 4}, .step = {1, 1}};

static void check(const struct misuse *m, size_t count, uint32_t ctas) {
    for (size_t n = 0; n < count; n++) {
        struct job j = {.text = m[n].text,
                        .ctas = ctas,
                        .threads = 32,
                        .out = out_words,
                        .out_bytes = 512,
                        .in = in_words,
                        .in_bytes = 512,
                        .map = &small};
        if (m[n].ptx) refused_as(WW_RECORD_PTX, &j, m[n].ptx);
        if (m[n].sass) refused_as(WW_RECORD_SASS, &j, m[n].sass);
    }
}
#define CHECK(list, ctas) check(list, sizeof list / sizeof *list, ctas)
#define BOTH(text) text, text

static void counts_of_an_mbarrier_have_limits(void **state) {
    (void)state;
    static const struct misuse list[] = {
        {ALONE(INIT("0")), "mbarrier.init of 0 arrivals", NULL},
        {ALONE(INIT("1048576")), "mbarrier.init of 1048576 arrivals: expected 1 to 1048575", NULL},
        {ALONE(INIT("0") ARRIVE), "mbarrier.init of 0", "1 arrivals with 0 pending"},
        {ALONE(INIT("1") EXPECT("1048576")), BOTH("0 bytes to come and 1048576 more")},
        {ALONE(INIT("1") EXPECT("1048575") COMPLETE("1") EXPECT("1") EXPECT("16")),
         "1048575 bytes to come and 16 more", "expected at most 1048575 either way"},
        {ALONE(INIT("1") COMPLETE("1048575") COMPLETE("1")), BOTH("-1048575 bytes to come and -1 more")},
        {ALONE(ARRIVE), BOTH("1 arrivals with 0 pending: has it been initialised?")},
        {ALONE("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r2],16;"), BOTH("1 arrivals with 0 pending")},
        {ALONE("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2];"), BOTH("1 arrivals with 0 pending")},
        {ALONE(INIT("2") "mbarrier.arrive.shared::cta.b64 _,[%r2],3;"), BOTH("3 arrivals with 2 pending")},
        {ALONE(INIT("2") "mbarrier.arrive_drop.shared::cta.b64 _,[%r2],3;"), BOTH("3 arrivals with 2 pending")},
        {ALONE("add.u32 %r2,%r2,4;" INIT("1")), BOTH("misaligned shared store of 8 bytes")},
        {ALONE("add.u32 %r2,%r2,0x100000;" INIT("1")), BOTH("out-of-bounds store of 8 bytes")},
    };
    CHECK(list, 1);
}

static void a_phase_that_nobody_ends_names_its_mbarrier(void **state) {
    (void)state;
    static const struct misuse list[] = {
        {KERNEL("", AND_WAIT("16", "")),
         BOTH("of CTA 0 of its cluster, which lacks 0 of 1 arrivals and 16 bytes")},
        {ALONE(INIT("2") ARRIVE WAIT_FOREVER), BOTH("which lacks 1 of 2 arrivals and 0 bytes")},
        {KERNEL("", AND_WAIT("16", "mov.u32 %r5,0;" LOAD("%r5"))), BOTH("lacks 0 of 1 arrivals and 16 bytes")},
        {KERNEL("", AND_WAIT("32", LOAD("16"))), BOTH("lacks 0 of 1 arrivals and 16 bytes")},
    };
    CHECK(list, 1);
}

static void bad_bulk_copies_are_refused(void **state) {
    (void)state;
    static const struct misuse list[] = {
        {KERNEL("", AND_WAIT("16", "add.u32 %r2,%r2,4;" LOAD("16"))), BOTH("misaligned mbarrier of 8 bytes")},
        {KERNEL("", AND_WAIT("16", "add.u32 %r2,%r2,8;" LOAD("16"))),
         BOTH("out-of-bounds mbarrier of 8 bytes")},
        {KERNEL("", AND_WAIT("16", "mov.u32 %r5,8;" LOAD("%r5"))), "its size is a multiple of 16 bytes", NULL},
        {KERNEL("", AND_WAIT("16", "mov.u32 %r5,0xfffffff0;" LOAD("%r5"))), BOTH("larger than shared memory")},
        {KERNEL("", AND_WAIT("16", "mov.u64 %rd1,0xfffffffffffffff0;" LOAD("32"))),
         BOTH("out-of-bounds load of 32 bytes at 0xfffffffffffffff0")},
        {ALONE("add.u64 %rd0,%rd0,0x40000000; cp.async.bulk.global.shared::cta.bulk_group [%rd0],[%r1],64;"),
         BOTH("out-of-bounds store of 64 bytes")},
        {ALONE("mov.u64 %rd2,0;" PREFETCH("2d", "%r4,%r4")), BOTH("tensor map at 0x0: it is NULL")},
        {ALONE("add.u64 %rd2,%rd2,16;" PREFETCH("2d", "%r4,%r4")), BOTH("its address is a multiple of 64")},
        {ALONE(PREFETCH("3d", "%r4,%r4,%r4")), BOTH("the instruction has other dimensions")},
        {KERNEL("", AND_WAIT("128", "add.u32 %r1,%r1,16;" TENSOR)),
         BOTH("its shared address is a multiple of 128")},
        {KERNEL("", AND_WAIT("128", "add.u32 %r1,%r1,8192;" TENSOR)), BOTH("out-of-bounds store of 16 bytes")},
    };
    CHECK(list, 1);
}

static void accesses_to_ctas_that_are_not_there_are_refused(void **state) {
    (void)state;
    static const struct misuse list[] = {
        {PAIR(OF_RANK("5") "st.shared::cluster.u32 [%r5],%r4;" SYNC), "to CTA 5 of a cluster of 2",
         "shared memory of CTA 5 of a cluster of 2"},
        {PAIR(OF_RANK("1") "add.u32 %r5,%r5,0x10000; st.shared::cluster.u32 [%r5],%r4;" SYNC),
         BOTH("shared memory of CTA 1 of a cluster of 2")},
        {PAIR(ONE_EXITS "st.shared::cluster.u32 [%r5],%r4;"), BOTH("CTA 1 of its cluster, which has exited")},
        {PAIR(ONE_EXITS "ld.shared::cluster.u32 %r7,[%r5]; st.global.u32 [%rd0],%r7;"),
         BOTH("CTA 1 of its cluster, which has exited")},
        {PAIR(ONE_EXITS "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5],%r4,[%r6];"),
         BOTH("CTA 1 of its cluster, which has exited")},
        {PAIR(ONE_EXITS "mbarrier.arrive.release.cluster.shared::cluster.b64 _,[%r6];"),
         BOTH("CTA 1 of its cluster, which has exited")},
        {PAIR(ONE_EXITS INIT("1") "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                                  "[%r5],[%r1],16,[%r6];"),
         BOTH("CTA 1 of its cluster has exited")},
        {MULTICAST("6"), BOTH("bulk copy to CTAs 0x6 of a cluster of 2")},
        {MULTICAST("0"), BOTH("bulk copy: the mask of CTAs that get it is 0")},
    };
    CHECK(list, 2);
}

static void a_cluster_that_does_not_meet_says_who_has_come(void **state) {
    (void)state;
    static const struct misuse list[] = {
        {PAIR("barrier.cluster.wait;"), BOTH("0 of 64 live threads of the cluster have arrived")},
        {PAIR("setp.eq.u32 %p2,%r3,1; @%p2 bra OTHER;" SYNC "bra END;\nOTHER: " INIT("1") WAIT_FOREVER),
         BOTH("of CTA 1 of its cluster, which lacks 1 of 1 arrivals")},
        {PAIR("setp.eq.u32 %p2,%r3,1; @%p2 bra OTHER;" SYNC "bra END;\nOTHER: bar.sync 0,64;"),
         BOTH("32 of 64 live threads of the cluster have arrived")},
        {PAIR("barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;"),
         "arrive twice without a wait", "UCGABAR_ARV twice without a UCGABAR_WAIT"},
    };
    CHECK(list, 2);
}

static void clusters_must_divide_the_grid(void **state) {
    (void)state;
    static const struct misuse three[] = {{PAIR(SYNC), BOTH("expected a multiple of clusters of 2x1x1")}};
    static const struct misuse large[] = {
        {KERNEL(".reqnctapercluster 32,1,1", SYNC), BOTH("clusters of 32 CTAs: expected at most 16")}};
    CHECK(three, 3);
    CHECK(large, 32);
}

/* ---- maps that no copy should see ---- */

static struct ww_tensor_map map; /* a good one, of 3 dimensions, to be spoilt */

static void expect_map(const char *why) {
    const char *said = ww_tensor_map_check(&map);
    if (!why != !said || (why && !strstr(said, why)))
        fail_msg("'%s' in place of '%s'", said ? said : "good", why);
    map = (struct ww_tensor_map){.global = 1 << 20,
                                 .type = WW_TENSOR_F16,
                                 .rank = 3,
                                 .dim = {64, 64, 64},
                                 .stride = {2, 128, 8192},
                                 .box = {32, 32, 4},
                                 .step = {1, 1, 1},
                                 .channels = 32,
                                 .pixels = 8};
}

static void tensor_maps_are_checked_field_by_field(void **state) {
    (void)state;
    memset(&map, 0, sizeof map);
    expect_map("the rank is 1 to 5");
    expect_map(NULL);
#define SPOIL(field, value, why)                                                                               \
    map.field = value;                                                                                         \
    expect_map(why)
    SPOIL(rank, 0, "the rank is 1 to 5");
    SPOIL(rank, 6, "the rank is 1 to 5");
    SPOIL(type, WW_TENSOR_TYPES, "the data type");
    SPOIL(global, 8, "the global address is a multiple of 16");
    SPOIL(dim[1], 0, "a dimension has 1 to 2^32 elements");
    SPOIL(dim[2], (uint64_t)1 << 33, "a dimension has 1 to 2^32 elements");
    SPOIL(stride[1], 24, "a stride is a multiple of 16 below 2^40");
    SPOIL(stride[2], (uint64_t)1 << 40, "a stride is a multiple of 16 below 2^40");
    SPOIL(step[1], 0, "an element stride is 1 to 8");
    SPOIL(step[2], 9, "an element stride is 1 to 8");
    SPOIL(box[0], 0, "1 to 256 elements");
    SPOIL(box[1], 257, "1 to 256 elements");
    SPOIL(box[0], 4, "a row of the box is a multiple of 16 bytes");
    SPOIL(box[2], 256, "larger than shared memory");
    SPOIL(swizzle, 4, "this swizzle mode is not supported");
    SPOIL(swizzle, WW_SWIZZLE_32, "longer than the swizzle");
    SPOIL(interleave, 1, "interleaved layouts are not supported");
    SPOIL(global, UINT64_MAX - 15, "ends behind the address space");
    map.dim[2] = (uint64_t)1 << 32;
    SPOIL(stride[2], ((uint64_t)1 << 40) - 16, "ends behind the address space");
    map.type = WW_TENSOR_S32;
    SPOIL(fill_nan, true, "integers cannot be filled with NaN");
    map.rank = 2;
    SPOIL(im2col, true, "im2col takes 3 to 5 dimensions");
    map.channels = 257;
    SPOIL(im2col, true, "1 to 256 channels");
    map.pixels = 0;
    SPOIL(im2col, true, "1 to 1024 pixels");
    map.upper[0] = -64;
    SPOIL(im2col, true, "the box of pixels is empty");
    map.lower[0] = -32769;
    SPOIL(im2col, true, "outside of its range");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_of_an_mbarrier_have_limits),
                                       cmocka_unit_test(a_phase_that_nobody_ends_names_its_mbarrier),
                                       cmocka_unit_test(bad_bulk_copies_are_refused),
                                       cmocka_unit_test(accesses_to_ctas_that_are_not_there_are_refused),
                                       cmocka_unit_test(a_cluster_that_does_not_meet_says_who_has_come),
                                       cmocka_unit_test(clusters_must_divide_the_grid),
                                       cmocka_unit_test(tensor_maps_are_checked_field_by_field)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
