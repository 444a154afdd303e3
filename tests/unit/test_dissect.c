/* Dissections of models: what is found is what the model was told to be, also when that is changed. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/study/dissect/dissect.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

static void dissect(struct ww_dissect *d, const char *gpu, unsigned parts, const char *const *set,
                    size_t count) {
    const struct ww_dissect_options o = {.gpu = gpu, .parts = parts, .overrides = set, .override_count = count};
    struct ww_error error;
    if (ww_dissect_run(&o, d, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

static const struct ww_dissect_cache *cache(const struct ww_dissect *d, const char *name) {
    for (size_t i = 0; i < d->cache_count; i++)
        if (strcmp(d->cache[i].name, name) == 0) return &d->cache[i];
    fail_msg("no %s", name);
    return NULL;
}

/* Kepler's caches, dissected once. */
static struct ww_dissect kepler;
static int start(void **state) {
    (void)state;
    dissect(&kepler, "gtx780", WW_DISSECT_CACHES, NULL, 0);
    return 0;
}
static int stop(void **state) {
    (void)state;
    ww_dissect_free(&kepler);
    return 0;
}

static void keplers_texture_cache_and_l2_are_found(void **state) {
    (void)state;
    const struct ww_dissect_cache *t = cache(&kepler, "texture");
    assert_false(cache(&kepler, "global loads")->cached);
    assert_true(t->cached);
    assert_int_equal(t->c.size, 12288);
    assert_int_equal(t->c.line, 32);
    assert_int_equal(t->c.sets, 4);
    assert_int_equal(t->c.kind[0].ways, 96);
    assert_int_equal(t->c.policy, WW_POLICY_LRU);
    assert_int_equal(t->c.set_bits, 0x180);
    assert_int_equal(kepler.l2.size, 1536 * 1024);
    assert_int_equal(kepler.l2.fill, 32);
}

/* Figure 5 of the paper: strides make the texture cache one set of many lines, sizes four sets of longer lines.
 */
static void the_classic_methods_contradict_each_other(void **state) {
    (void)state;
    assert_true(kepler.classic.measured);
    assert_int_equal(kepler.classic.by_saavedra.size, 12288);
    assert_int_equal(kepler.classic.by_wong.size, 12288);
    assert_int_equal(kepler.classic.by_saavedra.line, 32);
    assert_int_equal(kepler.classic.by_wong.line, 128);
    assert_int_equal(kepler.classic.by_wong.sets, 4);
    assert_int_not_equal(kepler.classic.by_saavedra.sets, 4);
}

/* What turns the TLBs on, and of what shape, is the test's. */
static const char *const with_tlb[] = {"tlb.enabled=true", "tlb.page_kb=2048",  "tlb.l1_entries=16",
                                       "tlb.l2_sets=7",    "tlb.l2_ways=8",     "tlb.l2_first_ways=17",
                                       "tlb.l2_cycles=11", "tlb.read_cycles=60"};

static void unequal_sets_of_a_models_tlb_are_found(void **state) {
    (void)state;
    struct ww_dissect d;
    dissect(&d, "gtx980", WW_DISSECT_TLB, with_tlb, sizeof with_tlb / sizeof with_tlb[0]);
    assert_int_equal(d.tlb_count, 2);
    assert_int_equal(d.tlb[0].c.size, 32ull << 20);
    assert_int_equal(d.tlb[0].c.line, 2ull << 20);
    assert_int_equal(d.tlb[0].c.sets, 1);
    assert_int_equal(d.tlb[1].c.size, 130ull << 20);
    assert_int_equal(d.tlb[1].c.kind_count, 2);
    assert_int_equal(d.tlb[1].c.kind[0].ways, 17);
    assert_int_equal(d.tlb[1].c.kind[1].sets, 6);
    assert_int_equal(d.tlb[1].c.kind[1].ways, 8);
    assert_int_equal(d.tlb[1].c.policy, WW_POLICY_LRU);
    ww_dissect_free(&d);
}

static void a_tlb_with_other_pages_and_sets_is_found_so(void **state) {
    (void)state;
    static const char *const other[] = {"tlb.enabled=true", "tlb.page_kb=1024",  "tlb.l1_entries=8",
                                        "tlb.l2_sets=4",    "tlb.l2_ways=8",     "tlb.l2_first_ways=0",
                                        "tlb.l2_cycles=11", "tlb.read_cycles=60"};
    struct ww_dissect d;
    dissect(&d, "gtx980", WW_DISSECT_TLB, other, sizeof other / sizeof other[0]);
    assert_int_equal(d.tlb_count, 2);
    assert_int_equal(d.tlb[0].c.line, 1ull << 20);
    assert_int_equal(d.tlb[0].c.size, 8ull << 20);
    assert_int_equal(d.tlb[1].c.size, 32ull << 20);
    assert_int_equal(d.tlb[1].c.kind_count, 1);
    assert_int_equal(d.tlb[1].c.sets, 4);
    ww_dissect_free(&d);
}

/* GT200's model has a few lines at the memory controllers, which many pages of one line each overflow. */
static void a_small_data_cache_is_not_taken_for_a_tlb(void **state) {
    (void)state;
    static const char *const off[] = {"tlb.enabled=false"};
    struct ww_dissect d;
    dissect(&d, "gtx280", WW_DISSECT_TLB, off, 1);
    assert_int_equal(d.tlb_count, 0);
    ww_dissect_free(&d);
}

/* The L2 of this one is indexed so that far pages crowd it. */
static void crowded_sets_of_a_data_cache_are_not_taken_for_a_tlb(void **state) {
    (void)state;
    struct ww_dissect d;
    dissect(&d, "gtx480-mascar", WW_DISSECT_TLB, NULL, 0);
    assert_int_equal(d.tlb_count, 0);
    ww_dissect_free(&d);
}

