/* Fuzzes how the recording driver and runtime load modules, up to a launch of each kernel of them.
 *
 *     byte 0   how: modules, libraries, files of the driver; fat binaries that a program registers; device
 *              linking
 *     byte 1   what is to be run: bits 0 and 1 choose --code, bits 2 to 4 the architecture
 *     byte 2   how many images there are, 1 to 4
 *     then     each image, all but the last behind 2 bytes that give its length
 *
 * A program hands over an image without its length: each lies at the end of its pages, before memory that
 * cannot be read. */
#include "../../traces/cuda/cu.h"
#include "../../traces/ptx/record/device_internal.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define IMAGES_MAX 4u
#define IMAGE_MAX ((size_t)64 << 10)
#define PAGE ((size_t)4096)
#define MEMORY ((uint64_t)64 << 20)
#define LIMIT 5000u /* thread instructions */
#define PARAMETERS 4096u
#define FIRST_OF_OURS 256u /* descriptors of the driver's own have high numbers */
#define TRIED_MAX 8u       /* kernels and variables of a module */

/* The interface's entry points, as a program declares them. */
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuModuleLoad(struct rt_binary **module, const char *path);
int cuModuleLoadData(struct rt_binary **module, const void *image);
int cuLibraryLoadData(struct rt_binary **library, const void *image, int *options, void **values,
                      unsigned count, int *library_options, void **library_values, unsigned library_count);
int cuModuleUnload(void *module);
int cuModuleGetFunction(struct rt_kernel **function, void *module, const char *name);
int cuModuleGetGlobal_v2(cu_pointer *address, size_t *bytes, void *module, const char *name);
int cuLibraryGetManaged(cu_pointer *address, size_t *bytes, void *library, const char *name);
int cuFuncGetAttribute(int *value, int attribute, struct rt_kernel *function);
int cuFuncGetParamInfo(struct rt_kernel *function, size_t n, size_t *offset, size_t *bytes);
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, struct rt_kernel *function,
                                     size_t (*shared_of)(int block), size_t shared, int limit);
int cuLaunchKernel(struct rt_kernel *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **out);
int cuLinkAddData_v2(void *link, int type, const void *data, size_t n, const char *name, unsigned count,
                     int *options, void **values);
int cuLinkComplete(void *link, void **image, size_t *bytes);
int cuLinkDestroy(void *link);
void **__cudaRegisterFatBinary(void *fatbin);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                            void *tid, void *bid, rt_dim3 *block, rt_dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size,
                       int constant, int global);
int cudaGetSymbolAddress(void **address, const void *symbol);

/* ---- the process's device ---- */

static void watch(void *context, const struct ww_cta_trace *cta) {
    (void)context, (void)cta;
}

static FILE *nowhere;

static void start(void) {
    void *context;
    setenv("WARPWATT_MODELS", "models", 0); /* it is run where the project lies */
    setenv("WARPWATT_PTXAS", "/nowhere/ptxas", 1);
    setenv("WARPWATT_CUDA_QUIET", "1", 1);
    unsetenv("WARPWATT_CUDA_OUT");
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) abort();
    nowhere = fopen("/dev/null", "w");
    if (!nowhere || close_range(FIRST_OF_OURS, ~0u, 0) != 0) abort(); /* no messages */
}

/* Another device for each input, since modules live as long as theirs. */
static void renew(enum ww_record_code code, uint32_t arch) {
    struct ww_error error;
    char name[16];
    snprintf(name, sizeof name, "sm_%u", arch);
    const struct ww_record_options o = {
        .arch = name, .instruction_limit = LIMIT, .kernel_output = nowhere, .code = code};
    ww_device_free_all(ww_rt.device);
    if (ww_device_new(&o, NULL, &ww_rt.device, &error) != WW_OK) abort();
    ww_device_set_memory(ww_rt.device, RT_DEVICE_BASE, MEMORY);
    ww_device_watch(ww_rt.device, watch, NULL);
    ww_rt.options.code = code;
    ww_rt.capability = ww_rt.machine = arch;
    ww_rt.sticky = 0;
}

