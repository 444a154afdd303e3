/* modifier.c: modifier words to fields of an instruction. */
#include "modifier.h"
#include "front.h"
#include "mma.h"
#include <string.h>

const struct ptx_modifier ww_ptx_modifiers[] = {
#define X(word, kind, value) {word, value, MOD_##kind},
#include "modifier.def"
#undef X
};
const size_t ww_ptx_modifier_count = sizeof ww_ptx_modifiers / sizeof *ww_ptx_modifiers;

static bool is_bar(const struct ptx_inst *i) {
    return i->op == PTX_BAR || i->op == PTX_BARRIER;
}

static bool word_logic(struct ptx_inst *i, uint32_t word) {
    static const uint8_t sub[] = {PTX_SUB_AND, PTX_SUB_OR, PTX_SUB_XOR};
    static const uint8_t boolop[] = {PTX_B_AND, PTX_B_OR, PTX_B_XOR};
    uint32_t k = word - WORD_AND;
    if (ptx_op_is(i, OP_COMPARES) || i->op == PTX_WGMMA || (i->op == PTX_LOP3 && word != WORD_XOR))
        i->boolop = boolop[k];
    else if (i->bulk & PTX_BULK_REDUCE)
        i->redop = sub[k];
    else if (is_bar(i)) {
        if (i->sub != PTX_SUB_RED || word == WORD_XOR) return false;
        i->sub = word == WORD_AND ? PTX_SUB_RED_AND : PTX_SUB_RED_OR;
    } else if (ww_ptx_op_takes(i, sub[k]))
        i->sub = sub[k];
    else
        return false;
    return true;
}

static bool word_half(struct ptx_inst *i, uint32_t word) {
    if (ptx_op_is(i, OP_COMPARES))
        i->cmp = word == WORD_LO ? PTX_C_LO : PTX_C_HI;
    else
        i->mods |= word == WORD_LO ? PTX_M_LO : PTX_M_HI;
    return true;
}

static bool word_sync(struct ptx_inst *i) {
    if (is_bar(i))
        i->sub = i->sub == PTX_SUB_WARP_SYNC ? PTX_SUB_WARP_SYNC : PTX_SUB_SYNC;
    else
        i->mods |= PTX_M_SYNC;
    return true;
}

static bool word_arrive(struct ptx_inst *i) {
    if (is_bar(i))
        i->sub = i->sub == PTX_SUB_CLUSTER_ARRIVE ? i->sub : PTX_SUB_ARRIVE;
    else if (i->op == PTX_MBARRIER)
        i->sub = PTX_SUB_MB_ARRIVE;
    else
        return i->op == PTX_CP && i->sub == PTX_SUB_CP_MBARRIER_ARRIVE;
    return true;
}

static bool word_scope(struct ptx_inst *i, uint32_t word) {
    static const uint8_t sub[] = {PTX_SUB_MEMBAR_CTA, PTX_SUB_MEMBAR_GL, PTX_SUB_MEMBAR_SYS};
    if (ww_ptx_op_takes(i, PTX_SUB_MEMBAR_CTA)) i->sub = sub[word - WORD_CTA];
    return true;
}

static bool word_vote(struct ptx_inst *i, uint32_t word) {
    static const uint8_t sub[] = {PTX_SUB_ALL, PTX_SUB_ANY, PTX_SUB_UNI};
    if (ww_ptx_op_takes(i, PTX_SUB_ALL))
        i->sub = sub[word - WORD_ALL];
    else if (word == WORD_UNI)
        i->mods |= PTX_M_UNI;
    else
        return false;
    return true;
}

/* Layouts come in the order a, b; a load or store of wmma has one, of the matrix that it names. */
static bool word_layout(struct ptx_inst *i, uint32_t word) {
    uint32_t flag = PTX_M_ROW_A;
    if (i->sub == PTX_SUB_WMMA_LOAD_B)
        flag = PTX_M_ROW_B;
    else if (i->sub == PTX_SUB_WMMA_LOAD_C || i->sub == PTX_SUB_WMMA_STORE_D)
        flag = PTX_M_ROW_C;
    else if (i->cp_bytes++)
        flag = PTX_M_ROW_B; /* counts the layouts of mma; not used by it otherwise */
    if (word == WORD_ROW) i->mods |= flag;
    return ptx_op_is(i, OP_SHAPE);
}

