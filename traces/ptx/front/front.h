/* front.h: private to the parser: tokens, name table, parser state.
 *
 * One token of look-ahead, no recursion over the text except in constant expressions and initialisers
 * (both with a depth limit). All memory comes from the module's arena, so giving up needs no clean-up.
 */
#ifndef WW_TRACES_PTX_FRONT_H
#define WW_TRACES_PTX_FRONT_H

#include "../../../estimator/base/arena.h"
#include "../../../estimator/base/buf.h"
#include "op.h"

enum ptx_token_kind { TOK_END, TOK_IDENT, TOK_DOT, TOK_INT, TOK_F32, TOK_F64, TOK_STRING, TOK_PUNCT };

struct ptx_token {
    uint8_t kind;
    char punct;
    uint32_t line, column; /* from 1 */
    const char *p;         /* text; of a TOK_DOT without the dot, of a TOK_STRING without the quotes */
    size_t n;
    uint64_t value; /* TOK_INT; bits of TOK_F32 and TOK_F64 */
};

struct ptx_lexer {
    const char *p, *end, *line_start;
    uint32_t line;
};

/* What a name means. The classes are separate name spaces. */
enum ptx_name_class { NAME_VALUE, NAME_LABEL, NAME_LIST, NAME_MODIFIER, NAME_OP, NAME_SREG };
enum ptx_value_kind { VALUE_REG, VALUE_REG_RANGE, VALUE_VECTOR, VALUE_SYMBOL };

struct ptx_name {
    struct ptx_name *next;       /* in the bucket */
    struct ptx_name *scope_next; /* declared earlier in the same scope */
    const char *p;
    size_t n;
    uint64_t hash;
    uint8_t class, kind, type, vec;
    uint32_t depth;
    int64_t value;             /* register number, count of a range, label's instruction, list number */
    struct ptx_symbol *symbol; /* VALUE_SYMBOL */
    const void *row;           /* NAME_MODIFIER */
};

struct ptx_names {
    struct ptx_name **bucket;
    size_t bucket_count, count;
};

/* A use of a label before its scope ended: *imm or *target gets the instruction's index. */
struct ptx_fixup {
    struct ptx_fixup *next;
    struct ptx_token at;
    int64_t *imm;
    uint32_t *target;
};

#define PTX_SCOPE_MAX 64
struct ptx_scope {
    struct ptx_name *names;
    struct ptx_fixup *fixups;
    uint64_t local_bytes, param_bytes; /* at the scope's start: given back at its end */
};

struct ptx_parser {
    struct ptx_module *m;
    struct ww_error *error;
    struct ptx_lexer lex;
    struct ptx_token tok;
    struct ptx_names names;
    struct ptx_scope scope[PTX_SCOPE_MAX];
    uint32_t depth;
    size_t symbol_cap, func_cap, file_cap;
    /* the function whose body is being read */
    struct ptx_func *func;
    size_t inst_cap, reg_cap, local_cap, list_cap, param_cap, ret_cap;
    uint64_t local_bytes, param_bytes, param_peak;
    uint32_t loc_file, loc_line;
    int32_t smem;          /* of a pragma, for the next instruction */
    bool label_at_end;     /* a label stands behind the last instruction */
    const char *inst_text; /* where the current instruction begins */
};

/* Reads the next token. Errors: WW_INPUT through ptx_parse_fail's format. */
enum ww_code ww_ptx_next(struct ptx_parser *p);
/* Fails at a token: where is "name:line:column". */
__attribute__((format(printf, 4, 5))) enum ww_code
ww_ptx_fail_at(struct ptx_parser *p, const struct ptx_token *at, enum ww_code code, const char *fmt, ...);
enum ww_code ww_ptx_nomem(struct ptx_parser *p);
/* "expected WHAT, found ...", at the current token. */
enum ww_code ww_ptx_expected(struct ptx_parser *p, const char *what);
bool ww_ptx_is_punct(const struct ptx_parser *p, char c);
bool ww_ptx_is_dot(const struct ptx_parser *p, const char *word);
bool ww_ptx_token_is(const struct ptx_token *t, const char *word);
/* Takes the punctuation or fails. */
enum ww_code ww_ptx_take(struct ptx_parser *p, char c);
/* Takes it if it is there. */
enum ww_code ww_ptx_take_if(struct ptx_parser *p, char c, bool *taken);

/* Name table. Finds the innermost; NULL if none. */
struct ptx_name *ww_ptx_name_find(const struct ptx_parser *p, uint8_t class, const char *s, size_t n);
/* Declares in the current scope; NULL: no memory. The text is not copied. */
struct ptx_name *ww_ptx_name_add(struct ptx_parser *p, uint8_t class, const char *s, size_t n);
/* Enters and leaves { }: leaving resolves labels. */
enum ww_code ww_ptx_scope_enter(struct ptx_parser *p);
enum ww_code ww_ptx_scope_leave(struct ptx_parser *p);
/* Puts the words of the language into the table. */
enum ww_code ww_ptx_names_init(struct ptx_parser *p);
/* A register (also out of a range %r<N>) or a symbol by its name; NULL: not declared, or no memory. */
struct ptx_name *ww_ptx_value_find(struct ptx_parser *p, const struct ptx_token *t);
/* A new register of the current function; false: no memory or too many. */
bool ww_ptx_reg_new(struct ptx_parser *p, const char *name, uint8_t type, int32_t *reg);

