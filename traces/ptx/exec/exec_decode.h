/* exec_decode.h: the decoder's own state and helpers (exec_decode.c, exec_special.c). */
#ifndef WW_TRACES_PTX_EXEC_DECODE_H
#define WW_TRACES_PTX_EXEC_DECODE_H

#include "exec.h"
#include "../front/op.h"

struct ex_decoder {
    struct ex_kernel *kernel;
    struct ex_func *func;
    const struct ptx_inst *inst;
    struct ex_inst *out;
    struct ww_error *error;
};

/* Fails with "what: 'instruction'" at the PTX line. */
enum ww_code ww_ex_decode_fail(const struct ex_decoder *d, enum ww_code code, const char *what);
/* Slot of a register or constant; `want`: lane width of constants, 0 predicate. */
enum ww_code ww_ex_operand_slot(struct ex_decoder *d, const struct ptx_operand *o, uint8_t want, uint32_t *slot,
                                uint8_t *width);
enum ww_code ww_ex_address_operand(struct ex_decoder *d, const struct ptx_operand *o, uint32_t *slot,
                                   uint8_t *width, int64_t *offset, uint8_t *space);
bool ww_ex_is_kernel_param(const struct ex_decoder *d, const struct ptx_symbol *s);
/* Chooses what runs, by the operation's row. WW_UNSUPPORTED: this form of it has nothing. */
enum ww_code ww_ex_choose(struct ex_decoder *d);
/* The columns decode of ptx_op.def: operands into d->out, and what runs. Errors: WW_UNSUPPORTED (form, shape,
 * types), WW_INPUT (an operand does not fit). */
#define X(id, mnemonic, signature, types, places, words, flags, decode, pick, lower)                           \
    enum ww_code ww_ex_decode_##decode(struct ex_decoder *d);
#include "../front/ptx_op.def"
#undef X
/* exec_bulk.c: cp.async.bulk; st.async and red.async, whose own operands have been decoded. */
enum ww_code ww_ex_decode_bulk(struct ex_decoder *d);
enum ww_code ww_ex_decode_store_async(struct ex_decoder *d);
/* Makes an ex_func for each function that the kernel may call. */
enum ww_code ww_ex_find_reachable(struct ex_decoder *d, const struct ptx_func *entry);

#endif
