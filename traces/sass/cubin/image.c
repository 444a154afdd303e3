/* image.c: how long a module is that is handed over in memory. */
#include "image.h"
#include "fatbin.h"
#include <elf.h>
#include <string.h>

/* Bytes of an ELF file of which `n` can be read: up to the end of its tables and sections. 0: damaged. */
static uint64_t elf_bytes(const unsigned char *p, uint64_t n) {
    Elf64_Ehdr e;
    Elf64_Shdr s;
    if (n < sizeof e) return 0;
    memcpy(&e, p, sizeof e);
    uint64_t end = e.e_shoff + (uint64_t)e.e_shnum * sizeof s;
    if (e.e_shentsize != sizeof s || e.e_shoff > n || end > n) return 0;
    for (unsigned i = 0; i < e.e_shnum; i++) {
        memcpy(&s, p + e.e_shoff + i * sizeof s, sizeof s);
        if (s.sh_type == SHT_NOBITS) continue;
        if (s.sh_offset > n || s.sh_size > n - s.sh_offset) return 0;
        if (s.sh_offset + s.sh_size > end) end = s.sh_offset + s.sh_size;
    }
    uint64_t programs = e.e_phoff + (uint64_t)e.e_phnum * e.e_phentsize;
    if (e.e_phoff > n || programs > n) return 0;
    return programs > end ? programs : end;
}

uint64_t ww_image_bytes(const void *data, uint64_t n, enum ww_image_form *form) {
    uint32_t magic = 0;
    if (n >= sizeof magic) memcpy(&magic, data, sizeof magic);
    *form = magic == FATBIN_MAGIC                  ? WW_IMAGE_FATBIN
            : memcmp(&magic, ELFMAG, SELFMAG) == 0 ? WW_IMAGE_CUBIN
                                                   : WW_IMAGE_PTX;
    if (*form == WW_IMAGE_FATBIN) return n < 16 ? 0 : ww_fatbin_size(data, n);
    if (*form == WW_IMAGE_CUBIN) return elf_bytes(data, n);
    const char *end = n ? memchr(data, 0, n < FATBIN_TEXT_MAX ? n : FATBIN_TEXT_MAX) : NULL;
    return end ? (uint64_t)(end - (const char *)data) : 0;
}
