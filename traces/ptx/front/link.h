/* link.h: device linking of PTX: several modules of relocatable device code become the text of one.
 *
 * The text is taken apart into statements of the module's level only. Of a symbol that several modules define,
 * the strong definition stays, or the first weak one; declarations of others (.extern) that are defined go
 * away; names that belong to one module (no linkage) get its number where another module has the same name.
 * Debug sections are left out; source lines stay. */
#ifndef WW_TRACES_PTX_LINK_H
#define WW_TRACES_PTX_LINK_H

#include "../../../estimator/base/buf.h"
#include "../../../estimator/base/err.h"

struct ww_ptx_module {
    const char *text; /* text[n] is 0 */
    size_t n;
    const char *where; /* its name in messages */
    bool library;      /* left out if no other module needs one of its definitions */
};

/* Appends the text of the linked module to `out`. Errors: WW_INPUT (two definitions of a symbol, a statement
 * without end), WW_NOMEM. */
enum ww_code ww_ptx_link(const struct ww_ptx_module *module, size_t count, struct ww_buf *out,
                         struct ww_error *error);

#endif
