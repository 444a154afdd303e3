/* What chases measure of the L2s of the GPU models that come with the source. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../../estimator/warpwatt.h"
#include "estimator/base/rng.h"
#include "memsys_fixture.h"
#include <stdlib.h>

static struct rig *start_model(const char *name) {
    struct ww_gpu *gpu = NULL;
    struct ww_error error;
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    if (ww_gpu_load(name, NULL, 0, &gpu, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    rig->spec = gpu->spec;
    ww_gpu_free(gpu);
    rig_start(rig);
    return rig;
}

static void stop_model(struct rig *rig) {
    rig_stop(rig);
    free(rig);
}

/* One load of 32 bytes by a lone warp of SM 0, the SM's part of the latency after the last; in ps from the SM's
 * port and back. */
static uint64_t load(struct rig *rig, uint64_t address) {
    uint32_t line = ww_gpu_request_line(&rig->spec);
    struct ww_mem_request r = {.address = address & ~(uint64_t)(line - 1),
                               .sectors = 1u << (address % line / 32),
                               .kind = WW_MEM_READ,
                               .needs_reply = 1,
                               .fine = 1};
    uint64_t in_sm = (uint64_t)(rig->spec.l1_latency * 1e6 / rig->spec.clock_sm_mhz);
    uint64_t from = ww_queue_now(rig->queue) + in_sm;
    rig->replies = 0;
    assert_true(ww_memsys_send(rig->memory, &r, from));
    while (!rig->replies) assert_true(ww_queue_step(rig->queue));
    return rig->log[0].ps - from;
}

/* One pass over an array in steps of `step` bytes; how many loads were served by DRAM. */
static uint32_t pass(struct rig *rig, uint64_t bytes, uint32_t step) {
    uint32_t slow = 0;
    for (uint64_t at = 0; at < bytes; at += step) {
        load(rig, at);
        slow += rig->log[0].reply.level == WW_LEVEL_DRAM;
    }
    return slow;
}

/* ---- Fermi, Kepler, Maxwell: X. Mei, X. Chu, TPDS 2017, section 4.6 ---- */

static uint64_t l2_bytes(const struct rig *rig) {
    return (uint64_t)rig->spec.l2_size_kb << 10;
}

static void an_array_of_the_l2s_size_fits(void **state) {
    struct rig *rig = start_model(*state);
    for (int i = 0; i < 3; i++) pass(rig, l2_bytes(rig), 32);
    assert_int_equal(pass(rig, l2_bytes(rig), 32), 0);
    stop_model(rig);
}

/* Elements of 4 bytes: one more than fit adds a sector, and DRAM is asked once for the 8 of each sector. */
static void one_element_more_misses_by_sectors_of_32_bytes(void **state) {
    struct rig *rig = start_model(*state);
    uint64_t size = l2_bytes(rig) + 4, slow = 0, following = 0;
    for (int i = 0; i < 3; i++) pass(rig, size, 4);
    for (uint64_t at = 0, last = 1; at < size; at += 4) {
        load(rig, at);
        if (rig->log[0].reply.level != WW_LEVEL_DRAM) continue;
        slow++;
        following += at / 32 == last;
        last = at / 32;
    }
    assert_true(slow > 0);
    assert_int_equal(following, 0);
    stop_model(rig);
}

static void what_misses_beyond_the_size_has_no_period(void **state) {
    enum { PASSES = 12 };
    struct rig *rig = start_model(*state);
    uint64_t size = l2_bytes(rig) + 2048, hash[PASSES];
    uint32_t same = 0, missed = 0;
    for (int i = 0; i < 3; i++) pass(rig, size, 32);
    for (int i = 0; i < PASSES; i++) {
        hash[i] = 0;
        for (uint64_t at = 0; at < size; at += 32) {
            load(rig, at);
            if (rig->log[0].reply.level != WW_LEVEL_DRAM) continue;
            hash[i] = (hash[i] + at) * 0x9e3779b97f4a7c15u;
            missed++;
        }
        for (int k = 0; k < i; k++) same += hash[k] == hash[i];
    }
    assert_true(missed >= PASSES);
    assert_true(missed < PASSES * size / 32 / 2); /* LRU would miss much more of the sets that overflow */
    assert_true(same < PASSES / 2);
    stop_model(rig);
}

static void arrays_of_two_thirds_show_one_cold_miss(void **state) {
    static const uint32_t strides[] = {4, 32, 128, 256};
    for (size_t i = 0; i < 4; i++) {
        struct rig *rig = start_model(*state);
        assert_int_equal(pass(rig, l2_bytes(rig) * 2 / 3, strides[i]), 1);
        rig_drain(rig);
        rig_check_laws(rig);
        stop_model(rig);
    }
}

static void larger_arrays_show_more_cold_misses(void **state) {
    struct rig *rig = start_model(*state);
    assert_int_equal(pass(rig, l2_bytes(rig), 32), 2);
    stop_model(rig);
}

static void strides_of_megabytes_are_not_hidden(void **state) {
    struct rig *rig = start_model(*state);
    assert_int_equal(pass(rig, (uint64_t)65 << 20, 1 << 20), 65);
    assert_int_equal(pass(rig, (uint64_t)65 << 21, 2 << 20), 32); /* of these, half were loaded before */
    stop_model(rig);
}

