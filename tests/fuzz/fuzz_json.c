/* Fuzzes the JSON reader: first through the GPU rows, then the same text as a whole model file would go. */
#include "../../estimator/config/gpu.h"
#include "../../estimator/config/json.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const reserved[] = {"inherits", "sources", "description", NULL};
    cJSON *root;
    struct ww_error error = {.code = WW_OK};
    enum ww_code code = ww_json_parse((const char *)data, size, "fuzz.json", &root, &error);
    if (code != WW_OK) {
        if (error.code != code || !error.text[0] || root) abort(); /* each failure says what was wrong */
        return 0;
    }
    struct ww_arena arena;
    ww_arena_init(&arena, (size_t)16 << 20);
    struct ww_gpu_spec spec;
    ww_param_defaults(ww_gpu_rows, ww_gpu_row_count, &spec);
    const char **source = ww_arena_array(&arena, ww_gpu_row_count, sizeof *source);
    struct ww_json_reader reader = {.file = "fuzz.json",
                                    .rows = ww_gpu_rows,
                                    .count = ww_gpu_row_count,
                                    .object = &spec,
                                    .source = source,
                                    .arena = &arena,
                                    .sources = cJSON_GetObjectItemCaseSensitive(root, "sources")};
    code = ww_json_read_params(&reader, root, "$", reserved, &error);
    if (code == WW_OK) code = ww_gpu_check(&spec, "fuzz.json", &error);
    if (code != WW_OK && (error.code != code || !error.where[0])) abort();
    cJSON_Delete(root);
    ww_arena_free(&arena);
    return 0;
}
