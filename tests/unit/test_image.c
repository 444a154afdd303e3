/* How long a module is that a program hands over without a size. */
#include "../../traces/sass/cubin/image.h"
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void text_ends_with_its_zero(void **state) {
    enum ww_image_form form;
    (void)state;
    assert_int_equal(ww_image_bytes(".version 7.0\0more", 18, &form), 12);
    assert_int_equal(form, WW_IMAGE_PTX);
    assert_int_equal(ww_image_bytes(".version 7.0", 12, &form), 0); /* no zero within what can be read */
    assert_int_equal(ww_image_bytes("", 0, &form), 0);
}

static void machine_code_ends_with_its_last_table_or_section(void **state) {
    unsigned char file[1024] = {0};
    Elf64_Ehdr e = {.e_ident = ELFMAG, .e_shoff = 64, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 2};
    Elf64_Shdr s[2] = {{.sh_type = SHT_NOBITS, .sh_offset = 5000, .sh_size = 5000},
                       {.sh_type = SHT_PROGBITS, .sh_offset = 500, .sh_size = 77}};
    enum ww_image_form form;
    (void)state;
    memcpy(file, &e, sizeof e);
    memcpy(file + 64, s, sizeof s);
    assert_int_equal(ww_image_bytes(file, sizeof file, &form), 577);
    assert_int_equal(form, WW_IMAGE_CUBIN);
    assert_int_equal(ww_image_bytes(file, 576, &form), 0); /* a section goes beyond what can be read */
    e.e_shoff = UINT64_MAX - 10;
    memcpy(file, &e, sizeof e);
    assert_int_equal(ww_image_bytes(file, sizeof file, &form), 0);
}

static void a_fat_binary_has_its_own_size(void **state) {
    const unsigned char head[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 8};
    unsigned char file[64] = {0};
    enum ww_image_form form;
    (void)state;
    memcpy(file, head, sizeof head);
    assert_int_equal(ww_image_bytes(file, sizeof file, &form), 24);
    assert_int_equal(form, WW_IMAGE_FATBIN);
    assert_int_equal(ww_image_bytes(file, 23, &form), 0);
    assert_int_equal(ww_image_bytes(file, 8, &form), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_ends_with_its_zero),
        cmocka_unit_test(machine_code_ends_with_its_last_table_or_section),
        cmocka_unit_test(a_fat_binary_has_its_own_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