/* ---- Volta and later: RRZE-HPC/gpu-benches, gpu-latency: results of a V100 at 1380 MHz, an A100 80 GB at 1410
 * MHz and a GH200 at 1980 MHz. A lone thread walks a random cycle through the 128-byte lines of its array,
 * after a pass that is not timed. ---- */

/* Mean of a load in SM cycles, the L1's part included, over `kb` KiB; they must not fit the L1. */
static double chase_cycles(const char *gpu, uint32_t kb) {
    enum { TIMED = 10000 };
    struct rig *rig = start_model(gpu);
    uint32_t lines = kb * 8, *next = malloc(lines * sizeof *next);
    uint64_t sum = 0;
    struct ww_rng rng;
    assert_non_null(next);
    ww_rng_seed(&rng, kb);
    for (uint32_t i = 0; i < lines; i++) next[i] = i;
    for (uint32_t i = lines - 1; i > 0; i--) { /* one cycle: S. Sattolo, 1986 */
        uint32_t k = ww_rng_below(&rng, i), line = next[i];
        next[i] = next[k];
        next[k] = line;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < lines + TIMED; i++, at = next[at]) {
        uint64_t ps = load(rig, (uint64_t)at * 128);
        if (i >= lines) sum += ps;
    }
    rig_drain(rig);
    rig_check_laws(rig);
    double cycles = rig->spec.l1_latency + (double)sum / TIMED * rig->spec.clock_sm_mhz / 1e6;
    stop_model(rig);
    free(next);
    return cycles;
}

struct plateau { /* of a measured curve */
    const char *gpu;
    uint32_t kb;
    double cycles;
};

static const struct plateau v100_512 = {"v100", 512, 212.1};
static const struct plateau v100_5632 = {"v100", 5632, 212.1};
static const struct plateau v100_8192 = {"v100", 8192, 425.4};
static const struct plateau v100_32768 = {"v100", 32768, 425.4};
static const struct plateau a100_1024 = {"a100_80", 1024, 205.7};
static const struct plateau a100_17248 = {"a100_80", 17248, 205.4};
static const struct plateau a100_26987 = {"a100_80", 26987, 387.6};
static const struct plateau a100_31330 = {"a100_80", 31330, 412.9};
static const struct plateau a100_36372 = {"a100_80", 36372, 390.2};
static const struct plateau a100_49018 = {"a100_80", 49018, 515.8};
static const struct plateau a100_63643 = {"a100_80", 63643, 546.8};
static const struct plateau h200_2086 = {"h200", 2086, 280.5};
static const struct plateau h200_26372 = {"h200", 26372, 284.4};
static const struct plateau h200_38294 = {"h200", 38294, 503.4};
static const struct plateau h200_47898 = {"h200", 47898, 488.1};
static const struct plateau h200_55604 = {"h200", 55604, 497.3};

static void a_chase_lies_within_a_tenth_of_the_plateau(void **state) {
    const struct plateau *p = *state;
    double cycles = chase_cycles(p->gpu, p->kb);
    print_message("%s, %u KiB: %.1f, expected %.1f\n", p->gpu, p->kb, cycles, p->cycles);
    assert_true(cycles > 0.9 * p->cycles && cycles < 1.1 * p->cycles);
}

struct knee { /* where the measured curve is half of the way between two plateaus */
    const char *gpu;
    uint32_t kb;
    double half;
};

static const struct knee v100_l2 = {"v100", 6350, 318}, a100_near = {"a100_80", 21950, 303},
                         a100_far = {"a100_80", 40650, 457}, h200_near = {"h200", 32400, 390},
                         h200_far = {"h200", 62000, 561};

static void a_knee_lies_within_15_percent_of_the_measured_size(void **state) {
    const struct knee *k = *state;
    assert_true(chase_cycles(k->gpu, k->kb * 85 / 100) < k->half);
    assert_true(chase_cycles(k->gpu, k->kb * 115 / 100) > k->half);
}

#define GPU(f, gpu)                                                                                            \
    { #f ": " gpu, f, NULL, NULL, gpu }
#define FOR(f, what)                                                                                           \
    { #f ": " #what, f, NULL, NULL, (void *)(uintptr_t)&what }
#define MEI(f) GPU(f, "gtx560ti"), GPU(f, "gtx780"), GPU(f, "gtx980")

int main(void) {
    const struct CMUnitTest tests[] = {
        MEI(an_array_of_the_l2s_size_fits),
        MEI(one_element_more_misses_by_sectors_of_32_bytes),
        MEI(what_misses_beyond_the_size_has_no_period),
        MEI(arrays_of_two_thirds_show_one_cold_miss),
        MEI(larger_arrays_show_more_cold_misses),
        MEI(strides_of_megabytes_are_not_hidden),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, v100_512),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, v100_5632),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, v100_8192),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, v100_32768),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, a100_1024),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, a100_17248),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, a100_26987),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, a100_31330),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, a100_36372),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, a100_49018),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, a100_63643),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, h200_2086),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, h200_26372),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, h200_38294),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, h200_47898),
        FOR(a_chase_lies_within_a_tenth_of_the_plateau, h200_55604),
        FOR(a_knee_lies_within_15_percent_of_the_measured_size, v100_l2),
        FOR(a_knee_lies_within_15_percent_of_the_measured_size, a100_near),
        FOR(a_knee_lies_within_15_percent_of_the_measured_size, a100_far),
        FOR(a_knee_lies_within_15_percent_of_the_measured_size, h200_near),
        FOR(a_knee_lies_within_15_percent_of_the_measured_size, h200_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
