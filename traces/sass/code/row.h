/* row.h: the words in which sass_opcode.def is written, and the maps of modifiers' values. Only sass_table.c
 * includes it.
 */
#ifndef WW_SASS_ROW_H
#define WW_SASS_ROW_H

#include "sass_table.h"

/* ---- forms: which of bits 9 to 11 a row takes ---- */
#define F1 0x02 /* registers */
#define F2 0x04
#define F3 0x08
#define F4 0x10
#define F5 0x20
#define F6 0x40
#define F7 0x80
#define ALU2 (F1 | F4 | F5 | F6)  /* the last source at 32 */
#define ALU2C (F1 | F2 | F3 | F7) /* the same with the bits of a third source */
#define ALU3 (F1 | F2 | F3 | F4 | F5 | F6 | F7)
#define UALU2 (F1 | F4)
#define UALU3 (F1 | F2 | F4)

/* ---- modifiers ---- */
#define M(...)                                                                                                 \
    (const struct ww_sass_field[]) {                                                                           \
        __VA_ARGS__ {                                                                                          \
            .type = SASS_FT_END                                                                                \
        }                                                                                                      \
    }
#define FL(m, bit) {SASS_FT_SET, SASS_M_##m, SASS_M_##m, bit, 1, 0, 0, 0, 0, #m},
#define FT(m, bit, t) {SASS_FT_SET, SASS_M_##m, SASS_M_##m, bit, 1, 0, 0, 0, 0, t},
#define NF(m, bit, t) {SASS_FT_CLEAR, SASS_M_##m, SASS_M_##m, bit, 1, 0, 0, 0, 0, t},
#define COUNT(a) (sizeof(a) / sizeof(a[0]))
#define MP(m, lo, len, map) {SASS_FT_MAP, SASS_M_##m, SASS_M_##m, lo, len, 0, 0, COUNT(map), map, 0},
#define MP2(m, m2, lo, len, map) {SASS_FT_MAP, SASS_M_##m, SASS_M_##m2, lo, len, 0, 0, COUNT(map), map, 0},
#define MPS(m, m2, lo, len, lo2, len2, map)                                                                    \
    {SASS_FT_MAP, SASS_M_##m, SASS_M_##m2, lo, len, lo2, len2, COUNT(map), map, 0},
#define RAW(m, lo, len) {SASS_FT_RAW, SASS_M_##m, SASS_M_##m, lo, len, 0, 0, 0, 0, 0},
#define RAW2(m, lo, len, lo2, len2) {SASS_FT_RAW, SASS_M_##m, SASS_M_##m, lo, len, lo2, len2, 0, 0, 0},
#define TX(t) {SASS_FT_TEXT, SASS_M_VARIANT, SASS_M_VARIANT, 0, 0, 0, 0, 0, 0, t},
#define TV(m, v, t) {SASS_FT_TEXT, SASS_M_##m, SASS_M_##m, v, 0, 0, 0, 0, 0, t},
#define NEED(lo, len, v) {SASS_FT_NEED, SASS_M_VARIANT, SASS_M_VARIANT, lo, len, v, 0, 0, 0, 0},
#define ANY(lo, len) {SASS_FT_ANY, SASS_M_VARIANT, SASS_M_VARIANT, lo, len, 0, 0, 0, 0, 0},

/* ---- operands: get, slot, lo, arg, flags, show, text ---- */
#define O(...)                                                                                                 \
    (const struct ww_sass_opd[]) {                                                                             \
        __VA_ARGS__ {                                                                                          \
            .get = SASS_G_END                                                                                  \
        }                                                                                                      \
    }
#define OP_(get, slot, lo, arg, flags, show, text)                                                             \
    {SASS_G_##get, SASS_##slot, lo, arg, flags, SASS_##show, SASS_TX_##text, 0},
#define LIT(t) {SASS_G_LITERAL, 0, 0, 0, 0, SASS_SHOW, 0, t},
#define D OP_(REG, D, 16, 0, 0, SHOW, HEX)
#define UD OP_(UREG, D, 16, 0, 0, SHOW, HEX)
#define D2_64 OP_(REG, D2, 64, 0, 0, SHOW, HEX)
#define PD81 OP_(PRED, PD, 81, 0, 0, SHOW, HEX)
#define PD81H OP_(PRED, PD, 81, 0, 0, HIDE_T, HEX)
#define PD84 OP_(PRED, PD2, 84, 0, 0, SHOW, HEX)
#define PD81HIDE OP_(PRED, PD, 81, 0, 0, HIDE, HEX)
#define PD84H OP_(PRED, PD2, 84, 0, 0, HIDE_T, HEX)
#define UPD81 OP_(UPRED, PD, 81, 0, 0, SHOW, HEX)
#define UPD81H OP_(UPRED, PD, 81, 0, 0, HIDE_T, HEX)
#define PS87 OP_(PRED, PS, 87, 90, 0, SHOW, HEX)
#define PS87T OP_(PRED, PS, 87, 90, 0, HIDE_T, HEX)
#define PS87NT OP_(PRED, PS, 87, 90, 0, HIDE_NT, HEX)
#define PS87R OP_(PRED, PS, 87, 90, 0, HIDE_RELU, HEX)
#define PS87P OP_(WPRED, PS, 87, 90, 0, SHOW, HEX)
#define PS87X OP_(PRED, PS, 87, 90, 0, HIDE_X, HEX)
#define PS77X OP_(PRED, PS2, 77, 80, 0, HIDE_X, HEX)
#define PS77 OP_(PRED, PS2, 77, 80, 0, SHOW, HEX)
#define PS68X OP_(PRED, PS2, 68, 71, 0, HIDE_X, HEX)
#define PS68 OP_(PRED, PS3, 68, 71, 0, SHOW, HEX)
#define UPS68 OP_(UPRED, PS3, 68, 71, 0, SHOW, HEX)
#define PN64 OP_(NPRED, PS, 64, 67, 0, HIDE_T, HEX)
#define A(x) OP_(A, A, 24, 0, SASS_X_##x, SHOW, HEX)
#define L(slot, x, text) OP_(L32, slot, 32, 0, SASS_X_##x, SHOW, text)
#define B2(x, text) L(B, x, text)
#define LC(x, text) OP_(L32C, B, 32, 0, SASS_X_##x, SHOW, text)
#define BD(x, text) OP_(D2, B, 32, 0, SASS_X_##x, SHOW, text)
#define B3(x, text) OP_(B, B, 32, 0, SASS_X_##x, SHOW, text)
#define C3(x, text) OP_(C, C, 64, 0, SASS_X_##x, SHOW, text)
#define R24 OP_(REG, A, 24, 0, 0, SHOW, HEX)
#define R24W OP_(REG, A, 24, 0, SASS_NO_COMMA, SHOW, HEX)
#define UR24W OP_(UREG, A, 24, 0, SASS_NO_COMMA, SHOW, HEX)
#define R24B OP_(REG, A, 24, 0, SASS_BYTE, SHOW, HEX)
#define DHZ OP_(REG, D, 16, 0, 0, HIDE_Z, HEX)
#define R32 OP_(REG, B, 32, 0, 0, SHOW, HEX)
#define R64 OP_(REG, C, 64, 0, 0, SHOW, HEX)
#define UR24 OP_(UREG, A, 24, 0, 0, SHOW, HEX)
#define DUZ OP_(UREG, D, 16, 0, 0, HIDE_Z, HEX)
#define RE40 OP_(REG, E, 40, 0, 0, SHOW, HEX)
#define SHARED OP_(SHARED, D, 44, 20, 0, SHOW, HEX)
#define ASYNC OP_(ASYNC, A, 32, 12, 0, SHOW, HEX)
#define MEM32(flags) OP_(MEM, A, 32, 32, flags, SHOW, HEX)
#define MEM0 OP_(MEM, A, 0, 0, 0, SHOW, HEX)
#define UR40 OP_(UREG, C, 40, 0, 0, SHOW, HEX)
#define UMEM_D OP_(UMEM, D, 32, 0, 0, SHOW, HEX)
#define UMEM_A OP_(UMEM, A, 24, 0, 0, SHOW, HEX)
#define UMEM_I OP_(UMEM, A, 24, 1, 0, SHOW, HEX)
#define UDESC OP_(UDESC, E, 40, 0, 0, SHOW, HEX)
#define GDESC_A OP_(GDESC, A, 24, 0, 0, SHOW, HEX)
#define GDESC_B OP_(GDESC, B, 32, 0, 0, SHOW, HEX)
#define UPS87G OP_(UNPRED, PS, 87, 90, 0, HIDE_T, HEX)
#define M90 SASS_MEM_90
#define M72 SASS_MEM_72
#define UR40L OP_(UREG6, C, 40, 0, 0, SHOW, HEX)
#define UR24N OP_(UREG6, PS3, 24, 30, 0, SHOW, HEX)
#define R32Z OP_(REG, B, 32, 0, 0, HIDE_Z, HEX)
#define R32A OP_(REG, A, 32, 0, 0, SHOW, HEX)
#define UR32 OP_(UREG, B, 32, 0, 0, SHOW, HEX)
#define UR64 OP_(UREG, C, 64, 0, 0, SHOW, HEX)
#define IMM(slot, lo, len, show, text) OP_(IMM, slot, lo, len, 0, show, text)
#define SIMM(slot, lo, len, show) OP_(SIMM, slot, lo, len, 0, show, SIGNED)
#define SREG(slot) OP_(SREG, slot, 72, 0, 0, SHOW, HEX)
#define BAR(slot, lo) OP_(BAR, slot, lo, 0, 0, SHOW, HEX)
#define LABEL(lo, len) OP_(LABEL, E, lo, len, 0, SHOW, HEX)
#define LABEL2(lo, len) OP_(LABEL2, E, lo, len, 0, SHOW, HEX)
#define ABSOLUTE(lo, len) OP_(ABS, E, lo, len, 0, SHOW, HEX)
#define ABSOLUTE2(lo, len) OP_(ABS2, E, lo, len, 0, SHOW, HEX)
#define MEM(flags) OP_(MEM, A, 40, 24, flags, SHOW, HEX)
#define ME SASS_MEM_E
#define MU SASS_MEM_UR
#define MU64 SASS_MEM_UR64
#define MN SASS_MEM_NOSUFFIX
#define M70 SASS_MEM_70
#define M71 SASS_MEM_71
#define MS SASS_MEM_SCALE

/* ---- values of modifiers ---- */
#define MAP(name) static const struct ww_sass_ent name[] =
#define NONE_                                                                                                  \
    { 0, 0, NULL }

MAP(cmpi){{SASS_CMP_F, 0, "F"},   {SASS_CMP_LT, 0, "LT"}, {SASS_CMP_EQ, 0, "EQ"}, {SASS_CMP_LE, 0, "LE"},
          {SASS_CMP_GT, 0, "GT"}, {SASS_CMP_NE, 0, "NE"}, {SASS_CMP_GE, 0, "GE"}, {SASS_CMP_T, 0, "T"}};
MAP(cmpf){
    {SASS_CMP_F, 0, "F"},     {SASS_CMP_LT, 0, "LT"},   {SASS_CMP_EQ, 0, "EQ"},   {SASS_CMP_LE, 0, "LE"},
    {SASS_CMP_GT, 0, "GT"},   {SASS_CMP_NE, 0, "NE"},   {SASS_CMP_GE, 0, "GE"},   {SASS_CMP_NUM, 0, "NUM"},
    {SASS_CMP_NAN, 0, "NAN"}, {SASS_CMP_LTU, 0, "LTU"}, {SASS_CMP_EQU, 0, "EQU"}, {SASS_CMP_LEU, 0, "LEU"},
    {SASS_CMP_GTU, 0, "GTU"}, {SASS_CMP_NEU, 0, "NEU"}, {SASS_CMP_GEU, 0, "GEU"}, {SASS_CMP_T, 0, "T"}};
MAP(boolop){{SASS_AND, 0, "AND"}, {SASS_OR, 0, "OR"}, {SASS_XOR, 0, "XOR"}};
MAP(rnd){{SASS_RN, 0, ""}, {SASS_RM, 0, "RM"}, {SASS_RP, 0, "RP"}, {SASS_ROUND_Z, 0, "RZ"}};
MAP(irnd){{SASS_RN, 0, ""}, {SASS_RM, 0, "FLOOR"}, {SASS_RP, 0, "CEIL"}, {SASS_ROUND_Z, 0, "TRUNC"}};
MAP(pdiv){NONE_,      {253, 0, "D8"}, {254, 0, "D4"}, {255, 0, "D2"},
          {0, 0, ""}, {1, 0, "M2"},   {2, 0, "M4"},   {3, 0, "M8"}};
MAP(shftype){{SASS_T_S64, 0, "S64"}, {SASS_T_U64, 0, "U64"}, {SASS_T_S32, 0, "S32"}, {SASS_T_U32, 0, "U32"}};
MAP(prmt){{0, 0, ""},    {1, 0, "F4E"}, {2, 0, "B4E"}, {3, 0, "RC8"},
          {4, 0, "ECL"}, {5, 0, "ECR"}, {6, 0, "RC16"}};
MAP(mufu){{SASS_MUFU_COS, 0, "COS"},       {SASS_MUFU_SIN, 0, "SIN"},       {SASS_MUFU_EX2, 0, "EX2"},
          {SASS_MUFU_LG2, 0, "LG2"},       {SASS_MUFU_RCP, 0, "RCP"},       {SASS_MUFU_RSQ, 0, "RSQ"},
          {SASS_MUFU_RCP64H, 0, "RCP64H"}, {SASS_MUFU_RSQ64H, 0, "RSQ64H"}, {SASS_MUFU_SQRT, 0, "SQRT"},
          {SASS_MUFU_TANH, 0, "TANH"}};
MAP(byte4){{0, 0, ""}, {1, 0, "B1"}, {2, 0, "B2"}, {3, 0, "B3"}};
MAP(vote){{SASS_VOTE_ALL, 0, "ALL"}, {SASS_VOTE_ANY, 0, "ANY"}, {SASS_VOTE_EQ, 0, "EQ"}};
/* Types of conversions: the width at one place, a sign at another. */
MAP(fwidth){NONE_, {SASS_T_F16, 0, "F16"}, {SASS_T_F32, 0, "F32"}, {SASS_T_F64, 0, "F64"}};
MAP(fwidth32){NONE_, {SASS_T_F16, 0, "F16"}, {SASS_T_F32, 0, ""}, {SASS_T_F64, 0, "F64"}};
/* bit 0: signed (bit 72 of F2I, 74 of I2F), bits 1 and 2: the width */
MAP(iwidth32){{SASS_T_U8, 0, "U8"},   {SASS_T_S8, 0, "S8"}, {SASS_T_U16, 0, "U16"}, {SASS_T_S16, 0, "S16"},
              {SASS_T_U32, 0, "U32"}, {SASS_T_S32, 0, ""},  {SASS_T_U64, 0, "U64"}, {SASS_T_S64, 0, "S64"}};
MAP(iwidth){{SASS_T_U8, 0, "U8"},   {SASS_T_S8, 0, "S8"},   {SASS_T_U16, 0, "U16"}, {SASS_T_S16, 0, "S16"},
            {SASS_T_U32, 0, "U32"}, {SASS_T_S32, 0, "S32"}, {SASS_T_U64, 0, "U64"}, {SASS_T_S64, 0, "S64"}};
MAP(memtype){{SASS_T_U8, 0, "U8"}, {SASS_T_S8, 0, "S8"},  {SASS_T_U16, 0, "U16"}, {SASS_T_S16, 0, "S16"},
             {SASS_T_B32, 0, ""},  {SASS_T_B64, 0, "64"}, {SASS_T_B128, 0, "128"}};
MAP(memtype_u){{SASS_T_U8, 0, "U8"}, {SASS_T_S8, 0, "S8"},  {SASS_T_U16, 0, "U16"},  {SASS_T_S16, 0, "S16"},
               {SASS_T_B32, 0, ""},  {SASS_T_B64, 0, "64"}, {SASS_T_B128, 0, "128"}, {SASS_T_U128, 0, "U.128"}};
MAP(ldstype){{SASS_T_U8, 0, "U8"}, {SASS_T_S8, 0, "S8"},  {SASS_T_U16, 0, "U16"}, {SASS_T_S16, 0, "S16"},
             {SASS_T_B32, 0, ""},  {SASS_T_B64, 0, "64"}, {SASS_T_B128, 0, "128"}};
MAP(evict){{SASS_EV_FIRST, 0, "EF"},    {SASS_EV_NORMAL, 0, ""},      {SASS_EV_LAST, 0, "EL"},
           {SASS_EV_LAST_USE, 0, "LU"}, {SASS_EV_UNCHANGED, 0, "EU"}, {SASS_EV_NO_ALLOC, 0, "NA"}};
MAP(ltc){{0, 0, ""}, {64, 0, "LTC64B"}, {128, 0, "LTC128B"}, {255, 0, "LTC256B"}};
/* sm_80 on: order and scope in four bits. */
MAP(order80){{SASS_WEAK, SASS_SCOPE_NONE, ""},
             NONE_,
             {SASS_CONSTANT, SASS_SCOPE_CTA, "CONSTANT.CTA"},
             NONE_,
             {SASS_CONSTANT, SASS_SCOPE_NONE, "CONSTANT"},
             {SASS_STRONG, SASS_SCOPE_SM, "STRONG.SM"},
             NONE_,
             {SASS_STRONG, SASS_SCOPE_GPU, "STRONG.GPU"},
             {SASS_MMIO, SASS_SCOPE_GPU, "MMIO.GPU"},
             {SASS_CONSTANT, SASS_SCOPE_SM, "CONSTANT.SM"},
             {SASS_STRONG, SASS_SCOPE_SYS, "STRONG.SYS"},
             NONE_,
             {SASS_MMIO, SASS_SCOPE_SYS, "MMIO.SYS"},
             {SASS_CONSTANT, SASS_SCOPE_VC, "CONSTANT.VC"},
             NONE_,
             {SASS_CONSTANT, SASS_SCOPE_GPU, "CONSTANT.GPU"}};
/* before: bits 77 and 78 scope, 79 and 80 order. */
MAP(order70){{SASS_CONSTANT, SASS_SCOPE_CTA, "CONSTANT.CTA"},
             {SASS_CONSTANT, SASS_SCOPE_SM, "CONSTANT.SM"},
             {SASS_CONSTANT, SASS_SCOPE_GPU, "CONSTANT.GPU"},
             {SASS_CONSTANT, SASS_SCOPE_SYS, "CONSTANT.SYS"},
             {SASS_WEAK, SASS_SCOPE_CTA, "CTA"},
             {SASS_WEAK, SASS_SCOPE_SM, "SM"},
             {SASS_WEAK, SASS_SCOPE_GPU, "GPU"},
             {SASS_WEAK, SASS_SCOPE_SYS, "SYS"},
             {SASS_STRONG, SASS_SCOPE_CTA, "STRONG.CTA"},
             {SASS_STRONG, SASS_SCOPE_SM, "STRONG.SM"},
             {SASS_STRONG, SASS_SCOPE_GPU, "STRONG.GPU"},
             {SASS_STRONG, SASS_SCOPE_SYS, "STRONG.SYS"},
             {SASS_MMIO, SASS_SCOPE_CTA, "MMIO.CTA"},
             {SASS_MMIO, SASS_SCOPE_SM, "MMIO.SM"},
             {SASS_MMIO, SASS_SCOPE_GPU, "MMIO.GPU"},
             {SASS_MMIO, SASS_SCOPE_SYS, "MMIO.SYS"}};
MAP(shfl){{SASS_SHFL_IDX, 0, "IDX"},
          {SASS_SHFL_UP, 0, "UP"},
          {SASS_SHFL_DOWN, 0, "DOWN"},
          {SASS_SHFL_BFLY, 0, "BFLY"}};
MAP(barmode){{SASS_BAR_SYNC, 0, "SYNC"},
             {SASS_BAR_ARV, 0, "ARV"},
             {SASS_BAR_RED, 0, "RED"},
             {SASS_BAR_SCAN, 0, "SCAN"},
             {SASS_BAR_SYNCALL, 0, "SYNCALL"}};
MAP(atom){{SASS_ATOM_ADD, 0, "ADD"},        {SASS_ATOM_MIN, 0, "MIN"}, {SASS_ATOM_MAX, 0, "MAX"},
          {SASS_ATOM_INC, 0, "INC"},        {SASS_ATOM_DEC, 0, "DEC"}, {SASS_ATOM_AND, 0, "AND"},
          {SASS_ATOM_OR, 0, "OR"},          {SASS_ATOM_XOR, 0, "XOR"}, {SASS_ATOM_EXCH, 0, "EXCH"},
          {SASS_ATOM_SAFEADD, 0, "SAFEADD"}};
MAP(redux){{SASS_REDUX_AND, 0, ""},    {SASS_REDUX_OR, 0, "OR"},   {SASS_REDUX_XOR, 0, "XOR"},
           {SASS_REDUX_SUM, 0, "SUM"}, {SASS_REDUX_MIN, 0, "MIN"}, {SASS_REDUX_MAX, 0, "MAX"}};

MAP(shfdir){{0, 0, "L"}, {1, 0, "R"}};
MAP(bra_u){{0, 0, ""}, {1, 0, "U"}, {0, 0, ""}, {0, 0, ""}};
MAP(bra_div){{0, 0, ""}, {0, 0, ""}, {1, 0, "DIV"}, {0, 0, ""}};
MAP(bra_conv){{0, 0, ""}, {0, 0, ""}, {0, 0, ""}, {1, 0, "CONV"}};
MAP(incdec){{0, 0, ""}, {1, 0, "INC"}, {2, 0, "DEC"}};
MAP(relabs){{0, 0, "REL"}, {1, 0, "ABS"}};
MAP(membar){{SASS_SCOPE_CTA, 0, "CTA"},
            {SASS_SCOPE_SM, 0, "SM"},
            {SASS_SCOPE_GPU, 0, "GPU"},
            {SASS_SCOPE_SYS, 0, "SYS"},
            NONE_,
            {SASS_SCOPE_VC, 0, "VC"}};
MAP(barred){{SASS_BAR_POPC, 0, "POPC"}, {SASS_BAR_AND, 0, "AND"}, {SASS_BAR_OR, 0, "OR"}};
MAP(allnone){{0, 0, ""}};
MAP(wsync){{0, 0, ""}, {1, 0, "ALL"}, {3, 0, "EXCLUSIVE"}};
MAP(exitmode){{0, 0, ""}, {1, 0, "KEEPREFCOUNT"}, {2, 0, "PREEMPTED"}};
MAP(bpt){{0, 0, "DRAIN"}, {1, 0, "CAL"}, {2, 0, "PAUSE"}, {3, 0, "TRAP"}, {4, 0, "INT"}};
MAP(nanosleep){{0, 0, ""}, {1, 0, "WARP"}, {2, 0, "RAND"}};
MAP(memorder){{SASS_SC, 0, "SC"}, {SASS_STRONG, 0, "ALL"}, {SASS_WEAK, 0, ""}};
#define ORDER70 MP2(ORDER, SCOPE, 77, 4, order70) FL(PRIVATE, 76)
#define ORDER80 MP2(ORDER, SCOPE, 77, 4, order80)
#define EVICT MP(EVICT, 84, 3, evict)
#define EE TX("E") NEED(72, 1, 1)
#define EN NEED(72, 1, 0)
MAP(atomtype){{SASS_T_U32, 0, ""},           {SASS_T_S32, 0, "S32"},
              {SASS_T_U64, 0, "64"},         {SASS_T_F32_FTZ, 0, "F32.FTZ.RN"},
              {SASS_T_F16X2, 0, "F16x2.RN"}, {SASS_T_S64, 0, "S64"},
              {SASS_T_F64, 0, "F64.RN"}};
MAP(atomtype80){{SASS_T_U32, 0, ""},           {SASS_T_S32, 0, "S32"},
                {SASS_T_U64, 0, "64"},         {SASS_T_F32_FTZ, 0, "F32.FTZ.RN"},
                {SASS_T_F16X2, 0, "F16x2.RN"}, {SASS_T_S64, 0, "S64"},
                {SASS_T_F64, 0, "F64.RN"},     {SASS_T_BF16X2, 0, "BF16x2.RN"}};
MAP(castype){{SASS_T_U32, 0, ""}, {SASS_T_S32, 0, "S32"}, {SASS_T_U64, 0, "64"}};
MAP(cas){{SASS_ATOM_CAS, 0, "CAS"}, {SASS_ATOM_CAST, 0, "CAST"}, NONE_, {SASS_ATOM_CAST_SPIN, 0, "CAST.SPIN"}};
MAP(qspc){{0, 0, "G"}, {1, 0, "L"}, {2, 0, "S"}};
MAP(ldcmode){{0, 0, ""}, {1, 0, "IL"}, {2, 0, "IS"}, {3, 0, "ISL"}};
MAP(memtype_c){{SASS_T_U8, 0, "U8"},   {SASS_T_S8, 0, "S8"}, {SASS_T_U16, 0, "U16"},
               {SASS_T_S16, 0, "S16"}, {SASS_T_B32, 0, ""},  {SASS_T_B64, 0, "64"}};
MAP(fwidth_f){NONE_, {SASS_T_F16, 0, "F16"}, {SASS_T_F32, 0, "F32"}, {SASS_T_F64, 0, "F64"}};
MAP(fmma){{SASS_T_F16, 0, "F16"}, {SASS_T_F32, 0, "F32"}};
MAP(mmatype){{SASS_T_F16, 0, ""}, {SASS_T_BF16, 0, "BF16"}, {SASS_T_TF32, 0, "TF32"}};
MAP(hshape){{SASS_MMA_1688, 0, "1688"}, {SASS_MMA_16816, 0, "16816"}, {SASS_MMA_1684, 0, "1684"}};
MAP(hshape_sp){{SASS_MMA_1688, 0, "1688"}, {SASS_MMA_16816, 0, "16816"}, NONE_, {SASS_MMA_16832, 0, "16832"}};
MAP(hstep){{0, 0, "STEP0"}, {1, 0, "STEP1"}, {2, 0, "STEP2"}, {3, 0, "STEP3"}};
MAP(ishape){{SASS_MMA_8816, 0, "8816"},   NONE_,
            {SASS_MMA_8832, 0, "8832"},   NONE_,
            {SASS_MMA_16816, 0, "16816"}, {SASS_MMA_16832, 0, "16832"},
            {SASS_MMA_16864, 0, "16864"}};
MAP(ishape_sp){NONE_,
               NONE_,
               NONE_,
               NONE_,
               NONE_,
               {SASS_MMA_16832, 0, "16832"},
               {SASS_MMA_16864, 0, "16864"},
               {SASS_MMA_168128, 0, "168128"}};
MAP(itype){{SASS_T_U8, 0, "U8"}, {SASS_T_S8, 0, "S8"}, {SASS_T_U4, 0, "U4"}, {SASS_T_S4, 0, "S4"}};
MAP(bshape){{SASS_MMA_88128, 0, "88128"}, {SASS_MMA_168128, 0, "168128"}, {SASS_MMA_168256, 0, "168256"}};
MAP(bop){{0, 0, "XOR"}, NONE_, {1, 0, "AND"}};
MAP(f2fwidth){
    NONE_, {SASS_T_F16, 0, "F16"}, {SASS_T_F32, 0, "F32"}, {SASS_T_F64, 0, "F64"}, {SASS_T_BF16, 0, "BF16"}};
MAP(dim){{SASS_DIM_1D, 0, ""},
         {SASS_DIM_2D, 0, ""},
         {SASS_DIM_3D, 0, ""},
         {SASS_DIM_CUBE, 0, ""},
         {SASS_DIM_A1D, 0, ""},
         {SASS_DIM_A2D, 0, ""},
         NONE_,
         {SASS_DIM_ACUBE, 0, ""}};
MAP(lod){{SASS_LOD_AUTO, 0, ""},
         {SASS_LOD_ZERO, 0, "LZ"},
         {SASS_LOD_BIAS, 0, "LB"},
         {SASS_LOD_LEVEL, 0, "LL"},
         {SASS_LOD_CLAMP, 0, "LC"}};
MAP(gather){{0, 0, "R"}, {1, 0, "G"}, {2, 0, "B"}, {3, 0, "A"}};
MAP(offsets){{0, 0, ""}, {1, 0, "AOFFI"}, {2, 0, "PTP"}};
MAP(texf16){{0, 0, ""}, {1, 0, "F16.RN"}, {2, 0, "F16.RZ"}};
MAP(query){{0, 0, ""}, {1, 0, ""}, {2, 0, ""}};
MAP(sdim){{SASS_DIM_1D, 0, "1D"}, {SASS_DIM_BUFFER, 0, "1D_BUFFER"}, {SASS_DIM_A1D, 0, "1D_ARRAY"},
          {SASS_DIM_2D, 0, "2D"}, {SASS_DIM_A2D, 0, "2D_ARRAY"},     {SASS_DIM_3D, 0, "3D"}};
MAP(clamp){{SASS_CLAMP_IGN, 0, "IGN"}, {SASS_CLAMP_NEAR, 0, ""}, {SASS_CLAMP_TRAP, 0, "TRAP"}};
MAP(smask){NONE_, {1, 0, "R"}, NONE_, {3, 0, "RG"}, NONE_, NONE_, NONE_, NONE_,
           NONE_, NONE_,       NONE_, NONE_,        NONE_, NONE_, NONE_, {15, 0, ""}};
MAP(ldsm){{1, 0, ""}, {2, 0, "2"}, {4, 0, "4"}};
MAP(ldsmt){{0, 0, "M88"}, {1, 0, "MT88"}};
MAP(movm){{1, 0, "MT88"}, {2, 0, "M832"}, {3, 0, "M864"}};
MAP(lstype){NONE_, NONE_, NONE_, NONE_, {SASS_T_B32, 0, ""}, {SASS_T_B64, 0, "64"}, {SASS_T_B128, 0, "128"}};
MAP(matchop){{SASS_VOTE_ALL, 0, "ALL"}, {SASS_VOTE_ANY, 0, "ANY"}};
MAP(cctlu){{0, 0, ""}, {1, 0, "U"}, {2, 0, "C"}};
MAP(redbar){{SASS_BAR_POPC, 0, "POPC"}, {SASS_BAR_AND, 0, "AND"}, {SASS_BAR_OR, 0, "OR"}};
MAP(i2ip8){{SASS_T_S8, 0, "S8"}};
MAP(sat8){{SASS_T_U8, 0, "U8"}, {SASS_T_S8, 0, "S8"}, {SASS_T_U16, 0, "U16"}, {SASS_T_S16, 0, "S16"}};
MAP(ufloat){{SASS_T_U32, 0, "U32"}, {SASS_T_S32, 0, "S32"}};
MAP(bf16){{SASS_T_F16, 0, ""}, {SASS_T_BF16, 0, "BF16"}};
MAP(iwidth32_){{SASS_T_U8, 0, "U8"}, {SASS_T_U16, 0, "U16"}, {SASS_T_U32, 0, "U32"}, {SASS_T_U64, 0, "U64"}};
MAP(bypass){{1, 0, "BYPASS"}, {0, 0, ""}};
#define FTZFMZ MPS(FTZ, FMZ, 80, 1, 76, 1, ftzfmz)
MAP(ftzfmz){{0, 0, ""}, {1, 0, "FTZ"}, {0, 1, "FMZ"}};
MAP(atomtype_s){{SASS_T_U32, 0, ""}, {SASS_T_S32, 0, "S32"}, {SASS_T_U64, 0, "64"}};
MAP(mufutype){{0, 0, ""}, {1, 0, "F16"}, {2, 0, "BF16"}};
#define ORDER80S MP2(ORDER, SCOPE, 77, 4, order80s)
MAP(order80s){{SASS_WEAK, SASS_SCOPE_NONE, ""},
              NONE_,
              NONE_,
              NONE_,
              NONE_,
              {SASS_STRONG, SASS_SCOPE_SM, "STRONG.SM"},
              NONE_,
              {SASS_STRONG, SASS_SCOPE_GPU, "STRONG.GPU"},
              {SASS_MMIO, SASS_SCOPE_GPU, "MMIO.GPU"},
              NONE_,
              {SASS_STRONG, SASS_SCOPE_SYS, "STRONG.SYS"},
              NONE_,
              {SASS_MMIO, SASS_SCOPE_SYS, "MMIO.SYS"}};
#define ORDER70S MP2(ORDER, SCOPE, 77, 4, order70s) FL(PRIVATE, 76)
MAP(order70s){NONE_,
              NONE_,
              NONE_,
              NONE_,
              {SASS_WEAK, SASS_SCOPE_CTA, "CTA"},
              {SASS_WEAK, SASS_SCOPE_SM, "SM"},
              {SASS_WEAK, SASS_SCOPE_GPU, "GPU"},
              {SASS_WEAK, SASS_SCOPE_SYS, "SYS"},
              {SASS_STRONG, SASS_SCOPE_CTA, "STRONG.CTA"},
              {SASS_STRONG, SASS_SCOPE_SM, "STRONG.SM"},
              {SASS_STRONG, SASS_SCOPE_GPU, "STRONG.GPU"},
              {SASS_STRONG, SASS_SCOPE_SYS, "STRONG.SYS"},
              {SASS_MMIO, SASS_SCOPE_CTA, "MMIO.CTA"},
              {SASS_MMIO, SASS_SCOPE_SM, "MMIO.SM"},
              {SASS_MMIO, SASS_SCOPE_GPU, "MMIO.GPU"},
              {SASS_MMIO, SASS_SCOPE_SYS, "MMIO.SYS"}};
#define ORDER70A MP2(ORDER, SCOPE, 77, 4, order70a) FL(PRIVATE, 76)
MAP(order70a){NONE_,
              NONE_,
              NONE_,
              NONE_,
              NONE_,
              NONE_,
              NONE_,
              NONE_,
              {SASS_STRONG, SASS_SCOPE_CTA, "STRONG.CTA"},
              {SASS_STRONG, SASS_SCOPE_SM, "STRONG.SM"},
              {SASS_STRONG, SASS_SCOPE_GPU, "STRONG.GPU"},
              {SASS_STRONG, SASS_SCOPE_SYS, "STRONG.SYS"}};
MAP(ishape75){{SASS_MMA_8816, 0, "8816"}, NONE_, {SASS_MMA_8832, 0, "8832"}};
MAP(atomtype90){{SASS_T_U32, 0, ""}, {SASS_T_S32, 0, "S32"}, {SASS_T_U64, 0, "64"}, {SASS_T_S64, 0, "S64"}};
MAP(atomfloat){{SASS_T_F16X2, 0, "F16x2.RN"},
               {SASS_T_F16X4, 0, "F16x4.RN"},
               {SASS_T_F16X8, 0, "F16x8.RN"},
               {SASS_T_BF16X2, 0, "BF16x2.RN"},
               {SASS_T_BF16X4, 0, "BF16x4.RN"},
               {SASS_T_BF16X8, 0, "BF16x8.RN"},
               NONE_,
               NONE_,
               NONE_,
               {SASS_T_F32_FTZ, 0, "F32.FTZ.RN"},
               {SASS_T_F32X2_FTZ, 0, "F32x2.FTZ.RN"},
               {SASS_T_F32X4_FTZ, 0, "F32x4.FTZ.RN"},
               {SASS_T_F32, 0, "F32.RN"},
               {SASS_T_F32X2, 0, "F32x2.RN"},
               {SASS_T_F32X4, 0, "F32x4.RN"},
               {SASS_T_F64, 0, "F64.RN"}};
MAP(atomfop){{SASS_ATOM_ADD, 0, "ADD"}, {SASS_ATOM_MIN, 0, "MIN"}, {SASS_ATOM_MAX, 0, "MAX"}};
MAP(redast){{SASS_T_U32, 0, ""}, {SASS_T_S32, 0, "S32"}, {SASS_T_U64, 0, "64"}};
MAP(redasop){{SASS_ATOM_ADD, 0, "ADD"}, {SASS_ATOM_MIN, 0, "MIN"}, {SASS_ATOM_MAX, 0, "MAX"},
             {SASS_ATOM_INC, 0, "INC"}, {SASS_ATOM_DEC, 0, "DEC"}, {SASS_ATOM_AND, 0, "AND"},
             {SASS_ATOM_OR, 0, "OR"},   {SASS_ATOM_XOR, 0, "XOR"}};
MAP(dshape){{SASS_MMA_884, 0, "8x8x4"},
            {SASS_MMA_1684, 0, "16x8x4"},
            {SASS_MMA_1688, 0, "16x8x8"},
            {SASS_MMA_16816, 0, "16x8x16"}};
MAP(mufuf16){{0, 0, ""}, {1, SASS_T_F16, "F16"}, {2, SASS_T_BF16, "BF16"}};
MAP(mufuf16_75){{0, 0, ""}, {1, SASS_T_F16, "F16"}};
MAP(int4){{SASS_T_U4, 0, "U4"}, {SASS_T_S4, 0, "S4"}};
MAP(fp8){{SASS_T_E4M3, 0, "E4M3"}, {SASS_T_E5M2, 0, "E5M2"}};
MAP(fp8r){{SASS_T_E5M2, 0, "E5M2"}, {SASS_T_E4M3, 0, "E4M3"}};
MAP(f16bf16){{SASS_T_F16, 0, "F16"}, {SASS_T_BF16, 0, "BF16"}};
MAP(syncs){{0, 0, ""}, {1, 0, "A1T0"}, {2, 0, "A0T1"}, {3, 0, "A0TR"}, {4, 0, "A0TX"}, {5, 0, "ART0"}};
MAP(gs){{0, 0, "G"}, {1, 0, "S"}};
MAP(blkred){{SASS_T_U32, 0, ""},
            {SASS_T_S32, 0, "S32"},
            {SASS_T_U64, 0, "U64"},
            {SASS_T_S64, 0, "S64"},
            {SASS_T_F16, 0, "F16.RN"},
            {SASS_T_F32, 0, "F32.RN"},
            NONE_,
            {SASS_T_F64, 0, "F64.RN"},
            {SASS_T_BF16, 0, "BF16.RN"}};
MAP(tmadim){{1, 0, "1D"}, {2, 0, "2D"}, {3, 0, "3D"}, {4, 0, "4D"}, {5, 0, "5D"}};
MAP(gbtype){{SASS_T_F16, 0, ""}, {SASS_T_BF16, 0, "BF16"}, {SASS_T_TF32, 0, "TF32"}};
MAP(hgk){{16, 0, ""}, {8, 0, ""}};
MAP(hgk_sp){{16, 0, ""}, NONE_, {32, 0, ""}};
MAP(us8f){{SASS_T_U8, 0, "U8"}, {SASS_T_S8, 0, "S8"}};
#define N_(v)                                                                                                  \
    { v, 0, "" }
MAP(hgn){N_(1),  N_(2),  N_(3),  N_(4),  N_(5),  N_(6),  N_(7),  N_(8),  N_(9),  N_(10), N_(11),
         N_(12), N_(13), N_(14), N_(15), N_(16), N_(17), N_(18), N_(19), N_(20), N_(21), N_(22),
         N_(23), N_(24), N_(25), N_(26), N_(27), N_(28), N_(29), N_(30), N_(31), N_(32)};
MAP(bgn){N_(1),  N_(2),  N_(3),  N_(4),  N_(6),  N_(8),  N_(10), N_(12), N_(14),
         N_(16), N_(18), N_(20), N_(22), N_(24), N_(26), N_(28), N_(30), N_(32)};
#define Z_ NONE_, NONE_
MAP(ign){N_(1),  Z_, N_(2),  Z_, N_(3),  Z_, N_(4),  Z_, N_(6),  Z_, N_(8),  Z_,
         N_(10), Z_, N_(12), Z_, N_(14), Z_, N_(16), Z_, N_(18), Z_, N_(20), Z_,
         N_(22), Z_, N_(24), Z_, N_(26), Z_, N_(28), Z_, N_(30), Z_, N_(32)};
MAP(ign_sp){NONE_, N_(1),  Z_, N_(2),  Z_, N_(3),  Z_, N_(4),  Z_, N_(6),  Z_, N_(8),
            Z_,    N_(10), Z_, N_(12), Z_, N_(14), Z_, N_(16), Z_, N_(18), Z_, N_(20),
            Z_,    N_(22), Z_, N_(24), Z_, N_(26), Z_, N_(28), Z_, N_(30), Z_, N_(32)};
MAP(qshape){{SASS_MMA_16816, 0, "16816"}, {SASS_MMA_16832, 0, "16832"}};
MAP(qshape_sp){NONE_, NONE_, {SASS_MMA_16864, 0, "16864"}};
MAP(bop78){NONE_, NONE_, {1, 0, "AND"}};
MAP(cctliv){{0, 0, "IV"}, {1, 0, "WB"}};
MAP(qspc90){{0, 0, "G"}, {1, 0, "L"}, {2, 0, "S"}, {3, 0, "D"}};
MAP(fwidth32b){
    NONE_, {SASS_T_F16, 0, "F16"}, {SASS_T_F32, 0, ""}, {SASS_T_F64, 0, "F64"}, {SASS_T_BF16, 0, "BF16"}};
MAP(suredtype){{SASS_T_U32, 0, ""},           {SASS_T_S32, 0, "S32"}, {SASS_T_U64, 0, "U64"}, NONE_,
               {SASS_T_F16X2, 0, "F16x2.RN"}, {SASS_T_S64, 0, "S64"}};
MAP(fenceview){{0, 0, "S"}, {1, 0, "G"}};
MAP(setmaxreg){NONE_, {1, 0, "DEALLOC"}, {2, 0, "TRY_ALLOC"}};
MAP(tmacctl){{0, 0, "IV"}, {1, 0, "PF"}};
MAP(reconverge){{0, 0, ""}, {1, 0, "RELIABLE"}, {2, 0, "RECONVERGENT"}};
MAP(us8){{0, 0, "U8"}, {1, 0, "S8"}};
MAP(us16){{0, 0, "U16"}, {1, 0, "S16"}};
MAP(lohi){{0, 0, "LO"}, {1, 0, "HI"}};
MAP(cmpd){
    {SASS_CMP_MIN, 0, "MIN"}, {SASS_CMP_LT, 0, "LT"},   {SASS_CMP_EQ, 0, "EQ"},   {SASS_CMP_LE, 0, "LE"},
    {SASS_CMP_GT, 0, "GT"},   {SASS_CMP_NE, 0, "NE"},   {SASS_CMP_GE, 0, "GE"},   {SASS_CMP_NUM, 0, "NUM"},
    {SASS_CMP_NAN, 0, "NAN"}, {SASS_CMP_LTU, 0, "LTU"}, {SASS_CMP_EQU, 0, "EQU"}, {SASS_CMP_LEU, 0, "LEU"},
    {SASS_CMP_GTU, 0, "GTU"}, {SASS_CMP_NEU, 0, "NEU"}, {SASS_CMP_GEU, 0, "GEU"}, {SASS_CMP_MAX, 0, "MAX"}};
MAP(vitype){{0, 0, "U32"}, {1, 0, ""}, {0, 1, "U16x2"}, {1, 1, "S16x2"}};
#endif
