/* reports/fixed-latencies.csv, what ptxas's stall counts imply, against the latencies of the models. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../../estimator/api/gpu.h"
#include "../../estimator/config/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 128, FEWEST = 4 }; /* pairs at the least distance, for it to count */

static struct ww_gpu_spec spec;

/* The least cycles of a pair; 0: the table lacks it, or has too few. */
static uint32_t least(const char *key) {
    char line[LINE];
    uint32_t cycles = 0;
    FILE *f = fopen("reports/fixed-latencies.csv", "r");
    assert_non_null(f);
    while (!cycles && fgets(line, sizeof line, f)) {
        char arch[16], writer[16], kind[8], reader[16], now[64];
        unsigned c, at, pairs;
        if (sscanf(line, "%15[^,],%15[^,],%7[^,],%15[^,],%u,%u,%u", arch, writer, kind, reader, &c, &at,
                   &pairs) != 7)
            continue;
        snprintf(now, sizeof now, "%s %s %s %s", arch, writer, kind, reader);
        if (strcmp(now, key) == 0 && at >= FEWEST) cycles = c;
    }
    fclose(f);
    return cycles;
}

static void is(const char *arch, const char *pair, uint32_t ours) {
    char key[64];
    snprintf(key, sizeof key, "%s %s", arch, pair);
    if (least(key) != ours) fail_msg("%s: the table has %u, the model %u", key, least(key), ours);
}

static void load(const char *name) {
    struct ww_gpu *gpu = NULL;
    struct ww_error error;
    if (ww_gpu_load(name, NULL, 0, &gpu, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    spec = gpu->spec;
    ww_gpu_free(gpu);
}

static void agrees(const char *gpu, const char *arch) {
    load(gpu);
    const struct ww_gpu_spec *g = &spec;
    is(arch, "alu R alu", g->pipe_int_latency);
    is(arch, "fma R fma", g->pipe_fp32_latency);
    is(arch, "fma R fma", g->pipe_imul_latency);
    is(arch, "alu R fma", g->pipe_int_latency + g->pipe_cross_cycles);
    is(arch, "fma R alu", g->pipe_fp32_latency + g->pipe_cross_cycles);
    is(arch, "alu P guard", g->pipe_guard_latency);
    is(arch, "fma R memory", g->pipe_fp32_latency + g->pipe_memory_cycles);
    is(arch, "imad_wide R memory", g->pipe_imul_latency + g->pipe_memory_cycles);
    is(arch, "imad_wide R addend", g->pipe_imul_latency + g->pipe_imul_wide_cycles);
    is(arch, "imad_wide R fma", g->pipe_imul_latency);
    is(arch, "fma R xu", g->pipe_fp32_latency + g->pipe_sfu_cycles);
    if (!g->pipe_uniform_cycles) return;
    is(arch, "udp UR udp", g->pipe_uniform_latency);
    is(arch, "udp UR alu", g->pipe_uniform_latency + g->pipe_uniform_out_cycles);
}

static void stall_counts_of_sm_70_imply_the_latencies_of_v100(void **state) {
    (void)state;
    agrees("v100", "sm_70");
}

static void stall_counts_of_sm_80_imply_the_latencies_of_a100(void **state) {
    (void)state;
    agrees("a100", "sm_80");
}

static void stall_counts_of_sm_90_imply_the_latencies_of_h100(void **state) {
    (void)state;
    agrees("h100", "sm_90");
}

/* The compiler leaves a cycle more between units. VIADD is as near to FFMA and IMAD as these are to one
 * another. */
static void viadd_is_of_the_unit_of_multiplications(void **state) {
    (void)state;
    assert_int_equal(least("sm_90 viadd R fma"), least("sm_90 fma R fma"));
    assert_int_equal(least("sm_90 fma R viadd"), least("sm_90 fma R fma"));
    assert_int_equal(least("sm_90 viadd R alu"), least("sm_90 fma R alu"));
    assert_int_equal(least("sm_90 alu R viadd"), least("sm_90 alu R fma"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stall_counts_of_sm_70_imply_the_latencies_of_v100),
        cmocka_unit_test(stall_counts_of_sm_80_imply_the_latencies_of_a100),
        cmocka_unit_test(stall_counts_of_sm_90_imply_the_latencies_of_h100),
        cmocka_unit_test(viadd_is_of_the_unit_of_multiplications),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
