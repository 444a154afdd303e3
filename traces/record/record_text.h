/* record_text.h: recording PTX under a launch description that is text in memory, whole or some of its CTAs. */
#ifndef WW_TRACES_RECORD_TEXT_H
#define WW_TRACES_RECORD_TEXT_H

#include "../../estimator/api/record.h"
#include "../../estimator/base/arena.h"
#include "../ptx/record/launch.h"

struct ww_record_text {
    const char *ptx_path;
    const char *launch; /* JSON, docs/reference/launch.md */
    size_t launch_bytes;
    const char *where; /* its name in errors; files in it are looked for in the folder of that name */
    const char *program, *arguments; /* the trace's provenance */
    struct ww_launch_use use;
};

/* What assembles PTX for an architecture, as text in the arena: "ptxas 12.4.131"; "" if nothing here does.
 * Errors: WW_NOMEM. */
enum ww_code ww_record_assembler(const char *arch, struct ww_arena *arena, const char **text,
                                 struct ww_error *error);
/* As ww_record_ptx. With use.pick the trace holds these CTAs alone. */
enum ww_code ww_record_text(const struct ww_record_text *text, const struct ww_record_options *options,
                            struct ww_record_stats *stats, struct ww_error *error);

#endif
