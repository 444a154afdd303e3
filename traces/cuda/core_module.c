/* core_module.c: loading of fat binaries, and the kernels and variables that they hold. */
#include "../../estimator/api/record.h"
#include "../sass/cubin/cubin.h"
#include "../ptx/front/link.h"
#include "../refused_call.h"
#include "../sass/cubin/fatbin.h"
#include "core.h"
#include <stdlib.h>
#include <string.h>

static int no_ptx(const struct fatbin_summary *s) {
    if (s->elf_count && ww_rt.options.code == WW_RECORD_PTX)
        ww_rt_say(
            "this program holds machine code for sm_%u and no PTX, which is what was asked for; leave out "
            "--code ptx, or compile it with PTX, for example -gencode arch=compute_%u,code=compute_%u",
            s->elf_arch, s->elf_arch, s->elf_arch);
    else if (s->elf_count)
        ww_rt_say("this program holds machine code for sm_%u and no PTX; it does not run on the chosen GPU "
                  "(sm_%u): choose "
                  "another one with --gpu or --arch, or compile the program with PTX, for example -gencode "
                  "arch=compute_%u,code=compute_%u",
                  s->elf_arch, ww_rt.machine, s->elf_arch, s->elf_arch);
    else
        ww_rt_say("a registered fat binary holds neither PTX nor machine code");
    return RT_ERROR_NO_KERNEL_IMAGE_FOR_DEVICE;
}

static int code_of(const struct ww_error *error) {
    if (error->code == WW_UNSUPPORTED) return RT_ERROR_NOT_SUPPORTED;
    return error->code == WW_NOMEM ? RT_ERROR_MEMORY_ALLOCATION : RT_ERROR_INVALID_PTX;
}

/* The PTX of one module of a device link; *text is NULL if it holds none. */
static int module_text(const void *data, const char *name, char **text, size_t *n) {
    struct fatbin_summary s;
    struct ww_error error = {0};
    *text = NULL;
    if (ww_fatbin_choose(data, ww_rt_readable(data), name, ww_rt.capability, &s, NULL) != WW_OK || !s.found)
        return 0;
    if (ww_fatbin_text(&s.ptx, name, text, n, &error) == WW_OK) return 0;
    return ww_rt_say_error(&error, code_of(&error));
}

static int link_texts(const struct ww_ptx_module *module, size_t count, char **text, size_t *n) {
    struct ww_error error = {0};
    struct ww_buf out = {0};
    if (ww_ptx_link(module, count, &out, &error) != WW_OK) {
        ww_buf_free(&out);
        return ww_rt_say_error(&error, code_of(&error));
    }
    *text = out.p;
    *n = out.n;
    return 0;
}

#define LINKED_MAX 4096

/* nvcc links libcudadevrt into all relocatable code; its kernels are for launches from kernels. */
static bool is_device_runtime(const char *text) {
    return strstr(text, "cuda_device_runtime_cu") != NULL;
}

/* The device runtime's PTX cannot be linked: so a launch from a kernel is reported before that. */
static int check_calls(const char *text, const char *name) {
    const char *refused = is_device_runtime(text) ? NULL : ww_refused_call(text);
    if (!refused) return 0;
    ww_rt_say("%s: a kernel calls for %s", name, refused);
    return RT_ERROR_NOT_SUPPORTED;
}

static bool is_name(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '$';
}

static bool has_word(const char *text, const char *word) {
    size_t n = strlen(word);
    for (const char *p = text; n && (p = strstr(p, word)); p++)
        if ((p == text || !is_name(p[-1])) && !is_name(p[n])) return true;
    return false;
}

/* True if the text names a kernel or a variable that the program registered with the binary. */
static bool has_registered(const struct rt_binary *b, const char *text) {
    for (const struct rt_kernel *k = ww_rt.kernels; k; k = k->next)
        if (k->binary == b && has_word(text, k->name)) return true;
    for (const struct rt_variable *v = ww_rt.variables; v; v = v->next)
        if (v->binary == b && has_word(text, v->name)) return true;
    return false;
}

