/* profile_keep.h: a CTA without its group.
 *
 * A reader decodes CTAs in groups and holds a group as long as one of its CTAs is in use. Code that needs
 * CTAs far apart copies them and releases the groups, so that its memory depends on the number of CTAs only.
 */
#ifndef WW_FAST_PROFILE_KEEP_H
#define WW_FAST_PROFILE_KEEP_H

#include "../../traces/trace.h"

/* Copies a CTA of the launch; the copy is the caller's (ww_kept_free). Errors: WW_NOMEM. */
enum ww_code ww_keep_cta(const struct ww_launch *launch, const struct ww_cta_trace *cta,
                         struct ww_cta_trace *copy, struct ww_error *error);
/* Frees a copy. */
void ww_kept_free(struct ww_cta_trace *copy);

#endif
