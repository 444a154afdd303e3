/* keep_source.h: source files whose hashes, and texts on request, go into a trace. */
#ifndef WW_WWT_KEEP_SOURCE_H
#define WW_WWT_KEEP_SOURCE_H

#include "../../estimator/api/trace.h"
#include "../trace.h"

#define WW_SOURCE_KEEP_MAX ((size_t)1 << 20) /* bytes of a text that is kept */
#define WW_SOURCE_ALL_MAX ((size_t)32 << 20) /* of code tables; beyond it hashes alone are noted */
#define WW_SOURCE_FILES_MAX 256u             /* files of a code table */

struct ww_wwt_source {
    char *name, *note; /* note: what stands in the trace; NULL: the file is not there */
    size_t hash_only;  /* bytes of the note without the text */
};

struct ww_wwt_sources {
    bool on, texts;
    char *folder; /* where names are looked for besides the working folder, with its slash; or NULL */
    struct ww_wwt_source *file;
    size_t count;
};
void ww_wwt_forget_sources(struct ww_wwt_sources *s);

struct ww_trace_writer;
/* Records the source files of the following launches. A name is tried as it is, then in the folder of the file
 * `beside` (or NULL). Errors: WW_NOMEM. */
enum ww_code ww_trace_writer_sources(struct ww_trace_writer *w, bool texts, const char *beside,
                                     struct ww_error *error);
/* Gives the launch, whose arrays stay the caller's, strings in the open launch's arena. Errors: WW_NOMEM. */
enum ww_code ww_wwt_add_sources(struct ww_trace_writer *w, struct ww_launch *launch, struct ww_error *error);

#endif