static void forget(void) {
    while (ww_rt.kernels) {
        struct rt_kernel *next = ww_rt.kernels->next;
        free(ww_rt.kernels->name);
        free(ww_rt.kernels);
        ww_rt.kernels = next;
    }
    while (ww_rt.variables) {
        struct rt_variable *next = ww_rt.variables->next;
        free(ww_rt.variables->name);
        free(ww_rt.variables);
        ww_rt.variables = next;
    }
    while (ww_rt.binaries) {
        struct rt_binary *next = ww_rt.binaries->next;
        struct ww_module *m = ww_rt.binaries->module;
        if (m && ww_rt.binaries->form == WW_IMAGE_FATBIN) /* unpacked, and kept as long as the module */
            free((char *)(uintptr_t)m->ptx_text);
        if (ww_rt.binaries->bytes) free((void *)(uintptr_t)ww_rt.binaries->data);
        free(ww_rt.binaries);
        ww_rt.binaries = next;
    }
}

/* ---- images ---- */

struct image {
    unsigned char *p; /* its end is the end of readable memory, but for what makes it aligned */
    size_t n;
};

static struct image images[IMAGES_MAX];
static unsigned image_count;

/* Room of whole pages for each image, with one behind it that cannot be read. */
static unsigned char *room(unsigned n) {
    static unsigned char *pages[IMAGES_MAX];
    if (pages[n]) return pages[n];
    void *p = mmap(NULL, IMAGE_MAX + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect((unsigned char *)p + IMAGE_MAX, PAGE, PROT_NONE) != 0) abort();
    return pages[n] = p;
}

static void take_images(const uint8_t *data, size_t size, unsigned count) {
    image_count = 0;
    while (image_count < count) {
        size_t n = size;
        if (image_count + 1 < count && size >= 2) {
            n = data[0] | (size_t)data[1] << 8;
            data += 2;
            size -= 2;
            if (n > size) n = size;
        }
        size_t aligned = (n + 7) / 8 * 8;
        if (aligned > IMAGE_MAX) n = aligned = IMAGE_MAX;
        unsigned char *p = room(image_count) + IMAGE_MAX - aligned;
        if (n) memcpy(p, data, n);
        memset(p + n, 0, aligned - n);
        images[image_count++] = (struct image){p, n};
        data += n;
        size -= n;
    }
}

/* ---- what a program does with a module ---- */

static void launch(struct rt_kernel *k) {
    static unsigned char buffer[PARAMETERS];
    size_t bytes = sizeof buffer, offset, n;
    int value, grid, block;
    void *extra[] = {(void *)1, buffer, (void *)2, &bytes, NULL};
    for (int a = 0; a < 10; a++) cuFuncGetAttribute(&value, a, k);
    for (size_t p = 0; cuFuncGetParamInfo(k, p, &offset, &n) == 0 && p < 5000; p++)
        if (n > bytes) break;
    cuOccupancyMaxPotentialBlockSize(&grid, &block, k, NULL, 0, 0);
    cuLaunchKernel(k, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra);
    ww_rt.sticky = 0;
}

/* Names of a module's kernels and variables, in its machine code or its PTX. */
static size_t kernel_names(const struct ww_module *m, const char *out[TRIED_MAX]) {
    size_t count = 0;
    for (size_t n = 0; m->code && n < m->code->cubin->kernel_count && count < TRIED_MAX; n++)
        out[count++] = m->code->cubin->kernels[n].name;
    for (size_t n = 0; m->ptx && n < m->ptx->func_count && count < TRIED_MAX; n++)
        out[count++] = m->ptx->func[n]->name;
    return count;
}

static size_t variable_names(const struct ww_module *m, const char *out[TRIED_MAX]) {
    size_t count = 0;
    for (size_t n = 0; m->code && n < m->code->cubin->variable_count && count < TRIED_MAX; n++)
        out[count++] = m->code->cubin->variables[n].name;
    for (size_t n = 0; m->ptx && n < m->ptx->symbol_count && count < TRIED_MAX; n++)
        out[count++] = m->ptx->symbol[n]->name;
    return count;
}

