/* names.c: texts and sizes of the representation's enums. */
#include "front.h"
#include "mma.h"
#include "modifier.h"
#include <string.h>

const struct ptx_shape ww_ptx_shapes[PTX_SHAPE_COUNT] = {
    {"", 0, 0, 0},           {"m8n8", 8, 8, 0},       {"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16},
    {"m8n32k16", 8, 32, 16}, {"m16n16k8", 16, 16, 8}, {"m8n8k4", 8, 8, 4},       {"m16n8k8", 16, 8, 8},
    {"m16n8k16", 16, 8, 16}, {"m16n8k4", 16, 8, 4},   {"m8n8k16", 8, 8, 16},     {"m16n8k32", 16, 8, 32},
    {"m8n8k32", 8, 8, 32},   {"m16n8k64", 16, 8, 64}, {"1d", 1, 0, 0},           {"2d", 2, 0, 0},
    {"3d", 3, 0, 0},         {"a1d", 1, 1, 0},        {"a2d", 2, 1, 0},          {"k8", 64, 0, 0},
    {"k16", 64, 0, 0},       {"k32", 64, 0, 0},       {"k256", 64, 0, 0},        {"k64", 64, 0, 0},
    {"32x32b", 32, 0, 0},    {"16x128b", 16, 0, 0},   {"16x256b", 16, 0, 0},     {"128x256b", 128, 0, 0},
    {"4x256b", 4, 0, 0},     {"128x128b", 128, 0, 0}, {"64x128b", 64, 0, 0},     {"64x128b", 64, 0, 0},
    {"32x128b", 32, 0, 0},   {"16x64b", 16, 0, 0},    {"16x32bx2", 16, 0, 0},
};

const char *ww_ptx_type_name(enum ptx_type type) {
    for (size_t i = 0; i < ww_ptx_modifier_count; i++)
        if (ww_ptx_modifiers[i].kind == MOD_TYPE && ww_ptx_modifiers[i].value == (uint32_t)type)
            return ww_ptx_modifiers[i].word;
    return "none";
}

uint32_t ww_ptx_type_bytes(enum ptx_type type) {
    switch (type) {
    case PTX_T_B8:
    case PTX_T_U8:
    case PTX_T_S8:
    case PTX_T_E4M3:
    case PTX_T_E5M2:
        return 1;
    case PTX_T_B16:
    case PTX_T_U16:
    case PTX_T_S16:
    case PTX_T_F16:
    case PTX_T_BF16:
        return 2;
    case PTX_T_B32:
    case PTX_T_U32:
    case PTX_T_S32:
    case PTX_T_F32:
    case PTX_T_F16X2:
    case PTX_T_BF16X2:
    case PTX_T_TF32:
    case PTX_T_U16X2:
    case PTX_T_S16X2:
        return 4;
    case PTX_T_B64:
    case PTX_T_U64:
    case PTX_T_S64:
    case PTX_T_F64:
    case PTX_T_TEXREF:
    case PTX_T_SAMPLERREF:
    case PTX_T_SURFREF:
        return 8;
    case PTX_T_B128:
        return 16;
    case PTX_T_U4:
    case PTX_T_S4:
    case PTX_T_B1:
        return 1;
    default:
        return 0;
    }
}
