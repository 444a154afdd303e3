/* d2ma_look.h: looking at one CTA. */
#ifndef WW_TRACES_TRANSFORM_D2MA_LOOK_H
#define WW_TRACES_TRANSFORM_D2MA_LOOK_H

#include "d2ma.h"

/* Finds the phases and tiles of the unit's CTA; while the launch is undecided also what d2ma_flow.c needs and
 * the barriers that must stay. Errors: WW_UNSUPPORTED (with the pc and the reason), WW_NOMEM. */
enum ww_code ww_d2_look(struct ww_tf *t, struct ww_d2 *d);

#endif
