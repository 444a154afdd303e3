/* constexpr.c: constant expressions of PTX. */
#include "front.h"
#include <math.h>
#include <string.h>

#define DEPTH_MAX 32

static enum ww_code parse_binary(struct ptx_parser *p, struct ptx_const *c, unsigned level, unsigned depth);

static double as_double(const struct ptx_const *c) {
    double d;
    if (!c->is_float) return (double)(int64_t)c->bits;
    memcpy(&d, &c->bits, sizeof d);
    return d;
}

static void set_double(struct ptx_const *c, double d) {
    *c = (struct ptx_const){.is_float = true};
    memcpy(&c->bits, &d, sizeof d);
}

static float bits_float(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static enum ww_code parse_primary(struct ptx_parser *p, struct ptx_const *c, unsigned depth) {
    struct ptx_token t = p->tok;
    if (depth > DEPTH_MAX) return ww_ptx_fail_at(p, &t, WW_UNSUPPORTED, "expected an expression of less depth");
    if (t.kind == TOK_INT) {
        *c = (struct ptx_const){.bits = t.value};
    } else if (t.kind == TOK_F64) {
        *c = (struct ptx_const){.is_float = true, .bits = t.value};
    } else if (t.kind == TOK_F32) {
        set_double(c, (double)bits_float((uint32_t)t.value));
        c->exact32 = true;
        c->raw32 = (uint32_t)t.value;
    } else if (t.kind == TOK_IDENT && ww_ptx_token_is(&t, "WARP_SZ")) {
        *c = (struct ptx_const){.bits = 32};
    } else if (ww_ptx_is_punct(p, '(')) {
        WW_TRY(ww_ptx_next(p));
        if (p->tok.kind == TOK_DOT) { /* cast (.s64), (.u64): all integers have 64 bits here */
            WW_TRY(ww_ptx_next(p));
            WW_TRY(ww_ptx_take(p, ')'));
            return parse_primary(p, c, depth + 1);
        }
        WW_TRY(parse_binary(p, c, 0, depth + 1));
        return ww_ptx_take(p, ')');
    } else if (ww_ptx_is_punct(p, '-') || ww_ptx_is_punct(p, '+') || ww_ptx_is_punct(p, '~') ||
               ww_ptx_is_punct(p, '!')) {
        WW_TRY(ww_ptx_next(p));
        WW_TRY(parse_primary(p, c, depth + 1));
        if (t.punct == '-' && c->exact32) c->raw32 ^= 0x80000000u;
        if (t.punct == '-' && c->is_float)
            c->bits ^= (uint64_t)1 << 63;
        else if (t.punct == '-')
            c->bits = 0 - c->bits;
        else if (t.punct == '~')
            c->bits = ~c->bits;
        else if (t.punct == '!')
            c->bits = !c->bits;
        return WW_OK;
    } else {
        return ww_ptx_expected(p, "a constant");
    }
    return ww_ptx_next(p);
}

/* Levels from weak to strong. */
static const char *const level_ops[] = {"|", "^", "&", "<>", "+-", "*/%"};
#define LEVELS (sizeof level_ops / sizeof *level_ops)

static uint64_t shifted(uint64_t a, uint64_t by, bool left) {
    if (by > 63) return 0;
    return left ? a << by : a >> by;
}

static enum ww_code combine(struct ptx_parser *p, const struct ptx_token *op, struct ptx_const *a,
                            const struct ptx_const *b) {
    if (a->is_float || b->is_float) {
        double x = as_double(a), y = as_double(b);
        switch (op->punct) {
        case '+':
            set_double(a, x + y);
            return WW_OK;
        case '-':
            set_double(a, x - y);
            return WW_OK;
        case '*':
            set_double(a, x * y);
            return WW_OK;
        case '/':
            set_double(a, x / y);
            return WW_OK;
        default:
            return ww_ptx_fail_at(p, op, WW_INPUT, "expected integers at '%c'", op->punct);
        }
    }
    uint64_t x = a->bits, y = b->bits;
    switch (op->punct) {
    case '+':
        x += y;
        break;
    case '-':
        x -= y;
        break;
    case '*':
        x *= y;
        break;
    case '&':
        x &= y;
        break;
    case '|':
        x |= y;
        break;
    case '^':
        x ^= y;
        break;
    case '<':
        x = shifted(x, y, true);
        break;
    case '>':
        x = shifted(x, y, false);
        break;
    default:
        if (!y) return ww_ptx_fail_at(p, op, WW_INPUT, "division by 0 in a constant expression");
        if (y == UINT64_MAX)
            x = op->punct == '/' ? 0 - x : 0;
        else if (op->punct == '/')
            x = (uint64_t)((int64_t)x / (int64_t)y);
        else
            x = (uint64_t)((int64_t)x % (int64_t)y);
    }
    *a = (struct ptx_const){.bits = x};
    return WW_OK;
}

static enum ww_code parse_binary(struct ptx_parser *p, struct ptx_const *c, unsigned level, unsigned depth) {
    if (level == LEVELS) return parse_primary(p, c, depth);
    WW_TRY(parse_binary(p, c, level + 1, depth));
    while (p->tok.kind == TOK_PUNCT && strchr(level_ops[level], p->tok.punct)) {
        struct ptx_token op = p->tok;
        struct ptx_const right;
        WW_TRY(ww_ptx_next(p));
        if (op.punct == '<' || op.punct == '>') WW_TRY(ww_ptx_take(p, op.punct));
        WW_TRY(parse_binary(p, &right, level + 1, depth));
        WW_TRY(combine(p, &op, c, &right));
    }
    return WW_OK;
}

enum ww_code ww_ptx_parse_const(struct ptx_parser *p, struct ptx_const *c) {
    return parse_binary(p, c, 0, 0);
}

/* To the nearest half, ties to even, as ptxas stores a literal. */
static uint16_t half_bits(double d) {
    uint16_t sign = signbit(d) ? 0x8000 : 0;
    d = fabs(d);
    if (isnan(d)) return 0x7fff;
    if (d >= 65520) return (uint16_t)(sign | 0x7c00);
    int e;
    (void)frexp(d, &e);
    if (e < -13) return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(d, 24)));
    uint32_t m = (uint32_t)nearbyint(ldexp(d, 11 - e)); /* 1024 .. 2048 */
    return (uint16_t)(sign | (uint16_t)(m + (uint32_t)(e + 13) * 1024));
}

