/* Throughput: repetitions of independent loads and the stores of what they brought. */
#include "internal.h"

#define VALUE_REG 8 /* of the first load; the next ones follow */
#define LARGEST_SHARED (1024u * 1024)

#define INDEX_REG 4 /* of the prologue */

/* Instruction table: barrier, clock, loads, stores, barrier, clock, exit, the prologue's, uses of the loads. */
enum { BAR_BEFORE, CLOCK_BEFORE, FIRST_LOAD };

/* When the CTA begins, as a number of a CTA of a long grid: those that are resident in the middle of one lie on
 * SMs in no order. Steps of the golden section through the wave spread neighbours far apart. */
static uint64_t turn(const struct ww_micro_bulk *b, uint64_t cta) {
    if (cta >= b->wave) return cta;
    uint64_t step = (uint64_t)b->wave * 618 / 1000 + 1;
    for (;; step++) {
        uint64_t x = step, y = b->wave;
        while (y) {
            uint64_t rest = x % y;
            x = y;
            y = rest;
        }
        if (x == 1) return cta * step % b->wave;
    }
}

static uint64_t operand_address(const struct ww_micro_bulk *b, uint32_t k, uint64_t cta, uint32_t repeat,
                                uint32_t warp) {
    uint64_t moved = k * b->operand_bytes + repeat * b->repeat_bytes;
    if (b->wrap_ctas) cta %= b->wrap_ctas;
    if (b->wrap_bytes) moved %= b->wrap_bytes;
    return b->base[k] + cta * b->cta_bytes + moved + (uint64_t)warp * 32 * b->width;
}

static uint32_t left_out(const struct ww_micro *m, uint64_t cta) {
    return ww_micro_left_out(&m->bulk, cta) * (m->bulk.loads + m->bulk.stores);
}

static void addresses(const struct ww_micro *m, uint64_t cta, uint32_t warp, struct ww_access *out) {
    const struct ww_micro_bulk *b = &m->bulk;
    cta = turn(b, cta);
    for (uint32_t r = 0; r < b->repeats; r++)
        for (uint32_t k = 0; k < b->loads + b->stores; k++)
            *out++ = (struct ww_access){operand_address(b, k, cta, r, warp), (int32_t)b->width, WW_AFFINE};
}

uint32_t ww_micro_left_out(const struct ww_micro_bulk *b, uint64_t cta) {
    return cta < b->wave ? (uint32_t)((b->wave - 1 - turn(b, cta)) * b->repeats / b->wave) : 0;
}

static void set_operand(struct ww_micro *m, uint32_t k) {
    const struct ww_micro_bulk *b = &m->bulk;
    struct ww_inst *inst = &m->inst[FIRST_LOAD + k];
    uint16_t n = (uint16_t)(b->width > 4 ? b->width / 4 : 1);
    bool load = k < b->loads;
    uint32_t value = load ? k : b->loads ? (k - b->loads) % b->loads : 0;
    struct ww_operand data = {(uint16_t)(VALUE_REG + value * n), n};
    ww_micro_set_path(inst, b->path);
    inst->width = (uint8_t)b->width;
    if (load) {
        inst->dst_count = 1;
        inst->dst[0] = data;
        inst->src_count = b->prologue > 0;
        inst->src[0] = (struct ww_operand){INDEX_REG, 1};
        return;
    }
    inst->op = WW_OP_STORE;
    inst->mnemonic = WW_MICRO_ST;
    inst->flags = WW_INST_ACCESS;
    if (inst->space != WW_SPACE_SHARED) inst->space = WW_SPACE_GLOBAL;
    /* A store of each value; the last one stands for all that are left (triad: three loads, one store). */
    inst->src_count = 1;
    inst->src[0] = data;
    if (k + 1 == b->loads + b->stores && b->stores < b->loads)
        for (uint32_t v = b->stores; v < b->loads && inst->src_count < WW_INST_SRC_MAX; v++)
            inst->src[inst->src_count++] = (struct ww_operand){(uint16_t)(VALUE_REG + v * n), n};
}

static void set_control(struct ww_micro *m, uint32_t bar) {
    m->inst[bar].op = WW_OP_BARRIER;
    m->inst[bar].mnemonic = WW_MICRO_BAR;
    m->inst[bar + 1].op = WW_OP_SYSREG;
    m->inst[bar + 1].mnemonic = WW_MICRO_CLOCK;
    m->inst[bar + 1].dst_count = 1;
    m->inst[bar + 1].dst[0] = (struct ww_operand){2, 1};
}