static void use(struct rt_binary *b) {
    const char *name[TRIED_MAX];
    struct rt_kernel *k;
    cu_pointer at;
    size_t bytes, n = variable_names(b->module, name);
    for (size_t v = 0; v < n; v++)
        if (cuModuleGetGlobal_v2(&at, &bytes, b, name[v]) == 0 && v % 2)
            cuLibraryGetManaged(&at, &bytes, b, name[v]);
    n = kernel_names(b->module, name);
    for (size_t f = 0; f < n; f++)
        if (cuModuleGetFunction(&k, b, name[f]) == 0) launch(k);
}

static void loaded(struct rt_binary *b, int code) {
    if (code) return;
    use(b);
    if (cuModuleUnload(b) != 0) abort();
}

static void load(bool library, const void *image) {
    struct rt_binary *b = NULL;
    int code =
        library ? cuLibraryLoadData(&b, image, NULL, NULL, 0, NULL, NULL, 0) : cuModuleLoadData(&b, image);
    loaded(b, code);
}

static void load_file(const struct image *m) {
    struct rt_binary *b = NULL;
    char path[40];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, m->p, m->n) != (ssize_t)m->n) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int code = cuModuleLoad(&b, path);
    loaded(b, code);
    close(fd);
}

/* Names that the images of the corpus have: a program registers them before anything is loaded. */
static void register_all(void **handle) {
    static const char *const names[] = {"k",    "other", "saxpy", "count", "v",
                                        "zero", "c",     "scale", "hits",  "where"};
    static char host[sizeof names / sizeof names[0]][2];
    void *address;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        __cudaRegisterFunction(handle, &host[n][0], NULL, names[n], -1, NULL, NULL, NULL, NULL, NULL);
        __cudaRegisterVar(handle, &host[n][1], NULL, names[n], 0, 4, 0, 1);
    }
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        cudaGetSymbolAddress(&address, &host[n][1]);
        struct rt_kernel *k = ww_rt_find_kernel(&host[n][0]);
        if (k && ww_rt_use_kernel(k) == 0) launch(k);
    }
}

/* As nvcc's start-up code: the first image is the fat binary, the others those that it was linked from. */
static void registered(bool linked) {
    const void *list[IMAGES_MAX] = {0};
    struct rt_wrapper w = {RT_WRAPPER_MAGIC, linked ? 2 : 1, images[0].p, list};
    for (unsigned n = 1; n < image_count; n++) list[n - 1] = images[n].p;
    register_all(__cudaRegisterFatBinary(&w));
}

static void link_all(unsigned types) {
    void *link, *image;
    size_t bytes;
    if (cuLinkCreate_v2(0, NULL, NULL, &link) != 0) abort();
    for (unsigned n = 0; n < image_count; n++)
        cuLinkAddData_v2(link, (int)(types >> 2 * n & 3), images[n].p, images[n].n, "fuzz", 0, NULL, NULL);
    if (cuLinkComplete(link, &image, &bytes) == 0) load(false, image);
    cuLinkDestroy(link);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint32_t archs[] = {70, 75, 80, 86, 89, 90, 100, 120};
    static const enum ww_record_code codes[] = {WW_RECORD_SASS, WW_RECORD_PTX, WW_RECORD_AUTO, WW_RECORD_AUTO};
    if (size < 4) return 0;
    if (!nowhere) start();
    renew(codes[data[1] % 4], archs[data[1] / 4 % 8]);
    take_images(data + 3, size - 3, 1 + data[2] % IMAGES_MAX);
    unsigned how = data[0] % 8;
    if (how < 2)
        for (unsigned n = 0; n < image_count; n++) load(how == 1, images[n].p);
    else if (how < 4)
        registered(how == 3);
    else if (how == 4)
        register_all(__cudaRegisterFatBinary(images[0].p));
    else if (how == 5)
        link_all((unsigned)data[2] >> 2);
    else
        load_file(&images[0]);
    forget();
    return 0;
}