/* Makes room for one more element of `size` bytes in an arena array that holds `count`. */
void *ww_ptx_grow(struct ptx_parser *p, void *array, size_t count, size_t *cap, size_t size);

/* Constant expression of integers or floats. type: a PTX_T_* that says how floats are stored. */
struct ptx_const {
    bool is_float;
    uint64_t bits; /* integer, or a double's bits */
    bool exact32;  /* a 0f literal: low 32 bits of raw */
    uint32_t raw32;
};
enum ww_code ww_ptx_parse_const(struct ptx_parser *p, struct ptx_const *c);
/* The constant as bits of the type: integers sign-extended from its width. */
int64_t ww_ptx_const_bits(const struct ptx_const *c, uint8_t type);
/* Integer in [lo, hi]. */
enum ww_code ww_ptx_parse_uint(struct ptx_parser *p, const char *what, uint64_t hi, uint64_t *value);

/* Fundamental type: the current TOK_DOT; fails with "expected a type". */
enum ww_code ww_ptx_parse_type(struct ptx_parser *p, uint8_t *type);
/* Variables: `.global .align 4 .u32 x[3] = {...};` without the linking directives; current token is the
 * space. In a function body symbols go to func->local. */
enum ww_code ww_ptx_parse_variable(struct ptx_parser *p, bool is_extern);
/* One declarator of a .param list (of a function) or of a body. */
enum ww_code ww_ptx_parse_declarator(struct ptx_parser *p, uint8_t space, struct ptx_symbol **symbol);
enum ww_code ww_ptx_parse_init(struct ptx_parser *p, struct ptx_symbol *symbol, const uint64_t *dim,
                               uint32_t dims, uint32_t vec);
enum ww_code ww_ptx_parse_reg(struct ptx_parser *p);
/* .entry or .func with its body or ';'. Current token is the directive. */
enum ww_code ww_ptx_parse_function(struct ptx_parser *p, bool is_extern);
/* One statement that starts with an opcode (guard and label are done). */
enum ww_code ww_ptx_parse_inst(struct ptx_parser *p, const struct ptx_token *op, int32_t guard, bool guard_neg);
enum ww_code ww_ptx_parse_call(struct ptx_parser *p, struct ptx_inst *inst);
/* One operand; constants become bits of `type`. want: 'l' a label, 'L' a label list, 'T' a texel,
 * else anything else. */
enum ww_code ww_ptx_parse_operand(struct ptx_parser *p, struct ptx_operand *o, uint8_t type, char want);
/* Fails with WW_UNSUPPORTED, the reason and the text of the current instruction. */
__attribute__((format(printf, 3, 4))) enum ww_code
ww_ptx_unsupported(struct ptx_parser *p, const struct ptx_token *at, const char *fmt, ...);
/* A use of a label: *imm or *target is filled when the scope ends. */
enum ww_code ww_ptx_label_use(struct ptx_parser *p, const struct ptx_token *at, int64_t *imm, uint32_t *target);
/* Checks an instruction's operands against its signature. */
enum ww_code ww_ptx_check_inst(struct ptx_parser *p, struct ptx_inst *inst, const struct ptx_token *at);
/* Whether the modifiers that the operation needs are there. */
enum ww_code ww_ptx_check_modifiers(struct ptx_parser *p, const struct ptx_inst *inst,
                                    const struct ptx_token *at);
/* Applies one modifier word to the instruction. */
enum ww_code ww_ptx_modifier(struct ptx_parser *p, struct ptx_inst *inst, const struct ptx_token *t);
/* Appends an instruction to the current function; NULL: no memory or too many. */
struct ptx_inst *ww_ptx_inst_add(struct ptx_parser *p, uint32_t line);
/* Skips tokens up to and with a balanced { }. */
enum ww_code ww_ptx_skip_braces(struct ptx_parser *p);
/* .file and .loc */
enum ww_code ww_ptx_parse_file(struct ptx_parser *p);
enum ww_code ww_ptx_parse_pragma(struct ptx_parser *p);
/* Applies a preceding pragma to the last instruction. */
enum ww_code ww_ptx_apply_pragma(struct ptx_parser *p, const struct ptx_token *at);
enum ww_code ww_ptx_parse_loc(struct ptx_parser *p);
/* Type that operand i of the instruction is read or written as. */
uint8_t ww_ptx_operand_type(const struct ptx_inst *inst, uint32_t i);
#define PTX_OPERAND_MAX 24
/* Offsets of shared variables per kernel (place_shared.c). */
enum ww_code ww_ptx_place_shared(struct ptx_parser *p);

#endif
