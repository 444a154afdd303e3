/* A stream of one element a thread: the steps of the code that a compiler makes of it, with its dependences,
 * stall counts and constants. They take a CTA's time in addition to its loads, which measurements with few
 * threads show. */
#include "internal.h"

/* Registers: index, its upper half, offset (two), what is loaded, addresses. */
enum { STACK = 1, INDEX = 0, THREAD = 7, HIGH = 3, OFFSET = 6, VALUE = 10, ADDRESS = 16, MOST = 4 };
enum { BOUND = WW_REG_PRED, TAIL, FOUND, NEVER }; /* predicates */
/* Places of constants: stack, number of elements, flag, arrays. */
enum { STACK_AT = 0x28, COUNT_AT = 0x180, NEVER_AT = 0x188, GLOBAL_AT = 0x118, ARRAY_AT = 0x160 };
/* Scoreboards: special registers, the comparison, sources of the store, loads. */
enum { SPECIAL, COMPARED = 0, STORED = 1, FIRST_LOADED = 2 };

struct code {
    struct ww_micro *m;
    uint32_t n;
    uint32_t lanes;
};

static struct ww_operand reg(uint32_t first, uint32_t n) {
    return (struct ww_operand){(uint16_t)first, (uint16_t)n};
}

/* The next instruction; without lanes it is one whose guard is false. */
static struct ww_inst *next(struct code *c, enum ww_op op, uint32_t mnemonic, uint32_t stall, uint32_t wait) {
    struct ww_inst *inst = &c->m->inst[c->n];
    c->m->step[c->n] = (struct ww_step){c->n, c->lanes};
    c->n++;
    inst->op = (uint8_t)op;
    inst->mnemonic = mnemonic;
    inst->flags = WW_INST_CONTROL;
    inst->control = (struct ww_control){.stall = (uint8_t)stall,
                                        .yield = stall > 11, /* more is counted only so */
                                        .write_barrier = WW_CONTROL_NO_BARRIER,
                                        .read_barrier = WW_CONTROL_NO_BARRIER,
                                        .wait = (uint8_t)wait};
    return inst;
}

static struct ww_inst *integer(struct code *c, uint32_t stall, uint32_t to, uint32_t a, uint32_t b) {
    struct ww_inst *inst = next(c, WW_OP_INT, WW_MICRO_USE, stall, 0);
    inst->dst_count = 1;
    inst->dst[0] = reg(to, 1);
    inst->src_count = a == b ? 1 : 2;
    inst->src[0] = reg(a, 1);
    inst->src[1] = reg(b, 1);
    return inst;
}

static void constant(struct ww_inst *inst, uint32_t offset) {
    inst->flags |= WW_INST_CONST;
    inst->constant = offset; /* of bank 0 */
}

static void special(struct code *c, uint32_t stall, uint32_t to) {
    struct ww_inst *inst = next(c, WW_OP_SYSREG, WW_MICRO_USE, stall, 0);
    inst->dst_count = 1;
    inst->dst[0] = reg(to, 1);
    inst->control.write_barrier = SPECIAL;
}

/* Instructions whose guard is false: they cost their slot and stall count only. */
static void skipped(struct code *c, uint32_t count) {
    static const uint8_t stall[] = {4, 6, 1};
    for (uint32_t i = 0; i < count; i++) next(c, WW_OP_NOP, WW_MICRO_USE, stall[i], 0);
}

static void leave(struct code *c, uint32_t stall, uint32_t wait, uint32_t guard, bool taken) {
    struct ww_inst *inst = next(c, WW_OP_EXIT, WW_MICRO_EXIT, stall, wait);
    inst->src_count = guard != 0;
    inst->src[0] = reg(guard, 1);
    if (!taken) c->m->step[c->n - 1].mask = 0;
}

/* The index, its comparison with the number of elements, and its offset in bytes. */
static void index_of(struct code *c) {
    constant(integer(c, 2, STACK, STACK, STACK), STACK_AT);
    special(c, 4, INDEX);
    special(c, 2, THREAD);
    struct ww_inst *mad = next(c, WW_OP_IMUL, WW_MICRO_USE, 5, 1u << SPECIAL);
    mad->dst_count = 1;
    mad->dst[0] = reg(INDEX, 1);
    mad->src_count = 2;
    mad->src[0] = reg(INDEX, 1);
    mad->src[1] = reg(THREAD, 1);
    constant(integer(c, 2, BOUND, INDEX, INDEX), COUNT_AT);
    integer(c, 4, HIGH, INDEX, INDEX);
    integer(c, 13, BOUND, HIGH, BOUND);
    leave(c, 5, 0, BOUND, false);
    integer(c, 1, OFFSET, INDEX, INDEX);
    constant(integer(c, 1, WW_REG_UNIFORM + 4, WW_REG_UNIFORM + 4, WW_REG_UNIFORM + 4), NEVER_AT);
    integer(c, 1, OFFSET + 1, INDEX, HIGH);
    constant(integer(c, 1, WW_REG_UNIFORM + 6, WW_REG_UNIFORM + 6, WW_REG_UNIFORM + 6), GLOBAL_AT);
    integer(c, 2, NEVER, WW_REG_UNIFORM + 4, WW_REG_UNIFORM + 4);
}

