/* json.h: reading JSON over parameter rows, on top of cJSON.
 *
 * Every error names the file and the JSON path ("models/gtx480.json: $.sm.count: ..."). A key that no row
 * and no reserved name knows is an error, so that nothing is ever silently ignored; a key given twice in
 * one object is an error. Files over 16 MiB and nesting over 64 levels are refused.
 */
#ifndef WW_CONFIG_JSON_H
#define WW_CONFIG_JSON_H

#include "param.h"
#include <cjson/cJSON.h>

/* Reads a whole file (NUL added behind) of at most `limit` bytes into *out (caller frees with
 * ww_buf_free). Errors: WW_IO, WW_INPUT (too large). Refuses directories; reads pipes. */
enum ww_code ww_read_file(const char *path, size_t limit, struct ww_buf *out, struct ww_error *error);
/* Parses text; errors carry line and column. Free with cJSON_Delete. */
enum ww_code ww_json_parse(const char *text, size_t n, const char *where, cJSON **out, struct ww_error *error);
enum ww_code ww_json_load(const char *path, cJSON **out, struct ww_error *error);

/* Where a value came from; sources[i] belongs to rows[i]; strings live in the arena given. */
struct ww_json_reader {
    const char *file;
    const struct ww_param *rows;
    size_t count;
    void *object;
    bool *seen;          /* one per row, may be NULL */
    const char **source; /* one per row, may be NULL */
    struct ww_arena *arena;
    const cJSON *sources; /* object of source texts by short name, or NULL */
    bool need_source;     /* every figure must carry one */
};

/* Reads `node` (an object; nested objects join keys with dots) over the rows. A leaf is a plain value or
 * {"value": v, "source": "text or short name", "note": "..."}. `path` is "$" or the path so far.
 * `reserved` is a NULL-ended list of top-level keys to pass over. Errors: WW_INPUT. */
enum ww_code ww_json_read_params(struct ww_json_reader *r, const cJSON *node, const char *path,
                                 const char *const *reserved, struct ww_error *error);

/* Small typed getters for structures that are not parameter rows; errors name the path. */
enum ww_code ww_json_get_number(const cJSON *object, const char *key, const char *where, double min, double max,
                                double *out, struct ww_error *error);
enum ww_code ww_json_get_string(const cJSON *object, const char *key, const char *where, const char **out,
                                struct ww_error *error);
/* Fails on any key of `object` that is not in the NULL-ended list. */
enum ww_code ww_json_only_keys(const cJSON *object, const char *const *keys, const char *where,
                               struct ww_error *error);

#endif
