/* Names of C++ kernels: as the demangler of the C++ library has them but for parameters, and bounded. */
#include "../../estimator/base/demangle.h"
#include "../../estimator/base/rng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *mangled, *whole, *brief;
} names[] = {
    {"_Z6kernelPfi", "kernel", "kernel"},
    {"_Z6reduceIfLi256EEvPT_S1_i", "reduce<float, 256>", "reduce<float, 256>"},
    {"_Z3fooI7double2Evv", "foo<double2>", "foo<double2>"},
    {"_ZN12_GLOBAL__N_14bodyIcEEvPT_", "(anonymous namespace)::body<char>", "body<char>"},
    {"_ZN6thrust8cuda_cub4core13_kernel_agentINS0_14__parallel_for16ParallelForAgentINS0_20__uninitialized_"
     "fill7functorINS_10device_ptrIiEEiEEmEES9_mEEvT0_T1_",
     "thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::ParallelForAgent<thrust::cuda_"
     "cub::__"
     "uninitialized_fill::functor<thrust::device_ptr<int>, int>, unsigned long>, "
     "thrust::cuda_cub::__uninitialized_fill::functor<thrust::device_ptr<int>, int>, unsigned long>",
     "_kernel_agent<ParallelForAgent, functor, unsigned long>"},
    {"_Z5velemILi4EZ4mainEUlfE_5ArrayIPcLi2EEEviT0_T1_", "velem<4, main::{lambda#1}, Array<char*, 2>>",
     "velem<4, {lambda#1}, Array>"},
    {"_Z3arrIPFifdEEvT_", "arr<int (*)(float, double)>", "arr<int (*)(float, double)>"},
    {"_Z2fpIXadL_Z6targetiEEEvv", "fp<&target>", "fp<&target>"},
    {"_Z4packIJEEvDpT_", "pack<>", "pack<>"},
    {"_Z4packIJidPKcEEvDpT_", "pack<int, double, char const*>", "pack<int, double, char const*>"},
    {"_ZN3cub14CUB_200_860_NS18DeviceReduceKernelINS0_18DeviceReducePolicyIfiE9Policy600EPfPKiSt4plusIfEfEEvT0_"
     "T1_T2_T3_T_",
     "cub::CUB_200_860_NS::DeviceReduceKernel<cub::CUB_200_860_NS::DeviceReducePolicy<float, int>::Policy600, "
     "float*, "
     "int const*, std::plus<float>, float>",
     "DeviceReduceKernel<Policy600, float*, int const*, plus, float>"},
    {"transpose_naive", "transpose_naive", "transpose_naive"},
    {"_Zwhatever", "_Zwhatever", "_Zwhatever"},
};

static void names_read_as_the_language_has_them(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char whole[WW_NAME_WHOLE], brief[WW_NAME_SHORT];
        ww_demangle(names[i].mangled, whole, sizeof whole);
        ww_short_name(names[i].mangled, brief);
        assert_string_equal(whole, names[i].whole);
        assert_string_equal(brief, names[i].brief);
    }
}

static void long_names_lose_arguments_first(void **state) {
    (void)state;
    char brief[WW_NAME_SHORT];
    assert_string_equal(
        ww_short_name("_Z1fI30aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa30bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb3cccEvv", brief),
        "f<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, ...>");
    char name[300] = "";
    memset(name, 'k', sizeof name - 1);
    assert_int_equal(strlen(ww_short_name(name, brief)), WW_NAME_SHORT - 1);
}

/* Substitutions that double the text again and again would take for ever. */
static void hostile_names_end(void **state) {
    (void)state;
    char name[8192] = "_Z1fI1a", whole[WW_NAME_WHOLE], brief[WW_NAME_SHORT];
    for (int i = 0; i < 600; i++) strcat(name, "1bIS_S_E");
    assert_false(ww_demangle(name, whole, sizeof whole));
    strcpy(name, "_Z1f");
    for (int i = 0; i < 4000; i++) strcat(name, "IJ"[i % 2] == 'I' ? "I" : "J");
    assert_false(ww_demangle(name, whole, sizeof whole));
    struct ww_rng rng;
    ww_rng_seed(&rng, 1);
    for (int i = 0; i < 200000; i++) {
        static const char some[] = "SIENKPRFTUlAZLJXvif0123_a";
        strcpy(name, "_Z");
        for (size_t n = 2; n < 40; n++) {
            name[n] = some[ww_rng_below(&rng, sizeof some - 1)];
            name[n + 1] = 0;
        }
        ww_demangle(name, whole, sizeof whole);
        assert_true(strlen(ww_short_name(name, brief)) < WW_NAME_SHORT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_read_as_the_language_has_them),
        cmocka_unit_test(long_names_lose_arguments_first),
        cmocka_unit_test(hostile_names_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
