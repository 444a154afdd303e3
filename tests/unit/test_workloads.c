/* The built-in workloads: lookup and parameters, comparison with references, and each variant run to the end
 * at its small size (under a million thread instructions) and verified. */
#include "../../estimator/warpwatt.h"
#include "../../traces/embed.h"
#include "../../traces/workloads/host.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

/* ---- lookup and parameters ---- */

static enum ww_code prepare(const char *name, const char *parameter, struct ww_error *error) {
    const struct ww_workload_ops *ops;
    void *settings;
    memset(error, 0, sizeof *error);
    WW_TRY(ww_workload_prepare(name, &parameter, parameter ? 1 : 0, &ops, &settings, error));
    free(settings);
    return WW_OK;
}

static void the_ten_basic_workloads_come_first(void **state) {
    (void)state;
    static const char *const names[] = {"vectoradd", "saxpy", "transpose", "reduction", "sgemm",
                                        "spmv",      "bfs",   "kmeans",    "stencil",   "histogram"};
    assert_true(ww_workload_count() >= 10);
    for (size_t i = 0; i < 10; i++) assert_string_equal(ww_workload_at(i)->name, names[i]);
    assert_null(ww_workload_at(ww_workload_count()));
    assert_null(ww_workload_find("saxp"));
    assert_ptr_equal(ww_workload_find("saxpy"), ww_workload_at(1));
}

static void every_workload_has_its_ptx_embedded(void **state) {
    (void)state;
    for (size_t i = 0; i < ww_workload_count(); i++) {
        bool found = false;
        for (size_t e = 0; e < ww_embedded_ptx_count; e++)
            if (strcmp(ww_embedded_ptx[e].name, ww_workload_at(i)->ptx_name) == 0)
                found = strstr((const char *)ww_embedded_ptx[e].data, ".visible .entry") != NULL;
        assert_true(found);
    }
}

static void embedded_ptx_names_no_folder(void **state) {
    (void)state;
    for (size_t e = 0; e < ww_embedded_ptx_count; e++) {
        const char *file = strstr((const char *)ww_embedded_ptx[e].data, ".file");
        assert_non_null(file);
        assert_null(strchr(file, '/'));
        assert_int_equal(ww_embedded_ptx[e].data[ww_embedded_ptx[e].size], 0);
    }
}

static void defaults_lie_within_their_own_bounds(void **state) {
    (void)state;
    for (size_t i = 0; i < ww_workload_count(); i++) {
        const struct ww_workload_ops *ops = ww_workload_at(i);
        void *settings = calloc(1, ops->settings_size);
        assert_non_null(settings);
        for (size_t p = 0; p < ops->param_count; p++)
            assert_int_equal(ww_param_set_number(&ops->params[p], settings, ops->params[p].def, "", NULL),
                             WW_OK);
        free(settings);
    }
}

static void the_view_lists_every_parameter_with_its_default(void **state) {
    (void)state;
    for (size_t i = 0; i < ww_workload_count(); i++) {
        const struct ww_workload_ops *ops = ww_workload_at(i);
        struct ww_workload_view view;
        assert_int_equal(ww_workload(i, &view, NULL), WW_OK);
        assert_string_equal(view.name, ops->name);
        void *settings = calloc(1, ops->settings_size);
        assert_non_null(settings);
        ww_param_defaults(ops->params, ops->param_count, settings);
        for (size_t p = 0; p < ops->param_count; p++) {
            struct ww_buf line = {0};
            ww_buf_printf(&line, "%s=", ops->params[p].key);
            ww_param_print_text(&ops->params[p], settings, &line);
            ww_buf_puts(&line, " (");
            assert_non_null(strstr(view.parameters, line.p));
            ww_buf_free(&line);
        }
        free(settings);
    }
}

static void the_view_of_no_workload_is_a_usage_error(void **state) {
    (void)state;
    struct ww_workload_view view;
    assert_int_equal(ww_workload(ww_workload_count(), &view, NULL), WW_USAGE);
}

static void an_unknown_workload_gets_the_nearest_and_the_list(void **state) {
    (void)state;
    struct ww_error error;
    assert_int_equal(prepare("saxpi", NULL, &error), WW_USAGE);
    assert_non_null(strstr(error.text, "\"saxpi\""));
    assert_non_null(strstr(error.text, "did you mean \"saxpy\""));
    assert_non_null(strstr(error.text, "histogram"));
}

static void an_unknown_parameter_gets_the_nearest_and_the_list(void **state) {
    (void)state;
    struct ww_error error;
    assert_int_equal(prepare("saxpy", "blok=3", &error), WW_USAGE);
    assert_string_equal(error.where, "saxpy");
    assert_non_null(strstr(error.text, "did you mean \"block\""));
    assert_non_null(strstr(error.text, "per_thread"));
}

static void a_parameter_without_a_value_is_a_usage_error(void **state) {
    (void)state;
    struct ww_error error;
    assert_int_equal(prepare("saxpy", "n", &error), WW_USAGE);
    assert_int_equal(prepare("saxpy", "=3", &error), WW_USAGE);
    assert_non_null(strstr(error.text, "key=value"));
}

