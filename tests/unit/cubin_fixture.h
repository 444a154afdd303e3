/* cubin_fixture.h: cubins that tests put together, byte by byte, as ptxas lays them out. */
#ifndef WW_TESTS_CUBIN_FIXTURE_H
#define WW_TESTS_CUBIN_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#define CUBIN_MADE_MAX 16384
#define CUBIN_EXIT_LOW 0x000000000000794du /* EXIT */
#define CUBIN_EXIT_HIGH 0x000fea0003800000u

struct cubin_made {
    unsigned char data[CUBIN_MADE_MAX];
    size_t n;
    /* offsets of what tests damage or look for */
    size_t sections, kernel_info, symbols, relocations, text, lines;
};

/* A cubin of `arch` in the form of an ABI version (7: toolkits up to 12; 8: 13), with
 *     kernel "k": MOV R0, MOV R1, EXIT; 8 registers, 16 bytes of shared memory, 24 of stack, parameters (0, 8)
 * and (8, 4) at 0x160 of bank 0; lines 7 (offset 0) and 9 (offset 16) of "k.cu" kernel "other": 1 instruction
 *     variables "v" (8 bytes, the address of "zero" + 4), "zero" (32 bytes, not initialised), "c" (4 bytes,
 * constant) bank 4: the address of "v", and that of the function "vprintf", which is not in the file
 *     relocations in k: instruction 0 takes the lower, 1 the upper word of the address of "v" */
void cubin_make(struct cubin_made *m, unsigned arch, unsigned abi);
void cubin_put(unsigned char *p, uint64_t v, unsigned bytes);
/* The header of the section of that number. */
unsigned char *cubin_section(struct cubin_made *m, unsigned number);

enum cubin_sections {
    MADE_NULL,
    MADE_NAMES,
    MADE_STRINGS,
    MADE_SYMBOLS,
    MADE_INFO,
    MADE_INFO_K,
    MADE_TEXT_K,
    MADE_TEXT_OTHER,
    MADE_INIT,
    MADE_ZERO,
    MADE_SHARED_K,
    MADE_BANK0_K,
    MADE_BANK3,
    MADE_BANK4,
    MADE_REL_TEXT,
    MADE_REL_BANK4,
    MADE_REL_INIT,
    MADE_LINES,
    MADE_REL_LINES,
    MADE_SECTIONS
};
#endif