/* Both halves of the addresses of operands `from` to before `to`. */
static void address_of(struct code *c, uint32_t from, uint32_t to) {
    for (uint32_t k = from; k < to; k++)
        constant(integer(c, k + 1 < to ? 1 : 4, ADDRESS + 2 * k, OFFSET, OFFSET), ARRAY_AT + 8 * k);
    for (uint32_t k = from; k < to; k++)
        integer(c, k + 1 < to ? 1 : 6, ADDRESS + 2 * k + 1, OFFSET + 1, ADDRESS + 2 * k);
}

static void load(struct code *c, uint32_t k) {
    struct ww_inst *inst = next(c, WW_OP_LOAD, WW_MICRO_LD, 1, 0);
    inst->space = WW_SPACE_GLOBAL;
    inst->flags |= WW_INST_ACCESS;
    inst->width = 8;
    inst->dst_count = inst->src_count = 1;
    inst->dst[0] = reg(VALUE + 2 * k, 2);
    inst->src[0] = reg(ADDRESS + 2 * k, 2);
    inst->control.write_barrier = (uint8_t)(FIRST_LOADED + k);
}

/* What needs all that was loaded. */
static struct ww_inst *compute(struct code *c, uint32_t loads, uint32_t stall) {
    uint32_t wait = ((1u << loads) - 1) << FIRST_LOADED;
    struct ww_inst *inst = next(c, WW_OP_FP64, WW_MICRO_DMUL, stall, wait);
    inst->dst_count = 1;
    for (uint32_t k = 0; k < loads; k++) inst->src[inst->src_count++] = reg(VALUE + 2 * k, 2);
    inst->control.write_barrier = COMPARED;
    return inst;
}

static void store(struct code *c, uint32_t k) {
    struct ww_inst *inst = next(c, WW_OP_STORE, WW_MICRO_ST, 1, 1u << COMPARED);
    inst->space = WW_SPACE_GLOBAL;
    inst->flags |= WW_INST_ACCESS;
    inst->width = 8;
    inst->src_count = 2;
    inst->src[0] = reg(ADDRESS + 2 * k, 2);
    inst->src[1] = reg(VALUE, 2);
    inst->control.read_barrier = STORED;
}

static void make(struct code *c, uint32_t loads, uint32_t stores) {
    index_of(c);
    address_of(c, 0, loads);
    c->m->timed_first = c->n;
    for (uint32_t k = 0; k < loads; k++) load(c, k);
    c->m->timed_end = c->n;
    skipped(c, 3); /* the element for shared memory, which is not used */
    if (stores) {
        address_of(c, loads, loads + 1);
        compute(c, loads, 1)->dst[0] = reg(VALUE, 2);
        store(c, loads);
    } else {
        integer(c, 1, TAIL, WW_REG_UNIFORM + 4, WW_REG_UNIFORM + 4);
        compute(c, loads, 2)->dst[0] = reg(FOUND, 1);
        next(c, WW_OP_NOP, WW_MICRO_USE, 12, 0);
    }
    leave(c, 5, stores ? 0 : 1u << COMPARED, stores ? NEVER : FOUND, true);
}

static void addresses(const struct ww_micro *m, uint64_t cta, uint32_t warp, struct ww_access *out) {
    const struct ww_micro_stream *s = &m->stream;
    for (uint32_t k = 0; k < s->loads + s->stores; k++)
        out[k] = (struct ww_access){(k + 1) * s->apart + (cta * s->cta_size + warp * 32u) * 8, 8, WW_AFFINE};
}

enum ww_code ww_micro_stream(const struct ww_micro_stream *what, struct ww_micro **out,
                             struct ww_error *error) {
    enum { ROOM = 64, BYTES = 16 };
    *out = NULL;
    if (what->ctas == 0 || what->cta_size == 0 || what->cta_size > 1024 || what->loads == 0 ||
        what->stores > 1 || what->loads + what->stores > MOST)
        return ww_fail(error, WW_USAGE, "stream", "%u CTAs of %u threads, %u loads, %u stores", what->ctas,
                       what->cta_size, what->loads, what->stores);
    WW_TRY(ww_micro_new("stream", what->ctas, what->cta_size, ROOM, ROOM, out, error));
    struct ww_micro *m = *out;
    struct code code = {.m = m, .lanes = what->cta_size >= 32 ? UINT32_MAX : (1u << what->cta_size) - 1};
    m->stream = *what;
    m->addresses = addresses;
    m->launch.shared_static = what->shared_bytes;
    m->launch.registers_per_thread = ADDRESS + 2 * MOST;
    if (what->arch) m->launch.arch = what->arch;
    for (uint32_t i = 0; i < ROOM; i++) m->inst[i].pc = i * BYTES;
    make(&code, what->loads, what->stores);
    m->launch.inst_count = m->step_count = code.n;
    m->access_count = what->loads + what->stores;
    return WW_OK;
}
