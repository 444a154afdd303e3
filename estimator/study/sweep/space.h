/* space.h: what the two files that read a space file share. */
#ifndef WW_SWEEP_SPACE_H
#define WW_SWEEP_SPACE_H

#include "../../config/json.h"
#include "sweep.h"

struct space_reader {
    struct ww_sweep_space *space;
    struct ww_error *error;
};

/* WW_INPUT at a JSON path of the file. */
__attribute__((format(printf, 3, 4))) enum ww_code ww_space_fail(const struct space_reader *r, const char *path,
                                                                 const char *fmt, ...);
enum ww_code ww_space_nomem(const struct space_reader *r);
/* A copy in the space's arena; NULL: no memory. */
const char *ww_space_copy(const struct space_reader *r, const char *text);
/* Fails unless the node is an object with these keys only. */
enum ww_code ww_space_keys(const struct space_reader *r, const cJSON *node, const char *path,
                           const char *const *keys);
enum ww_code ww_space_string(const struct space_reader *r, const cJSON *node, const char *path,
                             const char **out);
enum ww_code ww_space_strings(const struct space_reader *r, const cJSON *node, const char *path, size_t most,
                              const char ***out, size_t *count);

/* A level that is a number, a text or a boolean; a list of them or a range, for p, whose key is known. */
enum ww_code ww_space_read_level(const struct space_reader *r, const cJSON *node, const char *path,
                                 struct ww_sweep_level *level);
enum ww_code ww_space_read_levels(const struct space_reader *r, const cJSON *node, const char *path,
                                  struct ww_sweep_param *p);
/* "parameters". Those of the program are there already. */
enum ww_code ww_space_read_params(struct space_reader *r, const cJSON *node);
/* The objective of that name that needs no SQL of the user, or NULL. */
const struct ww_sweep_objective *ww_space_objective(const char *name);

#endif