static bool word_matrix(struct ptx_inst *i, uint32_t word) {
    if (word == WORD_B && (i->op == PTX_SULD || i->op == PTX_SUST)) return true; /* unformatted */
    static const uint8_t sub[] = {PTX_SUB_WMMA_LOAD_A, PTX_SUB_WMMA_LOAD_B, PTX_SUB_WMMA_LOAD_C,
                                  PTX_SUB_WMMA_STORE_D};
    if (i->op == PTX_TCGEN05 && word == WORD_MMA) {
        i->sub = PTX_SUB_TC_MMA;
        return true;
    }
    if (i->op != PTX_WMMA) return false;
    if (word == WORD_MMA)
        i->sub = PTX_SUB_WMMA_MMA;
    else if (word >= WORD_A && word <= WORD_D)
        i->sub = sub[word - WORD_A];
    return true;
}

/* Of cp; st and red that complete bytes of an mbarrier; fence.proxy. */
static bool word_async(struct ptx_inst *i) {
    if (i->op == PTX_CP)
        i->sub = PTX_SUB_CP_ASYNC;
    else if (i->op == PTX_ST || i->op == PTX_RED)
        i->bulk |= PTX_BULK_ASYNC;
    else
        return i->op == PTX_FENCE;
    return true;
}

/* The barrier of a cluster, or a scope. */
static bool word_cluster(struct ptx_inst *i) {
    if (i->op == PTX_BARRIER)
        i->sub = PTX_SUB_CLUSTER_ARRIVE;
    else if (ww_ptx_op_takes(i, PTX_SUB_MEMBAR_CTA))
        i->sub = PTX_SUB_MEMBAR_GL;
    else
        return !is_bar(i);
    return true;
}

/* A second word that is one of several of the instruction: cp.async.bulk.commit_group,
 * mbarrier.arrive.expect_tx. */
static void apply_sub(struct ptx_inst *i, uint32_t sub) {
    bool arrives = i->sub == PTX_SUB_MB_ARRIVE || i->sub == PTX_SUB_MB_ARRIVE_DROP;
    if (i->op == PTX_MBARRIER && arrives && sub == PTX_SUB_MB_EXPECT_TX) {
        i->bulk |= PTX_BULK_EXPECT;
        return;
    }
    if (i->op == PTX_CP && sub == PTX_SUB_CP_BULK) i->bulk |= PTX_BULK;
    if (i->op == PTX_CP && (i->bulk & PTX_BULK) && (sub == PTX_SUB_CP_COMMIT || sub == PTX_SUB_CP_WAIT_GROUP))
        i->bulk |= PTX_BULK_GROUP;
    if (i->bulk & PTX_BULK_REDUCE && sub <= PTX_SUB_DEC)
        i->redop = (uint8_t)sub;
    else
        i->sub = (uint8_t)sub;
}

static bool apply_bulk(struct ptx_inst *i, uint32_t flag) {
    i->bulk |= (uint16_t)flag;
    if (flag == PTX_BULK_TX) return i->op == PTX_CP || i->op == PTX_ST || i->op == PTX_RED;
    if (flag == PTX_BULK_MAP) return i->op == PTX_FENCE || i->op == PTX_PREFETCH;
    return i->op == PTX_CP || (i->op == PTX_TCGEN05 && flag == PTX_BULK_MULTICAST);
}

/* Dimensions of a tensor, or of a texture. */
static bool apply_rank(struct ptx_inst *i, uint32_t rank) {
    if (i->op == PTX_CP)
        i->rank = (uint8_t)rank;
    else
        i->geom = (uint8_t)(rank <= 3 ? PTX_SHAPE_1D + rank - 1 : rank);
    return i->op == PTX_CP ? rank <= 5 : rank != 4 && rank != 5;
}

/* Of tensor memory. */
static bool word_tensor_memory(struct ptx_inst *i, uint32_t word) {
    if (i->op != PTX_TCGEN05) return false;
    if (word == WORD_CTA_PAIR)
        i->rank = 2;
    else if (word == WORD_PACK)
        i->cp_bytes = 2;
    return word != WORD_BLOCK_SCALE || i->type[0] >= PTX_T_MXF8F6F4;
}

