/* Error bands: what reports say of a GPU that was, or was not, compared with hardware. */
#include "../../reports/bands.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void a_compared_gpu_has_bands_by_size(void **state) {
    (void)state;
    struct ww_band band[WW_BANDS];
    assert_true(ww_bands_of("v100", band) >= 3);
    assert_string_equal(ww_band_name(&band[0]), "below 10,000 cycles");
    assert_string_equal(ww_band_name(&band[2]), "100,000 cycles and more");
    for (int i = 0; i < 3; i++) {
        assert_string_equal(band[i].of, "launches");
        assert_true(band[i].launches >= band[i].programs && band[i].programs > 0);
        assert_true(band[i].error > 0 && band[i].error < 3 && band[i].p90 > 0);
        assert_int_equal(strlen(band[i].date), strlen("2026-11-22"));
    }
}

static void a_gpu_that_nobody_compared_has_none(void **state) {
    (void)state;
    struct ww_band band[WW_BANDS];
    assert_int_equal(ww_bands_of("gtx480", band), 0);
    assert_int_equal(ww_bands_of("", band), 0);
    assert_int_equal(ww_bands_of("v10", band), 0); /* no prefix of another's name */
    assert_int_equal(ww_bands_of("v100,0", band), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compared_gpu_has_bands_by_size),
        cmocka_unit_test(a_gpu_that_nobody_compared_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
