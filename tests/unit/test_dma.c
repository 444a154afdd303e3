/* The description of bulk transfers, and the kernels with intrinsics: their outputs equal the references that
 * the plain kernels' outputs equal. */
#include "../../estimator/warpwatt.h"
#include "../../traces/transform/copy.h"
#include "../../traces/dma.h"
#include "wwt_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct ww_arena arena;
static struct ww_error error;

/* Every field at the most that its bits hold. */
static struct ww_dma full(void) {
    return (struct ww_dma){.global = UINT64_MAX - 7,
                           .shared = 65528,
                           .rows = 256,
                           .columns = 256,
                           .stride = 65535,
                           .size = 8,
                           .halo_rows = 65535,
                           .halo_columns = 65535,
                           .constant = 65535,
                           .mode = WW_DMA_HALO,
                           .region = 9,
                           .buffer = 3,
                           .two = true};
}

static bool comes_back(const struct ww_dma *d) {
    uint64_t word[WW_DMA_WORDS];
    struct ww_dma back;
    ww_dma_pack(d, word);
    return ww_dma_unpack(word, &back) && back.global == d->global && back.shared == d->shared &&
           back.rows == d->rows && back.columns == d->columns && back.stride == d->stride &&
           back.size == d->size && back.halo_rows == d->halo_rows && back.halo_columns == d->halo_columns &&
           back.constant == d->constant && back.mode == d->mode && back.region == d->region &&
           back.buffer == d->buffer && back.two == d->two;
}

static void a_transfer_comes_back_from_its_words(void **state) {
    (void)state;
    struct ww_dma d = full();
    assert_true(comes_back(&d));
    d = (struct ww_dma){.rows = 1, .columns = 1, .stride = 1, .size = 1};
    assert_true(comes_back(&d));
    d.columns = 65535;
    assert_true(comes_back(&d));
}

static void a_table_entry_has_the_papers_bits(void **state) {
    (void)state;
    unsigned bits = 64 + 16 + 16 + 2 + 16 + 1 + 2 + 16 + 16 + 8 + 16;
    assert_int_equal(bits, WW_DMA_ENTRY_BITS);
    assert_int_equal(WW_DMA_ENTRY_BITS, 173);
    assert_int_equal(WW_DMA_BUFFERS * WW_DMA_ENTRY_BITS, 692);
}

static void what_the_table_cannot_hold_is_refused(void **state) {
    (void)state;
    struct ww_dma d = full();
    assert_null(ww_dma_check(&d));
    d.rows = 257;
    assert_non_null(ww_dma_check(&d));
    d = full();
    d.shared = 65536;
    assert_non_null(ww_dma_check(&d));
    d = full();
    d.region = 10;
    assert_non_null(ww_dma_check(&d));
    d = full();
    d.global = 12; /* no multiple of 8 */
    assert_non_null(ww_dma_check(&d));
    d = full();
    d.mode = WW_DMA_SPREAD;
    d.halo_rows = 0;
    assert_non_null(ww_dma_check(&d));
}

/* Data of 3 x 3 tiles of 4 x 5 elements; each tile with a halo of 2 rows and 1 column is laid out by the
 * engine's rules and by looking at each element. */
enum { H = 4, W = 5, HR = 2, HC = 1, DATA_H = 3 * H, DATA_W = 3 * W };

static void check_tile(unsigned tx, unsigned ty, uint8_t region) {
    struct ww_dma d = {.global = 4 * ((uint64_t)ty * H * DATA_W + tx * W) + 4096,
                       .rows = H,
                       .columns = W,
                       .stride = DATA_W,
                       .size = 4,
                       .two = true,
                       .mode = WW_DMA_HALO,
                       .halo_rows = HR,
                       .halo_columns = HC,
                       .region = region};
    assert_null(ww_dma_check(&d));
    assert_int_equal(ww_dma_rows(&d), H + 2 * HR);
    uint32_t k = 0;
    for (int r = 0; r < H + 2 * HR; r++) {
        struct ww_dma_row row = ww_dma_row(&d, (uint32_t)r);
        assert_int_equal(row.first, k);
        assert_int_equal(row.left + row.count + row.right, W + 2 * HC);
        for (int c = 0; c < W + 2 * HC; c++, k++) {
            int y = (int)ty * H + r - HR, x = (int)tx * W + c - HC;
            bool outside = y < 0 || y >= DATA_H || x < 0 || x >= DATA_W;
            bool constant = (uint32_t)c < row.left || (uint32_t)c >= row.left + row.count;
            assert_int_equal(constant, outside);
            if (!outside)
                assert_int_equal(row.global + 4 * (uint64_t)((uint32_t)c - row.left),
                                 4096 + 4 * (uint64_t)(y * DATA_W + x));
        }
    }
    assert_int_equal(ww_dma_bytes(&d), 4 * k);
}

static void each_of_the_nine_regions_holds_what_the_data_around_the_tile_are(void **state) {
    (void)state;
    static const uint8_t region[3][3] = {{1, 2, 3}, {8, 9, 4}, {7, 6, 5}};
    for (unsigned y = 0; y < 3; y++)
        for (unsigned x = 0; x < 3; x++) check_tile(x, y, region[y][x]);
}

