/* The SM's caches of the GPUs that come with the program, as a fine-grained pointer chase finds them: a black
 * box whose only output is the latency of each access (X. Mei, X. Chu, Dissecting GPU Memory Hierarchy through
 * Microbenchmarking, sections 4.2 to 4.5). */
#include "../../estimator/warpwatt.h"
#include "../../estimator/run/micro_bench.h"
#include "../../traces/micro/micro.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define BASE (64ull << 20)

static struct ww_error error;

static void ok(enum ww_code code) {
    if (code != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

struct walk {
    size_t count; /* accesses after the first pass */
    uint64_t *address;
    uint32_t *latency; /* SM cycles */
    uint32_t again;    /* of the last address a second time: the shortest */
};

static void walk_free(struct walk *w) {
    free(w->address);
    free(w->latency);
}

/* A GPU with overrides between spaces, or NULL. */
static struct ww_gpu *gpu_of(const char *name, const char *sets) {
    char text[160];
    const char *set[4];
    size_t count = 0;
    struct ww_gpu *gpu;
    snprintf(text, sizeof text, "%s", sets ? sets : "");
    for (char *s = strtok(text, " "); s; s = strtok(NULL, " ")) set[count++] = s;
    ok(ww_gpu_load(name, set, count, &gpu, &error));
    return gpu;
}

/* Latencies of `passes` passes over `bytes` in steps of `stride`, after one that warms. */
static struct walk walk(const char *gpu_name, const char *sets, enum ww_micro_path path, uint64_t bytes,
                        uint64_t stride, uint32_t passes) {
    size_t lines = ww_micro_walk(BASE, bytes, stride, 1, NULL), all = lines * (passes + 1);
    struct walk w = {.count = lines * passes};
    struct ww_gpu *gpu = gpu_of(gpu_name, sets);
    struct ww_bench *bench;
    struct ww_micro *micro;
    struct ww_bench_result r;
    w.address = malloc((all + 1) * sizeof *w.address);
    w.latency = malloc(all * sizeof *w.latency);
    assert_true(w.address && w.latency);
    ww_micro_walk(BASE, bytes, stride, passes + 1, w.address);
    w.address[all] = w.address[all - 1];
    struct ww_micro_chase chase = {path, w.address, all + 1, 0};
    ok(ww_bench_new(gpu, 7, &bench, &error));
    ok(ww_micro_chase(&chase, &micro, &error));
    ok(ww_bench_run(bench, micro, all + 2, &r, &error));
    assert_int_equal(r.sample_count, all + 2);
    for (size_t i = 0; i < w.count; i++) {
        size_t at = i + lines;
        w.latency[i] = (uint32_t)(r.sample[at + 1].cycle - r.sample[at].cycle);
    }
    w.again = (uint32_t)(r.sample[all + 1].cycle - r.sample[all].cycle);
    memmove(w.address, w.address + lines, w.count * sizeof *w.address);
    ww_micro_free(micro);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
    return w;
}

/* Longer by half than an access that hits: it went to the L2. */
static bool missed(const struct walk *w, size_t i) {
    return w->latency[i] > w->again + w->again / 2;
}

static size_t misses(const struct walk *w) {
    size_t n = 0;
    for (size_t i = 0; i < w->count; i++) n += missed(w, i);
    return n;
}

/* Misses per pass over an array; all passes must have the same number of them. */
static size_t misses_a_pass(const char *gpu, const char *set, enum ww_micro_path path, uint64_t bytes,
                            uint64_t stride) {
    struct walk w = walk(gpu, set, path, bytes, stride, 2);
    size_t half = w.count / 2, n = 0;
    for (size_t i = 0; i < half; i++) {
        assert_int_equal(missed(&w, i), missed(&w, i + half));
        n += missed(&w, i);
    }
    walk_free(&w);
    return n;
}

/* ---- Fermi's L1 ---- */

static uint32_t data_line(uint64_t address) {
    return (uint32_t)((address - BASE) >> 7) + 1; /* counted from 1, as in figure 11 */
}

static void fermis_l1_holds_16_kib_and_its_lines_are_128_bytes(void **state) {
    (void)state;
    struct walk w = walk("gtx560ti", NULL, WW_MICRO_GLOBAL, 16 << 10, 4, 1);
    assert_int_equal(misses(&w), 0);
    assert_int_equal(w.again, 96);
    walk_free(&w);
    /* 16 bytes of a line more: one access of four a miss, as the others find the line there */
    w = walk("gtx560ti", NULL, WW_MICRO_GLOBAL, (16 << 10) + 16, 4, 20);
    for (size_t i = 1; i < w.count; i++)
        if (missed(&w, i)) assert_int_equal(w.address[i] & 127, 0);
    assert_true(misses(&w) > 0);
    walk_free(&w);
}

/* Figure 11: line 129 competes with four lines, one of each group of 32. */
static void of_129_lines_fermi_misses_3_35_68_100_and_129_alone(void **state) {
    (void)state;
    struct walk w = walk("gtx560ti", NULL, WW_MICRO_GLOBAL, 129 * 128, 128, 60);
    const uint32_t measured[] = {3, 35, 68, 100, 129};
    uint32_t count[130] = {0}, hits_129 = 0, others = 0;
    for (size_t i = 0; i < w.count; i++) {
        if (missed(&w, i)) count[data_line(w.address[i])]++;
        if (!missed(&w, i) && data_line(w.address[i]) == 129) hits_129++;
    }
    for (int i = 0; i < 5; i++) assert_true(count[measured[i]] > 0);
    for (uint32_t l = 1; l < 130; l++) others += count[l];
    for (int i = 0; i < 5; i++) others -= count[measured[i]];
    assert_int_equal(others, 0);
    assert_true(hits_129 > 0); /* it is sometimes a hit: not LRU */
    walk_free(&w);
}

/* All but one of the five lines are resident, so what a miss drives out is what is missed next, and it takes
 * its way. Lines 3, 35, 68 and 100 began in ways 1 to 4. */
static void fermis_ways_are_replaced_with_1_3_1_and_1_sixths(void **state) {
    (void)state;
    struct walk w = walk("gtx560ti", NULL, WW_MICRO_GLOBAL, 129 * 128, 128, 3000);
    uint32_t way_of[130] = {[3] = 0, [35] = 1, [68] = 2, [100] = 3, [129] = 9};
    uint32_t replaced[4] = {0}, drawn = 0, before = 129;
    for (size_t i = 0; i < w.count; i++) {
        uint32_t line = data_line(w.address[i]);
        if (!missed(&w, i)) continue;
        uint32_t way = way_of[line];
        assert_true(way < 4);
        replaced[way]++;
        drawn++;
        way_of[before] = way;
        before = line;
    }
    const double p[] = {1 / 6.0, 1 / 2.0, 1 / 6.0, 1 / 6.0};
    assert_true(drawn > 4000);
    for (int i = 0; i < 4; i++) {
        double off = replaced[i] - drawn * p[i];
        print_message("way %d: %.3f\n", i + 1, (double)replaced[i] / drawn);
        assert_true(off * off <= 25 * drawn * p[i] * (1 - p[i]));
    }
    walk_free(&w);
}

static void with_48_kib_384_lines_fit_fermis_l1(void **state) {
    (void)state;
    const char *large = "l1.size_kb=48 sm.shared_kb=16 sm.shared_per_cta_kb=16";
    struct walk w = walk("gtx560ti", large, WW_MICRO_GLOBAL, 48 << 10, 128, 2);
    assert_int_equal(misses(&w), 0);
    walk_free(&w);
    w = walk("gtx560ti", large, WW_MICRO_GLOBAL, (48 << 10) + 128, 128, 40);
    assert_true(misses(&w) > 0);
    walk_free(&w);
}

/* ---- texture and read-only caches ---- */

static void four_sets_of_96_lines(const char *gpu, enum ww_micro_path path) {
    assert_int_equal(misses_a_pass(gpu, NULL, path, 12 << 10, 32), 0);
    assert_int_equal(misses_a_pass(gpu, NULL, path, (12 << 10) + 32, 32), 97);
    assert_int_equal(misses_a_pass(gpu, NULL, path, (12 << 10) + 128, 32), 100);
    assert_int_equal(misses_a_pass(gpu, NULL, path, (12 << 10) + 256, 32), 200);
    assert_int_equal(misses_a_pass(gpu, NULL, path, (12 << 10) + 384, 32), 300);
    assert_int_equal(misses_a_pass(gpu, NULL, path, (12 << 10) + 512, 32), 400);
}

static void the_texture_cache_of_fermi_and_kepler_is_4_sets_of_96_lines_of_32_bytes(void **state) {
    (void)state;
    four_sets_of_96_lines("gtx560ti", WW_MICRO_TEXTURE);
    four_sets_of_96_lines("gtx780", WW_MICRO_TEXTURE);
}

static void keplers_read_only_cache_is_as_its_texture_cache(void **state) {
    (void)state;
    four_sets_of_96_lines("gtx780", WW_MICRO_READ_ONLY);
}

static void a_word_more_than_the_texture_cache_misses_once_in_32_bytes(void **state) {
    (void)state;
    assert_int_equal(misses_a_pass("gtx780", NULL, WW_MICRO_TEXTURE, (12 << 10) + 4, 4), 97);
    assert_int_equal(misses_a_pass("gtx780", NULL, WW_MICRO_TEXTURE, (12 << 10) + 32, 4), 97);
    assert_int_equal(misses_a_pass("gtx780", NULL, WW_MICRO_TEXTURE, (12 << 10) + 36, 4), 98);
}

/* Figure 5: with an array of 48 KiB the classic stride sweep sees misses up to a stride of 64 bytes and none
 * from 128 on, as of lines of 128 bytes; the array-size sweep has a plateau per 128 bytes, as of 4 ways. */
static void the_classic_methods_contradict_each_other_on_the_texture_cache(void **state) {
    (void)state;
    assert_int_equal(misses_a_pass("gtx780", NULL, WW_MICRO_TEXTURE, 48 << 10, 32), 1536);
    assert_int_equal(misses_a_pass("gtx780", NULL, WW_MICRO_TEXTURE, 48 << 10, 64), 768);
    for (uint64_t stride = 128; stride <= 2048; stride *= 2)
        assert_int_equal(misses_a_pass("gtx780", NULL, WW_MICRO_TEXTURE, 48 << 10, stride), 0);
    for (uint64_t more = 128; more <= 512; more += 128) {
        size_t at_end = misses_a_pass("gtx780", NULL, WW_MICRO_TEXTURE, (12 << 10) + more, 32);
        size_t at_start = misses_a_pass("gtx780", NULL, WW_MICRO_TEXTURE, (12 << 10) + more - 96, 32);
        assert_int_equal(at_end, 100 * (more / 128));
        assert_int_equal(at_start, at_end - 3);
    }
}

static void gt200s_texture_cache_holds_8_kib(void **state) {
    (void)state;
    assert_int_equal(misses_a_pass("gtx280", NULL, WW_MICRO_TEXTURE, 8 << 10, 32), 0);
    assert_int_equal(misses_a_pass("gtx280", NULL, WW_MICRO_TEXTURE, (8 << 10) + 32, 32), 65);
}

static void keplers_plain_loads_are_not_cached_in_the_sm(void **state) {
    (void)state;
    struct walk w = walk("gtx780", NULL, WW_MICRO_GLOBAL, 1024, 128, 2);
    assert_in_range(w.again, 196, 200);
    walk_free(&w);
}

/* ---- Maxwell's unified L1 ---- */

static void maxwells_l1_is_4_sets_of_192_lines_for_textures_and_data(void **state) {
    (void)state;
    const enum ww_micro_path paths[] = {WW_MICRO_TEXTURE, WW_MICRO_READ_ONLY, WW_MICRO_GLOBAL};
    for (int i = 0; i < 3; i++) {
        const char *on = paths[i] == WW_MICRO_GLOBAL ? "l1.global_loads=true" : NULL;
        assert_int_equal(misses_a_pass("gtx980", on, paths[i], 24 << 10, 32), 0);
        assert_int_equal(misses_a_pass("gtx980", on, paths[i], (24 << 10) + 32, 32), 193);
        assert_int_equal(misses_a_pass("gtx980", on, paths[i], (24 << 10) + 512, 32), 784);
    }
}

static void maxwells_plain_loads_hit_the_l1_only_when_it_is_turned_on(void **state) {
    (void)state;
    struct walk w = walk("gtx980", NULL, WW_MICRO_GLOBAL, 1024, 128, 2);
    assert_in_range(w.again, 212, 216);
    walk_free(&w);
    w = walk("gtx980", "l1.global_loads=true", WW_MICRO_GLOBAL, 1024, 128, 2);
    assert_int_equal(w.again, 82);
    walk_free(&w);
}

/* ---- the L1 of Volta and Ampere ---- */

static double mean_cycles(const char *gpu, uint64_t bytes) {
    struct walk w = walk(gpu, NULL, WW_MICRO_GLOBAL, bytes, 128, 1);
    double sum = 0;
    for (size_t i = 0; i < w.count; i++) sum += w.latency[i];
    sum /= (double)w.count;
    walk_free(&w);
    return sum;
}

/* The plateaus, and between which sizes (in units of 1000 bytes, as measured) the mean passes their middle. */
static void knee(const char *gpu, double inside, double outside, double measured_kb) {
    double fits = 0;
    for (double kb = 60; kb < 300; kb += 5)
        if (mean_cycles(gpu, (uint64_t)(kb * 1000) & ~127ull) < (inside + outside) / 2) fits = kb + 2.5;
    print_message("%s: %.1f kB, measured %.1f\n", gpu, fits, measured_kb);
    assert_true(fits > 0.85 * measured_kb && fits < 1.15 * measured_kb);
    double in = mean_cycles(gpu, 64000), out = mean_cycles(gpu, 400000);
    assert_true(in > 0.9 * inside && in < 1.1 * inside);
    assert_true(out > 0.9 * outside && out < 1.1 * outside);
}

/* gpu-benches' random chases; their rise from one plateau to the other is more gradual than LRU's. */
static void the_l1_of_volta_and_ampere_ends_where_it_was_measured(void **state) {
    (void)state;
    knee("v100", 28.2, 212, 137);
    knee("a100", 33.4, 205, 175);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fermis_l1_holds_16_kib_and_its_lines_are_128_bytes),
        cmocka_unit_test(of_129_lines_fermi_misses_3_35_68_100_and_129_alone),
        cmocka_unit_test(fermis_ways_are_replaced_with_1_3_1_and_1_sixths),
        cmocka_unit_test(with_48_kib_384_lines_fit_fermis_l1),
        cmocka_unit_test(the_texture_cache_of_fermi_and_kepler_is_4_sets_of_96_lines_of_32_bytes),
        cmocka_unit_test(keplers_read_only_cache_is_as_its_texture_cache),
        cmocka_unit_test(a_word_more_than_the_texture_cache_misses_once_in_32_bytes),
        cmocka_unit_test(the_classic_methods_contradict_each_other_on_the_texture_cache),
        cmocka_unit_test(gt200s_texture_cache_holds_8_kib),
        cmocka_unit_test(keplers_plain_loads_are_not_cached_in_the_sm),
        cmocka_unit_test(maxwells_l1_is_4_sets_of_192_lines_for_textures_and_data),
        cmocka_unit_test(maxwells_plain_loads_hit_the_l1_only_when_it_is_turned_on),
        cmocka_unit_test(the_l1_of_volta_and_ampere_ends_where_it_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