/* What comes before and after the repetitions, at the instructions from `at` on. */
static void set_ends(struct ww_micro *m, uint32_t at) {
    const struct ww_micro_bulk *b = &m->bulk;
    uint16_t n = (uint16_t)(b->width > 4 ? b->width / 4 : 1);
    struct ww_inst *index = &m->inst[at];
    index->op = WW_OP_INT;
    index->mnemonic = WW_MICRO_USE;
    index->dst_count = index->src_count = 1;
    index->dst[0] = index->src[0] = (struct ww_operand){INDEX_REG, 1};
    for (uint32_t k = 0; k < b->loads; k++) {
        struct ww_inst *use = &m->inst[at + 1 + k];
        use->op = WW_OP_INT;
        use->mnemonic = WW_MICRO_USE;
        use->src_count = 1;
        use->src[0] = (struct ww_operand){(uint16_t)(VALUE_REG + k * n), n};
    }
}

static void set_steps(struct ww_micro *m) {
    const struct ww_micro_bulk *b = &m->bulk;
    uint32_t operands = b->loads + b->stores, leave = operands + FIRST_LOAD + 2,
             mask = m->launch.block[0] >= 32 ? UINT32_MAX : (1u << m->launch.block[0]) - 1;
    struct ww_step *s = m->step;
    for (uint32_t i = 0; i < b->prologue; i++) *s++ = (struct ww_step){leave + 1, mask};
    for (uint32_t r = 0; r < b->repeats; r++)
        for (uint32_t i = 0; i < operands + FIRST_LOAD + 2; i++) {
            bool control = i < FIRST_LOAD || i >= FIRST_LOAD + operands;
            if (!control || b->clocked) *s++ = (struct ww_step){i, mask};
        }
    for (uint32_t k = 0; b->used && k < b->loads; k++) *s++ = (struct ww_step){leave + 2 + k, mask};
    *s++ = (struct ww_step){leave, mask};
    m->step_count = (uint32_t)(s - m->step);
    m->access_count = b->repeats * operands;
}

static enum ww_code check(const struct ww_micro_bulk *b, struct ww_error *error) {
    uint64_t registers = (uint64_t)b->loads * (b->width > 4 ? b->width / 4 : 1);
    bool bad = b->ctas == 0 || b->cta_size == 0 || b->cta_size > 1024 || b->repeats == 0 ||
               b->loads + b->stores > WW_MICRO_OPERANDS || registers > 200 ||
               (b->width != 4 && b->width != 8 && b->width != 16) || b->shared_bytes > LARGEST_SHARED ||
               b->prologue > 1024 || (b->wave && (b->prologue || b->clocked));
    uint64_t steps = (uint64_t)b->repeats * (b->loads + b->stores + FIRST_LOAD + 2) + b->prologue + b->loads;
    if (!bad && steps < UINT32_MAX) return WW_OK;
    return ww_fail(error, WW_USAGE, "microbenchmark",
                   "%u CTAs of %u threads, %u loads, %u stores of %u bytes, %u repetitions", b->ctas,
                   b->cta_size, b->loads, b->stores, b->width, b->repeats);
}

enum ww_code ww_micro_bulk(const struct ww_micro_bulk *what, struct ww_micro **out, struct ww_error *error) {
    *out = NULL;
    WW_TRY(check(what, error));
    uint32_t operands = what->loads + what->stores, leave = operands + FIRST_LOAD + 2;
    WW_TRY(ww_micro_new("bulk", what->ctas, what->cta_size, leave + 2 + what->loads,
                        (size_t)what->repeats * leave + what->prologue + what->loads + 1, out, error));
    struct ww_micro *m = *out;
    m->bulk = *what;
    m->addresses = addresses;
    if (what->wave) m->left_out = left_out;
    m->launch.shared_static = what->shared_bytes;
    set_control(m, BAR_BEFORE);
    for (uint32_t k = 0; k < operands; k++) set_operand(m, k);
    set_control(m, FIRST_LOAD + operands);
    m->inst[leave].op = WW_OP_EXIT;
    m->inst[leave].mnemonic = WW_MICRO_EXIT;
    set_ends(m, leave + 1);
    set_steps(m);
    uint32_t registers = VALUE_REG + what->loads * (what->width > 4 ? what->width / 4 : 1);
    if (registers > m->launch.registers_per_thread) m->launch.registers_per_thread = registers;
    /* All readings of the clock lie from the first to the last; what is between is told by its class. */
    m->timed_first = CLOCK_BEFORE;
    m->timed_end = FIRST_LOAD + operands + 2;
    return WW_OK;
}