static void spreading_leaves_an_element_free_behind_each_run(void **state) {
    (void)state;
    struct ww_dma d = {.rows = 16,
                       .columns = 32,
                       .stride = 64,
                       .size = 4,
                       .two = true,
                       .mode = WW_DMA_SPREAD,
                       .halo_rows = 32};
    for (uint32_t r = 0; r < 16; r++)
        for (uint32_t c = 0; c < 32; c++) assert_int_equal(ww_dma_place(&d, r * 32 + c), 4 * (r * 33 + c));
    assert_int_equal(ww_dma_bytes(&d), 4 * (16 * 33 - 1));
}

static const struct {
    const char *workload, *kernel;
} kernels[] = {{"d2_filter", "gauss"}, {"d2_filter", "mean"}, {"d2_filter", "sobel"}, {"d2_stream", "saxpy"},
               {"d2_stream", "sgemv"}, {"d2_stream", "path"}, {"d2_stream", "walsh"}, {"d2_stream", "haar"},
               {"d2_block", "dct"},    {"d2_block", "mm"},    {"d2_block", "trans1"}, {"d2_block", "trans2"},
               {"d2_block", "lud"}};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static const char *record(size_t k, const char *variant) {
    char kernel[64], way[64], name[64];
    const char *const parameter[] = {"size=small", kernel, way};
    struct ww_record_stats stats = {0};
    snprintf(kernel, sizeof kernel, "kernel=%s", kernels[k].kernel);
    snprintf(way, sizeof way, "variant=%s", variant);
    snprintf(name, sizeof name, "%s-%s.wwt", kernels[k].kernel, variant);
    const char *path = ww_made_path(&arena, name);
    struct ww_record_options o = {.out_path = path, .arch = "sm_20"};
    if (ww_record_workload(kernels[k].workload, parameter, 3, &o, &stats, &error) != WW_OK)
        fail_msg("%s %s: %s", kernels[k].kernel, variant, error.text);
    assert_true(stats.verified);
    return path;
}

static void kernels_with_bulk_transfers_give_the_plain_kernels_output(void **state) {
    (void)state;
    for (size_t k = 0; k < KERNELS; k++) {
        record(k, "plain");
        record(k, "dma");
    }
    record(3, "cudadma");
    record(4, "cudadma");
}

static void replays_obey_the_laws_whoever_starts_transfers(void **state) {
    (void)state;
    static const char *const mechanism[] = {"dma.start=first", "dma.start=last"};
    struct ww_gpu *gpu = NULL;
    assert_int_equal(ww_gpu_load("gtx480-d2ma", NULL, 0, &gpu, &error), WW_OK);
    for (size_t k = 0; k < KERNELS; k++) {
        const char *path = record(k, "dma");
        for (int m = 0; m < 2; m++) {
            struct ww_result *result = NULL;
            struct ww_run_options o = {
                .gpu = gpu, .trace_path = path, .mechanisms = &mechanism[m], .mechanism_count = 1};
            if (ww_run(&o, &result, &error) != WW_OK) fail_msg("%s: %s", kernels[k].kernel, error.text);
            uint64_t transfers = 0, hazards = 0;
            for (size_t i = 0; i < result->launch_count; i++) {
                transfers += result->launch[i].counter[WW_C_TRANSFER];
                hazards += result->launch[i].counter[WW_C_DMA_HAZARD];
            }
            assert_true(transfers > 0);
            if (m == 1) assert_int_equal(hazards, 0);
            ww_result_free(result);
        }
    }
    ww_gpu_free(gpu);
}

static void copies_are_found_in_plain_kernels_only(void **state) {
    (void)state;
    for (size_t k = 0; k < KERNELS; k++)
        for (int dma = 0; dma < 2; dma++) {
            struct ww_trace *trace = NULL;
            assert_int_equal(ww_trace_open(record(k, dma ? "dma" : "plain"), &trace, &error), WW_OK);
            unsigned found_in = 0;
            for (size_t i = 0; i < ww_trace_launch_count(trace); i++) {
                const struct ww_launch *l;
                const uint8_t *role;
                bool found = false;
                assert_int_equal(ww_trace_launch(trace, i, &l, &error), WW_OK);
                assert_int_equal(ww_copy_find(trace, i, 4, &arena, &role, &found, &error), WW_OK);
                bool other = strcmp(l->kernel, "d2_lud_perimeter") == 0; /* never has bulk transfers */
                found_in += found && !other;
            }
            if (dma)
                assert_int_equal(found_in, 0);
            else
                assert_true(found_in > 0);
            ww_trace_close(trace);
        }
}

static int set_up(void **state) {
    (void)state;
    ww_arena_init(&arena, 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ww_made_clean();
    ww_arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transfer_comes_back_from_its_words),
        cmocka_unit_test(a_table_entry_has_the_papers_bits),
        cmocka_unit_test(what_the_table_cannot_hold_is_refused),
        cmocka_unit_test(each_of_the_nine_regions_holds_what_the_data_around_the_tile_are),
        cmocka_unit_test(spreading_leaves_an_element_free_behind_each_run),
        cmocka_unit_test(kernels_with_bulk_transfers_give_the_plain_kernels_output),
        cmocka_unit_test(replays_obey_the_laws_whoever_starts_transfers),
        cmocka_unit_test(copies_are_found_in_plain_kernels_only),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