/* Behind its few lines rows of DRAM that are open and that are not differ, too. */
static void open_rows_of_dram_are_not_taken_for_a_tlb(void **state) {
    (void)state;
    struct ww_dissect d;
    dissect(&d, "elastic-16", WW_DISSECT_TLB, NULL, 0);
    assert_int_equal(d.tlb_count, 0);
    ww_dissect_free(&d);
}

static void shared_memory_is_chased_although_the_system_takes_some_of_it(void **state) {
    (void)state;
    struct ww_dissect d;
    static const char *const one[] = {"sm.count=1"};
    dissect(&d, "elastic-16", WW_DISSECT_SHARED, one, 1); /* 16 bytes of 16 KB */
    assert_true(d.shared.measured);
    ww_dissect_free(&d);
}

static void a_cache_too_small_for_the_pages_walk_shows_no_pattern_of_a_tlb(void **state) {
    (void)state;
    struct ww_dissect d;
    static const char *const gpu[] = {"gtx280", "elastic-16"};
    for (size_t i = 0; i < 2; i++) {
        dissect(&d, gpu[i], WW_DISSECT_LATENCY, NULL, 0);
        assert_true(isnan(d.pattern[0].p[1]) && isnan(d.pattern[0].p[2]));
        ww_dissect_free(&d);
    }
}

static void without_enough_shared_memory_nothing_is_said_of_it(void **state) {
    (void)state;
    struct ww_dissect d;
    static const char *const none[] = {"sm.shared_kb=0", "sm.shared_per_cta_kb=0", "sm.array_kb=0",
                                       "sm.count=1"};
    dissect(&d, "gtx560ti", WW_DISSECT_SHARED, none, 4);
    assert_false(d.shared.measured);
    ww_dissect_free(&d);
}

static void the_patterns_of_a_global_load_rise(void **state) {
    (void)state;
    struct ww_dissect d;
    dissect(&d, "gtx980", WW_DISSECT_LATENCY, with_tlb, sizeof with_tlb / sizeof with_tlb[0]);
    assert_int_equal(d.pattern_count, 2);
    const double *on = d.pattern[0].p, *off = d.pattern[1].p;
    for (int i = 1; i < 5; i++) assert_true(off[i] > off[i - 1] + 2);
    assert_true(on[0] < off[0]);
    assert_true(isnan(on[1]) && isnan(on[2])); /* a hit in this L1 needs no translation */
    ww_dissect_free(&d);
}

static void without_a_tlb_the_patterns_of_one_are_not_there(void **state) {
    (void)state;
    static const char *const off[] = {"tlb.enabled=false"};
    struct ww_dissect d;
    dissect(&d, "gtx780", WW_DISSECT_LATENCY, off, 1);
    assert_true(isnan(d.pattern[0].p[1]) && isnan(d.pattern[0].p[2]));
    assert_true(isnan(d.pattern[0].p[4]) && isnan(d.pattern[0].p[5]));
    assert_true(d.pattern[0].p[3] > 1.3 * d.pattern[0].p[0]);
    ww_dissect_free(&d);
}

static void keplers_modes_of_the_banks_differ_at_a_stride_of_6(void **state) {
    (void)state;
    struct ww_dissect d;
    static const char *const small[] = {"sm.count=1"};
    dissect(&d, "gtx780", WW_DISSECT_SHARED, small, 1);
    const struct ww_dissect_stride *s = d.shared.stride;
    assert_true(d.shared.modes);
    assert_true(s[1].cycles == s[0].cycles && s[1].cycles8 == s[0].cycles8);
    assert_true(s[3].cycles > s[0].cycles && s[3].cycles8 > s[0].cycles8);
    assert_true(s[5].cycles > s[0].cycles && s[5].cycles8 == s[0].cycles8);
    ww_dissect_free(&d);
}

static void texts_name_sizes_bits_and_sets(void **state) {
    (void)state;
    char text[128];
    ww_dissect_size_text(1536 << 10, text, sizeof text);
    assert_string_equal(text, "1536KB");
    ww_dissect_size_text(100, text, sizeof text);
    assert_string_equal(text, "100B");
    ww_dissect_bits_text(0xe80, text, sizeof text);
    assert_string_equal(text, "7,9-11");
    struct ww_infer_cache c = {.sets = 7, .kind = {{1, 17}, {6, 8}}, .kind_count = 2};
    ww_dissect_sets_text(&c, "entries", text, sizeof text);
    assert_string_equal(text, "1 set of 17 + 6 sets of 8 entries");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keplers_texture_cache_and_l2_are_found),
        cmocka_unit_test(the_classic_methods_contradict_each_other),
        cmocka_unit_test(unequal_sets_of_a_models_tlb_are_found),
        cmocka_unit_test(a_tlb_with_other_pages_and_sets_is_found_so),
        cmocka_unit_test(a_small_data_cache_is_not_taken_for_a_tlb),
        cmocka_unit_test(crowded_sets_of_a_data_cache_are_not_taken_for_a_tlb),
        cmocka_unit_test(open_rows_of_dram_are_not_taken_for_a_tlb),
        cmocka_unit_test(shared_memory_is_chased_although_the_system_takes_some_of_it),
        cmocka_unit_test(a_cache_too_small_for_the_pages_walk_shows_no_pattern_of_a_tlb),
        cmocka_unit_test(without_enough_shared_memory_nothing_is_said_of_it),
        cmocka_unit_test(the_patterns_of_a_global_load_rise),
        cmocka_unit_test(without_a_tlb_the_patterns_of_one_are_not_there),
        cmocka_unit_test(keplers_modes_of_the_banks_differ_at_a_stride_of_6),
        cmocka_unit_test(texts_name_sizes_bits_and_sets),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