int64_t ww_ptx_const_bits(const struct ptx_const *c, uint8_t type) {
    double d = as_double(c);
    uint64_t bits = c->bits;
    float f = (float)d;
    uint32_t b32;
    switch (type) {
    case PTX_T_F64:
        memcpy(&bits, &d, sizeof d);
        return (int64_t)bits;
    case PTX_T_F32:
    case PTX_T_TF32:
        memcpy(&b32, &f, sizeof f);
        return c->exact32 ? c->raw32 : b32;
    case PTX_T_F16:
        return c->is_float ? half_bits(d) : (int64_t)(bits & 0xffff);
    case PTX_T_BF16:
        return c->is_float ? (int64_t)((c->exact32 ? c->raw32 : 0) >> 16) : (int64_t)(bits & 0xffff);
    default:
        break;
    }
    if (c->is_float && c->exact32) bits = c->raw32;
    switch (ww_ptx_type_bytes(type)) {
    case 1:
        return (int8_t)bits;
    case 2:
        return (int16_t)bits;
    case 4:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

enum ww_code ww_ptx_parse_uint(struct ptx_parser *p, const char *what, uint64_t hi, uint64_t *value) {
    struct ptx_token at = p->tok;
    struct ptx_const c;
    WW_TRY(ww_ptx_parse_const(p, &c));
    if (c.is_float || c.bits > hi)
        return ww_ptx_fail_at(p, &at, WW_INPUT, "expected %s of at most %llu", what, (unsigned long long)hi);
    *value = c.bits;
    return WW_OK;
}