/* The text of all modules of a device link; *text is NULL if there are none. */
static int linked_text(const struct rt_binary *b, const char *name, char **text, size_t *n) {
    struct ww_ptx_module *module = calloc(LINKED_MAX, sizeof *module);
    size_t count = 0;
    int code = module ? 0 : RT_ERROR_MEMORY_ALLOCATION;
    *text = NULL;
    for (const void *const *p = b->linked;
         !code && p && count < LINKED_MAX && ww_rt_readable(p) >= sizeof *p && *p; p++) {
        char *part;
        code = module_text(*p, name, &part, &module[count].n);
        if (code || !part) continue;
        module[count].where = name;
        module[count].library = is_device_runtime(part) || !has_registered(b, part);
        module[count++].text = part;
        code = check_calls(part, name);
    }
    if (!code && count) code = link_texts(module, count, text, n);
    for (size_t k = 0; k < count; k++) free((char *)(uintptr_t)module[k].text);
    free(module);
    return code;
}

/* The PTX to load: the binary's own, or that of the modules that it was linked from. */
static int choose(const struct rt_binary *b, const char *name, char **text, size_t *n) {
    struct ww_error error = {0};
    struct fatbin_summary s;
    enum ww_code code =
        ww_fatbin_choose(b->data, ww_rt_readable(b->data), "fat binary", ww_rt.capability, &s, &error);
    if (code != WW_OK) return ww_rt_say_error(&error, RT_ERROR_INVALID_KERNEL_IMAGE);
    if (s.found) {
        code = ww_fatbin_text(&s.ptx, name, text, n, &error);
        return code == WW_OK ? 0 : ww_rt_say_error(&error, code_of(&error));
    }
    int failed = linked_text(b, name, text, n);
    return failed || *text ? failed : no_ptx(&s);
}

/* The PTX that machine code may fall back to; *text is NULL if there is none. */
static void beside(const struct rt_binary *b, const char *name, char **text, size_t *n) {
    struct fatbin_summary s;
    *text = NULL;
    *n = 0;
    if (ww_fatbin_choose(b->data, ww_rt_readable(b->data), name, ww_rt.capability, &s, NULL) != WW_OK ||
        !s.found)
        return;
    if (ww_fatbin_text(&s.ptx, name, text, n, NULL) != WW_OK) *text = NULL;
}

/* Loads the program's own machine code. *done is false if there is none that runs on the chosen GPU, or it
 * cannot be used and there is PTX. */
static int load_machine(struct rt_binary *b, const char *name, bool *done) {
    struct fatbin_machine machine;
    struct ww_error error = {0};
    char origin[64], *text;
    size_t n;
    *done = false;
    if (ww_fatbin_machine(b->data, ww_rt_readable(b->data), name, ww_rt.machine, &machine, &error) != WW_OK)
        return ww_rt_say_error(&error, RT_ERROR_INVALID_KERNEL_IMAGE);
    if (!machine.found) return 0;
    snprintf(origin, sizeof origin, "sm_%u of the program", machine.arch);
    beside(b, name, &text, &n);
    const struct ww_cubin_source source = {.data = machine.bytes, .n = machine.n, .origin = origin};
    enum ww_code code = ww_device_module_cubin(ww_rt.device, &source, text, n, name, &b->module, &error);
    free(machine.bytes);
    *done = code == WW_OK || !text || ww_rt.options.code == WW_RECORD_SASS;
    if (code == WW_OK) return 0; /* the module keeps pointing into the text */
    ww_rt_say_error(&error, 0);
    free(text);
    return *done ? code_of(&error) : 0;
}

static int load_ptx(struct rt_binary *b, const char *name) {
    struct ww_error error = {0};
    char *text = NULL;
    size_t n = 0;
    int refused = choose(b, name, &text, &n);
    if (refused) return refused;
    enum ww_code code = ww_device_module_text(ww_rt.device, text, n, name, &b->module, &error);
    if (code != WW_OK) { /* the module keeps pointing into the text otherwise */
        free(text);
        return ww_rt_say_error(&error, code_of(&error));
    }
    return 0;
}

