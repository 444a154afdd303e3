/* link_scan.h: PTX text as statements of the module's level. */
#ifndef WW_TRACES_PTX_LINK_SCAN_H
#define WW_TRACES_PTX_LINK_SCAN_H

#include "link.h"

enum link_token_kind { LINK_END, LINK_WORD, LINK_DIRECTIVE, LINK_STRING, LINK_MARK };
struct link_token {
    enum link_token_kind kind;
    const char *p;
    size_t n;
};

enum link_kind { LINK_HEADER, LINK_FILE, LINK_FUNCTION, LINK_DECLARATION, LINK_VARIABLE, LINK_OTHER };
enum link_linkage { LINK_LOCAL, LINK_VISIBLE, LINK_EXTERN, LINK_WEAK, LINK_COMMON };
struct link_statement {
    enum link_kind kind;
    enum link_linkage linkage;
    bool entry, dropped;
    uint32_t module;
    const char *p, *end;
    const char *body; /* the brace of a function */
    const char *name; /* or NULL */
    size_t name_n;
};

/* The token at or behind *p; comments are skipped. */
struct link_token ww_link_token(const char **p, const char *end);
bool ww_link_is(const struct link_token *t, const char *text);
/* The next statement; *more is false at the end. `text_end` is the end of the module. */
enum ww_code ww_link_statement(const char **p, const char *text_end, const char *where,
                               struct link_statement *s, bool *more, struct ww_error *error);

#endif
