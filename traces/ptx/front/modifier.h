/* modifier.h: the words after a mnemonic's dots. */
#ifndef WW_TRACES_PTX_MODIFIER_H
#define WW_TRACES_PTX_MODIFIER_H

#include <stddef.h>
#include <stdint.h>

enum ptx_modifier_kind {
    MOD_TYPE,
    MOD_ROUND,
    MOD_CMP,
    MOD_SUB,
    MOD_SPACE,
    MOD_FLAG,
    MOD_VEC,
    MOD_SHAPE,
    MOD_RANK,
    MOD_BULK,
    MOD_SKIP,
    MOD_WORD
};

/* Words whose meaning depends on the instruction. */
enum ptx_word {
    WORD_AND,
    WORD_OR,
    WORD_XOR,
    WORD_LO,
    WORD_HI,
    WORD_SYNC,
    WORD_ARRIVE,
    WORD_RED,
    WORD_POPC,
    WORD_WARP,
    WORD_ALL,
    WORD_ANY,
    WORD_UNI,
    WORD_CTA,
    WORD_GL,
    WORD_SYS,
    WORD_ASYNC,
    WORD_MBARRIER,
    WORD_WAIT,
    WORD_LOAD,
    WORD_STORE,
    WORD_MMA,
    WORD_A,
    WORD_B,
    WORD_C,
    WORD_D,
    WORD_ROW,
    WORD_COL,
    WORD_LEVEL,
    WORD_CLUSTER,
    WORD_B_ROW,
    WORD_CTA_PAIR,
    WORD_BLOCK_SCALE,
    WORD_PACK
};

struct ptx_modifier {
    const char *word;
    uint32_t value;
    uint8_t kind;
};

extern const struct ptx_modifier ww_ptx_modifiers[];
extern const size_t ww_ptx_modifier_count;

#endif