/* Machine code that is no part of a fat binary. */
static int load_cubin(struct rt_binary *b, const char *name) {
    struct ww_error error = {0};
    struct ww_cubin *cubin;
    char origin[64];
    if (ww_rt.options.code == WW_RECORD_PTX || ww_rt.machine < 70) {
        ww_rt_say("%s is machine code, and PTX is what is to be recorded", name);
        return RT_ERROR_NO_KERNEL_IMAGE_FOR_DEVICE;
    }
    if (ww_cubin_read(b->data, b->bytes, name, &cubin, &error) != WW_OK)
        return ww_rt_say_error(&error, RT_ERROR_INVALID_KERNEL_IMAGE);
    uint32_t arch = cubin->arch;
    bool runs =
        cubin->specific ? arch == ww_rt.machine : arch / 10 == ww_rt.machine / 10 && arch <= ww_rt.machine;
    ww_cubin_free(cubin);
    if (!runs) {
        ww_rt_say("%s is machine code for sm_%u: it does not run on the chosen GPU (sm_%u)", name, arch,
                  ww_rt.machine);
        return RT_ERROR_NO_KERNEL_IMAGE_FOR_DEVICE;
    }
    snprintf(origin, sizeof origin, "sm_%u of the program", arch);
    const struct ww_cubin_source source = {.data = b->data, .n = b->bytes, .origin = origin};
    if (ww_device_module_cubin(ww_rt.device, &source, NULL, 0, name, &b->module, &error) != WW_OK)
        return ww_rt_say_error(&error, code_of(&error));
    return 0;
}

static int load_text(struct rt_binary *b, const char *name) {
    struct ww_error error = {0};
    if (ww_device_module_text(ww_rt.device, b->data, b->bytes, name, &b->module, &error) == WW_OK) return 0;
    return ww_rt_say_error(&error, code_of(&error));
}

static int load(struct rt_binary *b) {
    static unsigned number;
    char name[40];
    bool done = false;
    number++;
    if (b->form != WW_IMAGE_FATBIN) {
        snprintf(name, sizeof name, "%s %u", b->form == WW_IMAGE_CUBIN ? "cubin" : "PTX", number);
        return b->form == WW_IMAGE_CUBIN ? load_cubin(b, name) : load_text(b, name);
    }
    if (ww_rt.options.code != WW_RECORD_PTX && ww_rt.machine >= 70) {
        snprintf(name, sizeof name, "fat binary %u", number);
        int code = load_machine(b, name, &done);
        if (done || code) return code;
    }
    snprintf(name, sizeof name, "PTX of fat binary %u", number);
    return load_ptx(b, name);
}

int ww_rt_load(struct rt_binary *b) {
    if (!b) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    if (!b->tried) {
        b->tried = true;
        b->code = load(b);
    }
    return b->code;
}

struct rt_kernel *ww_rt_find_kernel(const void *host) {
    for (struct rt_kernel *k = ww_rt.kernels; k; k = k->next)
        if (k->host == host || (const void *)k == host) return k;
    return NULL;
}

int ww_rt_use_kernel(struct rt_kernel *k) {
    if (!k) return RT_ERROR_INVALID_DEVICE_FUNCTION;
    int code = ww_rt_load(k->binary);
    if (code) return code;
    if (ww_module_has_kernel(ww_rt.device, k->binary->module, k->name)) return 0;
    if (!k->refused) ww_rt_say("the program's PTX has no kernel '%s'", k->name);
    k->refused = true;
    return RT_ERROR_INVALID_DEVICE_FUNCTION;
}

