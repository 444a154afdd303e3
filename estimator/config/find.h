/* find.h: where data files (GPU models, power tables) are looked for.
 *
 * In this order: $WARPWATT_MODELS (for subdir "models" only), $WARPWATT_DATA/SUBDIR; where this code is a
 * shared library, the source tree that it was built in or the prefix that it is installed under; the source
 * tree that the executable was built in, ../share/warpwatt/SUBDIR relative to the executable's folder, the
 * install prefix's share/warpwatt/SUBDIR. The environment is read at each call; nothing is cached. */
#ifndef WW_CONFIG_FIND_H
#define WW_CONFIG_FIND_H

#include "../api/gpu.h"
#include "../base/err.h"

#define WW_PATH_MAX 1024

/* The directories searched for `subdir` ("models" or "power"), in order, whether they exist or not; free
 * with ww_names_free. Errors: WW_NOMEM. */
enum ww_code ww_data_dirs(const char *subdir, struct ww_names *dirs, struct ww_error *error);
/* Adds a copy of `text` to a list. Errors: WW_NOMEM. */
enum ww_code ww_names_add(struct ww_names *names, const char *text, struct ww_error *error);
/* Names of the *.json files in those directories without ".json", sorted, each once; names that begin with
 * "_" are bases for inheritance and left out. Free with ww_names_free. Errors: WW_NOMEM. */
enum ww_code ww_data_names(const char *subdir, struct ww_names *names, struct ww_error *error);

#endif
