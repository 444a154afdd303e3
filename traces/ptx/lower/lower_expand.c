/* lower_expand.c: sequences of machine instructions for what no single instruction does. */
#include "lower.h"

struct step {
    uint8_t op, times;
    const char *name;
};

#define STEPS_MAX 40

#define S(class, name, times) {WW_OP_##class, times, name},
static const struct step sequence[SEQ_COUNT][3][STEPS_MAX] = {
#define SEQUENCE(id, fermi, maxwell, volta) [SEQ_##id] = {{fermi{0}}, {maxwell{0}}, {volta{0}}},
#include "lower_expand.def"
#undef SEQUENCE
};
#undef S

static bool has_result(uint8_t op) {
    return op != WW_OP_BRANCH;
}

void ww_lower_expand(struct lower *l, enum lower_sequence id, struct lower_reg dst, const struct lower_src *src,
                     unsigned count) {
    const struct step *steps = sequence[id][l->arch == VOLTA ? 2 : l->arch == MAXWELL ? 1 : 0];
    unsigned total = 0, at = 0;
    for (const struct step *s = steps; s->name; s++) total += s->times;
    struct lower_src in[3] = {{0}};
    unsigned n = 0;
    for (unsigned k = 0; k < count && n < 2; k++)
        in[n++] = ww_lower_in_reg(l, src[k], src[k].reg.n > 1 ? 2 : 1);
    uint8_t width = dst.n ? dst.n : 1;
    struct lower_reg temp[2] = {ww_lower_group_new(l, width, false), ww_lower_group_new(l, width, false)};
    struct lower_reg last = {.group = -1};
    for (const struct step *s = steps; s->name; s++)
        for (unsigned k = 0; k < s->times; k++) {
            struct lower_reg to = {.group = -1};
            if (has_result(s->op)) to = temp[at & 1];
            if (++at == total && has_result(s->op)) to = dst;
            struct lower_src step_in[3] = {in[0], in[1], ww_lower_of(last)};
            if (last.group < 0) step_in[2] = (struct lower_src){.kind = L_NONE};
            ww_lower_put(l, (enum ww_op)s->op, s->name, to, step_in, 3);
            if (to.group >= 0) last = to;
        }
    if (dst.group >= 0 && last.group != dst.group &&
        l->inst_count) { /* ended in a branch: the result before it */
        for (uint32_t k = l->inst_count; k-- > 0 && l->inst[k].ptx == l->cur;)
            if (l->inst[k].dst_count) {
                l->inst[k].dst[0] = dst;
                break;
            }
    }
}