int ww_rt_symbol(const void *symbol, uint64_t *address, uint64_t *bytes) {
    struct ww_error error = {0};
    for (struct rt_variable *v = ww_rt.variables; v; v = v->next) {
        if (v->host != symbol) continue;
        int code = ww_rt_load(v->binary);
        if (code) return code;
        if (ww_device_variable(ww_rt.device, v->binary->module, v->name, false, address, bytes, &error) !=
            WW_OK)
            return ww_rt_say_error(&error, RT_ERROR_INVALID_SYMBOL);
        return 0;
    }
    return RT_ERROR_INVALID_SYMBOL;
}

/* ---- what a program registers or loads ---- */

struct rt_binary *ww_rt_add_binary(const void *data, const void *const *linked) {
    struct rt_binary *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->self = b;
    b->data = data;
    b->linked = linked;
    b->next = ww_rt.binaries;
    ww_rt.binaries = b;
    return b;
}

struct rt_kernel *ww_rt_add_kernel(struct rt_binary *binary, const void *host, const char *name) {
    struct rt_kernel *k = calloc(1, sizeof *k);
    if (k) k->name = strdup(name);
    if (!k || !k->name) {
        free(k);
        return NULL;
    }
    k->host = host ? host : k;
    k->binary = binary;
    k->next = ww_rt.kernels;
    ww_rt.kernels = k;
    return k;
}

struct rt_variable *ww_rt_add_variable(struct rt_binary *binary, const void *host, const char *name,
                                       size_t bytes) {
    struct rt_variable *v = calloc(1, sizeof *v);
    if (v) v->name = strdup(name);
    if (!v || !v->name) {
        free(v);
        return NULL;
    }
    v->host = host;
    v->binary = binary;
    v->size = bytes;
    v->next = ww_rt.variables;
    ww_rt.variables = v;
    return v;
}

int ww_rt_variable(struct rt_binary *b, const char *name, uint64_t *address, uint64_t *bytes) {
    struct ww_error error = {0};
    if (ww_device_variable(ww_rt.device, b->module, name, false, address, bytes, &error) == WW_OK) return 0;
    return error.code == WW_USAGE ? RT_ERROR_SYMBOL_NOT_FOUND
                                  : ww_rt_say_error(&error, RT_ERROR_INVALID_SYMBOL);
}

int ww_rt_share_variable(struct rt_binary *b, const char *name, uint64_t *address) {
    struct ww_error error = {0};
    uint64_t bytes;
    if (ww_device_variable(ww_rt.device, b->module, name, true, address, &bytes, &error) == WW_OK) return 0;
    return ww_rt_say_error(&error, RT_ERROR_INVALID_SYMBOL);
}

bool ww_rt_has_kernel(struct rt_binary *b, const char *name) {
    return ww_module_has_kernel(ww_rt.device, b->module, name);
}

int ww_rt_load_bytes(const void *image, uint64_t n, struct rt_binary **out) {
    enum ww_image_form form;
    uint64_t bytes = ww_image_bytes(image, n, &form);
    if (bytes == 0) {
        ww_rt_say("what the program loads is neither a fat binary, nor machine code, nor PTX that ends with 0");
        return RT_ERROR_INVALID_KERNEL_IMAGE;
    }
    unsigned char *copy = malloc(bytes + 1);
    struct rt_binary *b = copy ? ww_rt_add_binary(copy, NULL) : NULL;
    if (!b) {
        free(copy);
        return RT_ERROR_MEMORY_ALLOCATION;
    }
    memcpy(copy, image, bytes);
    copy[bytes] = 0;
    b->bytes = bytes;
    b->form = form;
    b->references = 1;
    *out = b;
    return ww_rt_load(b);
}

int ww_rt_load_image(const void *image, struct rt_binary **out) {
    const struct rt_wrapper *w = image;
    if (!image) return RT_ERROR_INVALID_VALUE;
    if (ww_rt_readable(image) >= sizeof *w && w->magic == RT_WRAPPER_MAGIC) image = w->data;
    return ww_rt_load_bytes(image, ww_rt_readable(image), out);
}
