/* Fuzzes the JSON reader and the rules of a GPU: the text replaces keys of a complete model, as a model file
 * replaces those of the one that it inherits. Run from the repository's root, where models/ is. */
#include "../../estimator/config/gpu.h"
#include "../../estimator/config/json.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A key that has no default is never 0 when the rules see it: a load refuses it as missing before. */
static const struct ww_gpu_spec *complete_model(void) {
    static struct ww_gpu *gpu;
    struct ww_error error;
    if (!gpu && ww_gpu_load("v100", NULL, 0, &gpu, &error) != WW_OK) abort();
    return &gpu->spec;
}

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
    struct ww_gpu_spec spec = *complete_model();
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
