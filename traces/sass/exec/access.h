/* access.h: addresses of memory instructions, private to the executor (exec_mem.c). */
#ifndef WW_TRACES_SASS_ACCESS_H
#define WW_TRACES_SASS_ACCESS_H

#include "grid.h"

/* A memory operand that has been taken apart; the instruction's `address` points to one. */
struct sx_address {
    uint32_t reg, ureg; /* slots; of RZ and URZ: zero */
    int64_t offset;
    bool reg64, ureg64;
    uint8_t scale; /* log2 of what the register is multiplied with */
    uint8_t space; /* enum ww_space; NONE: generic */
    uint8_t bytes; /* of one lane */
    bool is_store;
    uint32_t *hint;
};

/* Takes the operand in `slot` apart; NULL if that is not a memory operand (or memory ran out). */
struct sx_address *ww_sx_address_of(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot,
                                    uint8_t space, uint32_t bytes, bool is_store);
/* Computes and checks the addresses of the lanes in `mask`: addr[l] within its space, host[l] where the bytes
 * are; fills w->access. False if one is bad (the run has failed). */
bool ww_sx_addresses(struct sx_warp *w, const struct sx_address *a, uint32_t mask, uint64_t *addr,
                     unsigned char **host);
/* Computes without a check. */
void ww_sx_compute(const struct sx_warp *w, const struct sx_address *a, uint64_t *addr);
/* Bytes of a type of an access; 4 for none. */
uint32_t ww_sx_type_bytes(uint8_t type);
/* From memory into rows, and back. */
void ww_sx_load_rows(uint32_t *rows, uint8_t type, uint32_t mask, unsigned char *const *host);
void ww_sx_store_rows(const uint32_t *rows, uint32_t bytes, uint32_t mask, unsigned char *const *host);

#endif