static void a_very_long_key_is_unknown(void **state) {
    (void)state;
    struct ww_error error;
    char key[400];
    memset(key, 'n', sizeof key);
    memcpy(key + sizeof key - 3, "=1", 3);
    assert_int_equal(prepare("saxpy", key, &error), WW_USAGE);
}

static void a_value_out_of_bounds_is_an_input_error(void **state) {
    (void)state;
    struct ww_error error;
    assert_int_equal(prepare("saxpy", "block=2000", &error), WW_INPUT);
    assert_non_null(strstr(error.where, "block"));
    assert_non_null(strstr(error.text, "1..1024"));
    assert_int_equal(prepare("saxpy", "size=huge", &error), WW_INPUT);
    assert_non_null(strstr(error.text, "small|default|large"));
}

/* ---- comparison ---- */

static void one_wrong_integer_is_reported_with_its_place(void **state) {
    (void)state;
    struct ww_error error = {0};
    struct ww_host h = {.name = "test", .error = &error};
    const uint32_t want[4] = {1, 2, 3, 4};
    uint32_t got[4] = {1, 2, 3, 4};
    assert_int_equal(ww_host_same_u32(&h, "out", got, want, 4), WW_OK);
    got[2] = 7;
    assert_int_equal(ww_host_same_u32(&h, "out", got, want, 4), WW_MISMATCH);
    assert_string_equal(error.text, "out[2] is 7, expected 3 exactly");
    assert_string_equal(error.where, "test");
}

static void a_float_is_wrong_beyond_its_tolerance_only(void **state) {
    (void)state;
    struct ww_error error = {0};
    struct ww_host h = {.name = "test", .error = &error};
    const double want[2] = {1, 1}, scale[2] = {1, 1};
    const float near[2] = {1, 1 + 0x1p-22f}; /* 4 units of roundoff */
    assert_int_equal(ww_host_near_f32(&h, "out", near, want, scale, 2, 4), WW_OK);
    assert_int_equal(ww_host_near_f32(&h, "out", near, want, scale, 2, 3.9), WW_MISMATCH);
    assert_non_null(strstr(error.text, "out[1] is 1.00000024, expected 1 within 2.32e-07"));
}

static void nan_is_never_near(void **state) {
    (void)state;
    struct ww_host h = {.name = "test"};
    const double want = 0, scale = 1e30;
    const float got = (float)NAN;
    assert_int_equal(ww_host_near_f32(&h, "out", &got, &want, &scale, 1, 1e9), WW_MISMATCH);
}

/* ---- running ---- */

struct variant {
    const char *name, *parameters[3];
};

static void verify(const struct variant *v, const char *arch) {
    struct ww_error error = {0};
    struct ww_record_stats stats = {0};
    struct ww_record_options options = {.arch = arch, .seed = 11};
    const char *parameters[4] = {"size=small"};
    size_t count = 1;
    for (; count < 4 && v->parameters[count - 1]; count++) parameters[count] = v->parameters[count - 1];
    enum ww_code code = ww_record_workload(v->name, parameters, count, &options, &stats, &error);
    if (code != WW_OK)
        print_error("%s %s: %s: %s\n", v->name, v->parameters[0] ? v->parameters[0] : "", error.where,
                    error.text);
    assert_int_equal(code, WW_OK);
    assert_true(stats.verified);
    assert_true(stats.thread_instructions > 1000 && stats.thread_instructions < 1000000);
    assert_true(stats.warp_instructions * 32 >= stats.thread_instructions);
}

static void verify_variant(void **state) {
    verify(*state, NULL);
}

static void every_workload_verifies_on_the_oldest_target(void **state) {
    (void)state;
    for (size_t i = 0; i < ww_workload_count(); i++) {
        const struct variant v = {.name = ww_workload_at(i)->name};
        if (!ww_workload_at(i)->arch) verify(&v, "sm_20");
    }
}

static void results_do_not_depend_on_partial_warps(void **state) {
    (void)state;
    static const struct variant variants[] = {
        {"vectoradd", {"block=100"}}, {"saxpy", {"block=33"}},
        {"spmv", {"block=7"}},        {"bfs", {"block=50", "variant=frontier"}},
        {"kmeans", {"block=48"}},     {"histogram", {"block=1", "bins=3", "n=100"}},
        {"reduction", {"block=8"}},   {"stencil", {"block_x=5", "block_y=3"}},
    };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) verify(&variants[i], NULL);
}

