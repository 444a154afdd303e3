/* exec_types.h: the lists of types over which families of instructions are defined.
 * X(op, name, T value type, U unsigned of the same size, S lane type, W twice as wide, bits) */
#ifndef WW_TRACES_PTX_EXEC_TYPES_H
#define WW_TRACES_PTX_EXEC_TYPES_H

#include "simt.h"

#define EX_INT6(X, op)                                                                                         \
    X(op, u16, uint16_t, uint16_t, uint32_t, uint32_t, 16)                                                     \
    X(op, s16, int16_t, uint16_t, uint32_t, int32_t, 16)                                                       \
    X(op, u32, uint32_t, uint32_t, uint32_t, uint64_t, 32)                                                     \
    X(op, s32, int32_t, uint32_t, uint32_t, int64_t, 32)                                                       \
    X(op, u64, uint64_t, uint64_t, uint64_t, ex_u128, 64)                                                      \
    X(op, s64, int64_t, uint64_t, uint64_t, ex_s128, 64)

/* Index of a type in such a family, -1 if it is not an integer or bit type of 16 to 64 bits. */
static inline int ex_int6(uint8_t type) {
    switch (type) {
    case PTX_T_U16:
    case PTX_T_B16:
        return 0;
    case PTX_T_S16:
        return 1;
    case PTX_T_U32:
    case PTX_T_B32:
        return 2;
    case PTX_T_S32:
        return 3;
    case PTX_T_U64:
    case PTX_T_B64:
        return 4;
    case PTX_T_S64:
        return 5;
    default:
        return -1;
    }
}

/* Of a family's table the function for the type; of one that has 32 and 64 bits only. */
static inline ex_fn ex_of_type(const ex_fn table[6], uint8_t type) {
    int t = ex_int6(type);
    return t >= 0 ? table[t] : NULL;
}
static inline ex_fn ex_of_word(ex_fn fn, uint8_t type) {
    return ex_int6(type) >= 2 ? fn : NULL;
}

#define EX_TABLE_ENTRY(op, n, T, U, S, W, bits) op##_##n,
#define EX_TABLE(op) static const ex_fn op##_table[6] = {EX_INT6(EX_TABLE_ENTRY, op)};

/* Families with 1, 2 and 3 sources; op_EXPR(x, y, z, T, U, S, W, bits) is the value, of any integer type. */
#define EX_UNARY(op, n, T, U, S, W, bits)                                                                      \
    static void op##_##n(EX_ARGS) {                                                                            \
        const S *pa = ex_src(w, i->a);                                                                         \
        S *pd = ex_dst(w, i->d);                                                                               \
        EX_EACH(mask, T x = (T)pa[l]; pd[l] = (S)(U)(op##_EXPR(x, T, U, S, W, bits)););                        \
    }
#define EX_BINARY(op, n, T, U, S, W, bits)                                                                     \
    static void op##_##n(EX_ARGS) {                                                                            \
        const S *pa = ex_src(w, i->a), *pb = ex_src(w, i->b);                                                  \
        S *pd = ex_dst(w, i->d);                                                                               \
        EX_EACH(mask, T x = (T)pa[l]; T y = (T)pb[l]; pd[l] = (S)(U)(op##_EXPR(x, y, T, U, S, W, bits)););     \
    }
#define EX_TERNARY(op, n, T, U, S, W, bits)                                                                    \
    static void op##_##n(EX_ARGS) {                                                                            \
        const S *pa = ex_src(w, i->a), *pb = ex_src(w, i->b), *pc = ex_src(w, i->c);                           \
        S *pd = ex_dst(w, i->d);                                                                               \
        EX_EACH(mask, T x = (T)pa[l]; T y = (T)pb[l]; T z = (T)pc[l];                                          \
                pd[l] = (S)(U)(op##_EXPR(x, y, z, T, U, S, W, bits)););                                        \
    }

#endif
