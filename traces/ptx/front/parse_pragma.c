/* parse_pragma.c: ".pragma" in a body. Other assemblers' pragmas are passed over; ours are
 *
 *     .pragma "warpwatt smem_alloc N";    .pragma "warpwatt smem_free N";
 *
 * before a bar.sync of all threads, which then also allocates or frees N bytes of shared memory
 * (docs/studies/multiplexing.md). To ptxas they mean nothing and the barrier is a barrier. */
#include "front.h"
#include <string.h>

/* The number behind `word` in the pragma's text; false if it is another pragma. */
static bool number_behind(const struct ptx_token *t, const char *word, uint64_t *v) {
    size_t n = strlen(word);
    if (t->n <= n || strncmp(t->p, word, n) != 0) return false;
    *v = 0;
    for (size_t i = n; i < t->n; i++) {
        if (t->p[i] < '0' || t->p[i] > '9' || *v > INT32_MAX / 10) return false;
        *v = *v * 10 + (uint64_t)(t->p[i] - '0');
    }
    return *v > 0;
}

enum ww_code ww_ptx_parse_pragma(struct ptx_parser *p) {
    uint64_t bytes;
    WW_TRY(ww_ptx_next(p));
    while (!ww_ptx_is_punct(p, ';')) {
        if (p->tok.kind == TOK_STRING && number_behind(&p->tok, "warpwatt smem_alloc ", &bytes))
            p->smem = (int32_t)bytes;
        else if (p->tok.kind == TOK_STRING && number_behind(&p->tok, "warpwatt smem_free ", &bytes))
            p->smem = -(int32_t)bytes;
        else if (p->tok.kind == TOK_STRING && p->tok.n > 9 && strncmp(p->tok.p, "warpwatt ", 9) == 0)
            return ww_ptx_expected(p, "\"warpwatt smem_alloc N\" or \"warpwatt smem_free N\"");
        if (p->tok.kind == TOK_END) return ww_ptx_expected(p, "';'");
        WW_TRY(ww_ptx_next(p));
    }
    return ww_ptx_next(p);
}

enum ww_code ww_ptx_apply_pragma(struct ptx_parser *p, const struct ptx_token *at) {
    struct ptx_inst *i = p->func->inst_count ? &p->func->inst[p->func->inst_count - 1] : NULL;
    if (!p->smem) return WW_OK;
    bool barrier = i && (i->op == PTX_BAR || i->op == PTX_BARRIER) && i->sub == PTX_SUB_SYNC && i->guard < 0 &&
                   i->opnd_count == 1 && i->opnd[0].kind == PTX_O_IMM;
    if (!barrier)
        return ww_ptx_fail_at(p, at, WW_INPUT,
                              "shared memory is allocated or freed at a bar.sync of all threads");
    i->smem = p->smem;
    p->smem = 0;
    return WW_OK;
}
