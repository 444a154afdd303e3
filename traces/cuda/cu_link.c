/* cu_link.c: the driver's interface: device linking. Modules of PTX, alone or in fat binaries, become the text
 * of one, which cuModuleLoadData takes; one cubin alone is returned as it is. */
#include "../../estimator/base/buf.h"
#include "../../estimator/config/json.h"
#include "../ptx/front/link.h"
#include "../sass/cubin/cubin.h"
#include "../sass/cubin/fatbin.h"
#include "cu.h"
#include <stdlib.h>
#include <string.h>

enum { INPUT_CUBIN, INPUT_PTX, INPUT_FATBIN, INPUT_OBJECT, INPUT_LIBRARY, INPUTS };

#define MODULES_MAX 1024u
#define FILE_MAX ((size_t)1 << 30)

struct cu_link {
    struct ww_ptx_module module[MODULES_MAX];
    size_t count;
    unsigned char *cubin;
    size_t cubin_bytes;
    struct ww_buf out;
    struct cu_link *next;
};
static struct cu_link *links;

static struct cu_link **known(const struct cu_link *l) {
    struct cu_link **at = &links;
    while (*at && *at != l) at = &(*at)->next;
    return at;
}

static int add_text(struct cu_link *l, char *text, size_t n, const char *name) {
    char *where = strdup(name ? name : "PTX");
    if (!text || !where || l->count == MODULES_MAX) {
        free(text);
        free(where);
        return RT_ERROR_MEMORY_ALLOCATION;
    }
    l->module[l->count++] = (struct ww_ptx_module){.text = text, .n = n, .where = where};
    return 0;
}

static int add_cubin(struct cu_link *l, unsigned char *bytes, size_t n) {
    if (!bytes || l->cubin) {
        free(bytes);
        if (!bytes) return RT_ERROR_MEMORY_ALLOCATION;
        ww_rt_say("cuLinkAddData: machine code of several modules would have to be linked, which is not "
                  "supported: give their PTX, or link them with nvlink or nvJitLink");
        return RT_ERROR_NOT_SUPPORTED;
    }
    l->cubin = bytes;
    l->cubin_bytes = n;
    return 0;
}

static int add_fatbin(struct cu_link *l, const void *data, size_t n, const char *name) {
    struct fatbin_summary s;
    struct ww_error error = {0};
    char *text;
    size_t bytes;
    if (ww_fatbin_choose(data, n, name, ww_rt.capability, &s, &error) != WW_OK)
        return ww_rt_say_error(&error, RT_ERROR_INVALID_KERNEL_IMAGE);
    if (!s.found) {
        ww_rt_say("cuLinkAddData: %s is a fat binary without PTX: only PTX is linked", name);
        return RT_ERROR_NOT_SUPPORTED;
    }
    if (ww_fatbin_text(&s.ptx, name, &text, &bytes, &error) != WW_OK)
        return ww_rt_say_error(&error, RT_ERROR_INVALID_KERNEL_IMAGE);
    return add_text(l, text, bytes, name);
}

/* `n` bytes that the program vouches for. PTX may count the 0 at its end. */
static int add(struct cu_link *l, int type, const void *data, size_t n, const char *name) {
    if (!name) name = "a module";
    if (type == INPUT_PTX) return add_text(l, strndup(data, n), strnlen(data, n), name);
    if (type == INPUT_FATBIN) return add_fatbin(l, data, n, name);
    if (type == INPUT_CUBIN) {
        enum ww_image_form form;
        if (ww_image_bytes(data, n, &form) == 0 || form != WW_IMAGE_CUBIN) {
            ww_rt_say("cuLinkAddData: %s: expected a cubin, whose sections lie within its %zu bytes", name, n);
            return RT_ERROR_INVALID_KERNEL_IMAGE;
        }
        unsigned char *copy = malloc(n);
        if (copy) memcpy(copy, data, n);
        return add_cubin(l, copy, n);
    }
    ww_rt_say("cuLinkAddData: %s is an object or a library: only PTX, fat binaries with PTX, and one cubin are "
              "linked",
              name);
    return RT_ERROR_NOT_SUPPORTED;
}

/* Options are of the just-in-time compiler, which ptxas or the recorder stands for. */
RT_EXPORT int cuLinkCreate_v2(unsigned count, int *options, void **values, struct cu_link **out) {
    CU_CONTEXT;
    (void)count, (void)options, (void)values;
    struct cu_link *l = out ? calloc(1, sizeof *l) : NULL;
    if (!l) return out ? RT_ERROR_MEMORY_ALLOCATION : RT_ERROR_INVALID_VALUE;
    l->next = links;
    links = l;
    *out = l;
    return 0;
}
RT_ALIAS(cuLinkCreate, cuLinkCreate_v2)

RT_EXPORT int cuLinkAddData_v2(struct cu_link *link, int type, const void *data, size_t n, const char *name,
                               unsigned count, int *options, void **values) {
    CU_CONTEXT;
    (void)count, (void)options, (void)values;
    if (!*known(link)) return CU_INVALID_HANDLE;
    if (!data || type < 0) return RT_ERROR_INVALID_VALUE;
    return ww_cu_code(add(link, type, data, n, name));
}
RT_ALIAS(cuLinkAddData, cuLinkAddData_v2)

RT_EXPORT int cuLinkAddFile_v2(struct cu_link *link, int type, const char *path, unsigned count, int *options,
                               void **values) {
    CU_CONTEXT;
    struct ww_buf text = {0};
    struct ww_error error = {0};
    (void)count, (void)options, (void)values;
    if (!*known(link)) return CU_INVALID_HANDLE;
    if (!path || type < 0) return RT_ERROR_INVALID_VALUE;
    int code = ww_read_file(path, FILE_MAX, &text, &error) == WW_OK
                   ? ww_cu_code(add(link, type, text.p ? text.p : "", text.n, path))
                   : ww_rt_say_error(&error, RT_ERROR_FILE_NOT_FOUND);
    ww_buf_free(&text);
    return code;
}
RT_ALIAS(cuLinkAddFile, cuLinkAddFile_v2)

/* What was linked belongs to the link. */
RT_EXPORT int cuLinkComplete(struct cu_link *link, void **image, size_t *bytes) {
    CU_CONTEXT;
    struct ww_error error = {0};
    if (!*known(link)) return CU_INVALID_HANDLE;
    if (!image) return RT_ERROR_INVALID_VALUE;
    if (link->cubin && link->count) {
        ww_rt_say(
            "cuLinkComplete: PTX and machine code would have to be linked together, which is not supported");
        return RT_ERROR_NOT_SUPPORTED;
    }
    ww_buf_clear(&link->out);
    if (!link->cubin && ww_ptx_link(link->module, link->count, &link->out, &error) != WW_OK)
        return ww_rt_say_error(&error, RT_ERROR_INVALID_PTX);
    *image = link->cubin ? (void *)link->cubin : (void *)link->out.p;
    if (bytes) *bytes = link->cubin ? link->cubin_bytes : link->out.n + 1;
    return *image ? 0 : RT_ERROR_INVALID_VALUE;
}

RT_EXPORT int cuLinkDestroy(struct cu_link *link) {
    CU_CONTEXT;
    struct cu_link **at = known(link);
    if (!*at) return CU_INVALID_HANDLE;
    *at = link->next;
    for (size_t n = 0; n < link->count; n++) {
        free((char *)(uintptr_t)link->module[n].text);
        free((char *)(uintptr_t)link->module[n].where);
    }
    free(link->cubin);
    ww_buf_free(&link->out);
    free(link);
    return 0;
}