#define VERIFY(test_name, ...)                                                                                 \
    {                                                                                                          \
        test_name, verify_variant, NULL, NULL, &(struct variant) {                                             \
            __VA_ARGS__                                                                                        \
        }                                                                                                      \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ten_basic_workloads_come_first),
        cmocka_unit_test(every_workload_has_its_ptx_embedded),
        cmocka_unit_test(embedded_ptx_names_no_folder),
        cmocka_unit_test(defaults_lie_within_their_own_bounds),
        cmocka_unit_test(the_view_lists_every_parameter_with_its_default),
        cmocka_unit_test(the_view_of_no_workload_is_a_usage_error),
        cmocka_unit_test(an_unknown_workload_gets_the_nearest_and_the_list),
        cmocka_unit_test(an_unknown_parameter_gets_the_nearest_and_the_list),
        cmocka_unit_test(a_parameter_without_a_value_is_a_usage_error),
        cmocka_unit_test(a_very_long_key_is_unknown),
        cmocka_unit_test(a_value_out_of_bounds_is_an_input_error),
        cmocka_unit_test(one_wrong_integer_is_reported_with_its_place),
        cmocka_unit_test(a_float_is_wrong_beyond_its_tolerance_only),
        cmocka_unit_test(nan_is_never_near),
        VERIFY("vectoradd_scalar_verifies", "vectoradd", {"variant=scalar"}),
        VERIFY("vectoradd_vec4_verifies", "vectoradd", {"variant=vec4"}),
        VERIFY("saxpy_verifies", "saxpy", {"per_thread=3"}),
        VERIFY("transpose_naive_verifies", "transpose", {"variant=naive"}),
        VERIFY("transpose_coalesced_verifies", "transpose", {"variant=coalesced"}),
        VERIFY("transpose_padded_verifies", "transpose", {"variant=padded"}),
        VERIFY("transpose_square_verifies", "transpose", {"variant=square"}),
        VERIFY("transpose_square_padded_verifies", "transpose", {"variant=square_padded"}),
        VERIFY("reduction_interleaved_verifies", "reduction", {"variant=interleaved"}),
        VERIFY("reduction_sequential_verifies", "reduction", {"variant=sequential"}),
        VERIFY("reduction_shuffle_verifies", "reduction", {"variant=shuffle"}),
        VERIFY("reduction_strided_verifies", "reduction", {"variant=strided", "per_thread=1"}),
        VERIFY("sgemm_tiled_verifies", "sgemm", {"variant=tiled"}),
        VERIFY("sgemm_register_verifies", "sgemm", {"variant=register"}),
        VERIFY("spmv_scalar_verifies", "spmv", {"variant=scalar"}),
        VERIFY("spmv_vector_verifies", "spmv", {"variant=vector"}),
        VERIFY("spmv_jds_verifies", "spmv", {"variant=jds"}),
        VERIFY("spmv_with_lengths_in_constant_memory_verifies", "spmv", {"variant=constant", "matrix=mesh"}),
        VERIFY("spmv_jds_of_a_mesh_verifies", "spmv", {"variant=jds", "matrix=mesh"}),
        VERIFY("bfs_topology_verifies", "bfs", {"variant=topology"}),
        VERIFY("bfs_frontier_verifies", "bfs", {"variant=frontier"}),
        VERIFY("bfs_on_a_skewed_graph_verifies", "bfs", {"variant=topology", "graph=skewed"}),
        VERIFY("kmeans_soa_verifies", "kmeans", {"variant=soa", "iterations=2"}),
        VERIFY("kmeans_aos_verifies", "kmeans", {"variant=aos"}),
        VERIFY("stencil_point_verifies", "stencil", {"variant=point"}),
        VERIFY("stencil_march_verifies", "stencil", {"variant=march", "iterations=3"}),
        VERIFY("histogram_shared_verifies", "histogram", {"variant=shared"}),
        VERIFY("histogram_global_verifies", "histogram", {"variant=global"}),
        VERIFY("histogram_of_skewed_data_verifies", "histogram", {"data=skewed"}),
        VERIFY("aes_encrypt_verifies", "aes", {"direction=encrypt"}),
        VERIFY("aes_decrypt_verifies", "aes", {"direction=decrypt"}),
        VERIFY("aes_of_128_bit_keys_verifies", "aes", {"key=128"}),
        VERIFY("aes_decrypt_of_128_bit_keys_verifies", "aes", {"key=128", "direction=decrypt"}),
        VERIFY("dct_verifies", "dct", {"tile=conflicting"}),
        VERIFY("dct_padded_verifies", "dct", {"tile=padded"}),
        VERIFY("idct_verifies", "dct", {"direction=inverse"}),
        VERIFY("idct_padded_verifies", "dct", {"direction=inverse", "tile=padded"}),
        VERIFY("dct_of_shorts_verifies", "dct", {"elements=short"}),
        VERIFY("dct_of_shorts_padded_verifies", "dct", {"elements=short", "tile=padded"}),
        VERIFY("idct_of_shorts_verifies", "dct", {"elements=short", "direction=inverse"}),
        VERIFY("idct_of_shorts_padded_verifies", "dct", {"elements=short", "direction=inverse", "tile=padded"}),
        cmocka_unit_test(every_workload_verifies_on_the_oldest_target),
        cmocka_unit_test(results_do_not_depend_on_partial_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
