/* Parameters in which the GPUs of two runs differ, from the configurations that are stored with them: of runs
 * whose overrides are not known, too. */
#include "../estimator/base/err.h"
#include "parts.h"
#include "text.h"
#include <cjson/cJSON.h>
#include <string.h>

enum { MOST = 30, KEYS = 2000 }; /* rows; keys that are looked at, for a database is untrusted */

/* A parameter's value as text; "-" if there is none. */
static void value_of(const cJSON *root, const char *key, char out[80]) {
    const cJSON *item = root ? cJSON_GetObjectItemCaseSensitive(root, key) : NULL;
    char *text = cJSON_IsString(item) ? NULL : item ? cJSON_PrintUnformatted(item) : NULL;
    ww_clean_text(cJSON_IsString(item) ? item->valuestring : text ? text : "-", out, 80);
    cJSON_free(text);
}

static size_t add_changes(struct ww_grid *g, const cJSON *a, const cJSON *b) {
    size_t count = 0, keys = 0;
    for (const cJSON *c = a->child; c && c->string && keys < KEYS; c = c->next, keys++) {
        char key[80], x[80], y[80];
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(b, c->string);
        if (other && cJSON_Compare(c, other, true)) continue;
        if (++count > MOST) continue;
        value_of(a, c->string, x);
        value_of(b, c->string, y);
        ww_clean_text(c->string, key, sizeof key);
        if (count == 1) {
            ww_grid_add(g, "");
            ww_grid_add(g, "base");
            ww_grid_add(g, "new");
        }
        ww_grid_add(g, key);
        ww_grid_add(g, x);
        ww_grid_add(g, y);
    }
    return count;
}

enum ww_code ww_print_gpu_changes(const struct ww_result *a, const struct ww_result *b, FILE *out,
                                  struct ww_error *error) {
    if (strcmp(a->gpu, b->gpu) != 0 || strcmp(a->gpu_json, b->gpu_json) == 0) return WW_OK;
    struct ww_grid g = {.columns = 3, .left = 1u};
    cJSON *x = cJSON_Parse(a->gpu_json), *y = cJSON_Parse(b->gpu_json);
    size_t count = cJSON_IsObject(x) && cJSON_IsObject(y) ? add_changes(&g, x, y) : 0;
    cJSON_Delete(x);
    cJSON_Delete(y);
    if (!count) return WW_OK;
    fputs("\nParameters of the GPU that differ\n", out);
    WW_TRY(ww_grid_print(&g, out, error));
    if (count > MOST) fprintf(out, "  and %zu more\n", count - MOST);
    return WW_OK;
}