static bool apply_word(struct ptx_inst *i, uint32_t word) {
    switch ((enum ptx_word)word) {
    case WORD_AND:
    case WORD_OR:
    case WORD_XOR:
        return word_logic(i, word);
    case WORD_LO:
    case WORD_HI:
        return word_half(i, word);
    case WORD_SYNC:
        return word_sync(i);
    case WORD_ARRIVE:
        return word_arrive(i);
    case WORD_RED:
        i->sub = PTX_SUB_RED;
        return is_bar(i);
    case WORD_POPC:
        if (i->op == PTX_WGMMA) return true;
        i->sub = PTX_SUB_RED_POPC;
        return is_bar(i);
    case WORD_WARP:
        i->sub = PTX_SUB_WARP_SYNC;
        return is_bar(i);
    case WORD_ALL:
    case WORD_ANY:
    case WORD_UNI:
        return word_vote(i, word);
    case WORD_CTA:
    case WORD_GL:
    case WORD_SYS:
        return is_bar(i) ? word == WORD_CTA : word_scope(i, word);
    case WORD_ASYNC:
        return word_async(i);
    case WORD_CLUSTER:
        return word_cluster(i);
    case WORD_MBARRIER:
        i->sub = PTX_SUB_CP_MBARRIER_ARRIVE;
        return i->op == PTX_CP;
    case WORD_WAIT:
        if (i->sub == PTX_SUB_CLUSTER_ARRIVE) i->sub = PTX_SUB_CLUSTER_WAIT;
        return i->op == PTX_GRIDDEPCONTROL || i->sub == PTX_SUB_CLUSTER_WAIT;
    case WORD_LOAD:
    case WORD_STORE:
    case WORD_MMA:
    case WORD_A:
    case WORD_B:
    case WORD_C:
    case WORD_D:
        return word_matrix(i, word);
    case WORD_ROW:
    case WORD_COL:
        return word_layout(i, word);
    case WORD_CTA_PAIR:
    case WORD_BLOCK_SCALE:
    case WORD_PACK:
        return word_tensor_memory(i, word);
    default:
        return false;
    }
}

static bool apply_type(struct ptx_inst *i, uint32_t type) {
    for (unsigned k = 0; k < 4; k++)
        if (!i->type[k]) {
            i->type[k] = (uint8_t)type;
            return true;
        }
    return false;
}

static void apply_space(struct ptx_inst *i, uint32_t space) {
    if (i->op == PTX_CP && i->space == PTX_S_SHARED) {
        i->dst_space = PTX_S_SHARED;
        i->space = (uint8_t)space;
    } else {
        i->space = (uint8_t)space;
    }
}

/* m64nNkK of wgmma: N from 8 to 256. */
static bool warpgroup_shape(struct ptx_inst *i, const struct ptx_token *t) {
    uint32_t n = 0, at = 4;
    if (i->op != PTX_WGMMA || t->n < 7 || memcmp(t->p, "m64n", 4) != 0) return false;
    while (at < t->n && t->p[at] >= '0' && t->p[at] <= '9' && n < 1000)
        n = 10 * n + (uint32_t)(t->p[at++] - '0');
    for (uint8_t s = PTX_SHAPE_K8; s <= PTX_SHAPE_K64; s++)
        if (strlen(ww_ptx_shapes[s].name) == t->n - at &&
            memcmp(ww_ptx_shapes[s].name, t->p + at, t->n - at) == 0)
            i->geom = s;
    i->cp_bytes = (uint8_t)(n / 8);
    return i->geom && n >= 8 && n <= 256 && n % 8 == 0;
}

enum ww_code ww_ptx_modifier(struct ptx_parser *p, struct ptx_inst *i, const struct ptx_token *t) {
    const struct ptx_name *e = ww_ptx_name_find(p, NAME_MODIFIER, t->p, t->n);
    const struct ptx_modifier *m = e ? e->row : NULL;
    bool good = m != NULL || warpgroup_shape(i, t);
    switch (m ? m->kind : MOD_SKIP) {
    case MOD_TYPE:
        good = apply_type(i, m->value);
        break;
    case MOD_ROUND:
        i->round = (uint8_t)m->value;
        break;
    case MOD_CMP:
        i->cmp = (uint8_t)m->value;
        good = ptx_op_is(i, OP_COMPARES);
        break;
    case MOD_SUB:
        apply_sub(i, m->value);
        break;
    case MOD_SPACE:
        apply_space(i, m->value);
        break;
    case MOD_FLAG:
        i->mods |= m->value;
        good = m->value != PTX_M_SPARSE || i->op == PTX_WGMMA;
        break;
    case MOD_VEC:
        i->vec = (uint8_t)m->value;
        break;
    case MOD_SHAPE:
        i->geom = (uint8_t)m->value;
        break;
    case MOD_RANK:
        good = apply_rank(i, m->value);
        break;
    case MOD_BULK:
        good = apply_bulk(i, m->value);
        break;
    case MOD_WORD:
        good = apply_word(i, m->value);
        break;
    default:
        break;
    }
    if (good) return WW_OK;
    return ww_ptx_unsupported(p, t, "modifier '.%.*s' is not supported", (int)(t->n < 60 ? t->n : 60), t->p);
}
