#define KIT_DEVICE
#include "device.h"
#include <cuda.h>
#include <string.h>

#define X(name) extern "C" const struct kit_kernel kit_kernels_##name[];
#include "modules.def" /* the files of traces/kernels, made by the Makefile */
#undef X

#define BATCH 48 /* launches between two gates */

static const struct {
    const char *name;
    const struct kit_kernel *kernel;
} all_kernels[] = {
#define X(name) {#name, kit_kernels_##name},
#include "modules.def"
#undef X
};

const struct kit_kernel *kit_kernels_of(const char *name) {
    for (const auto &row : all_kernels)
        if (strcmp(row.name, name) == 0) return row.kernel;
    return nullptr;
}

struct ww_device *device_new(struct kit *k) {
    struct ww_device *d = new ww_device;
    d->k = k;
    return d;
}

void device_free(struct ww_device *d) {
    for (auto &m : d->memory) cudaFree((void *)(size_t)m.first);
    for (auto &i : d->image) cudaDestroyTextureObject(i);
    for (auto &s : d->step)
        if (s.copy) cudaFree(s.copy);
    for (auto *m : d->module) delete m;
    delete d;
}

static enum ww_code fail_cuda(struct ww_error *error, const char *what, cudaError_t code) {
    return ww_fail(error, code == cudaErrorMemoryAllocation ? WW_NOMEM : WW_EXEC, what, "%s",
                   cudaGetErrorString(code));
}

#define TRY_CUDA(call)                                                                                         \
    do {                                                                                                       \
        cudaError_t code_ = (call);                                                                            \
        if (code_ != cudaSuccess) return fail_cuda(error, #call, code_);                                       \
    } while (0)

/* ---- memory ---- */

extern "C" enum ww_code ww_device_alloc(struct ww_device *d, size_t bytes, uint64_t *address,
                                        struct ww_error *error) {
    void *p = nullptr;
    if (bytes == 0) return ww_fail(error, WW_USAGE, "alloc", "0 bytes");
    TRY_CUDA(cudaMalloc(&p, bytes));
    d->memory.push_back({(u64)(size_t)p, bytes});
    *address = (uint64_t)(size_t)p;
    return ww_device_memset(d, *address, 0, bytes, error);
}

/* Kept, since a replay uses it again. */
extern "C" enum ww_code ww_device_free(struct ww_device *d, uint64_t address, struct ww_error *error) {
    if (address == 0) return WW_OK;
    for (auto &m : d->memory)
        if (m.first == address) return WW_OK;
    return ww_fail(error, WW_USAGE, "free", "no allocation begins there");
}

/* The same bounds as the recorder's device has. */
static enum ww_code check_range(const struct ww_device *d, u64 address, size_t n, struct ww_error *error) {
    for (auto &m : d->memory)
        if (address >= m.first && address - m.first <= m.second && n <= m.second - (address - m.first))
            return WW_OK;
    return ww_fail(error, WW_USAGE, "copy", "%zu bytes lie outside of every allocation", n);
}

extern "C" enum ww_code ww_device_write(struct ww_device *d, uint64_t address, const void *data, size_t n,
                                        struct ww_error *error) {
    struct kit_step s = {};
    WW_TRY(check_range(d, address, n, error));
    s.kind = kit_step::WRITE;
    s.address = address;
    s.bytes = n;
    TRY_CUDA(cudaMalloc(&s.copy, n ? n : 1));
    d->step.push_back(s);
    TRY_CUDA(cudaMemcpy(s.copy, data, n, cudaMemcpyHostToDevice));
    TRY_CUDA(cudaMemcpy((void *)(size_t)address, data, n, cudaMemcpyHostToDevice));
    return WW_OK;
}

extern "C" enum ww_code ww_device_read(struct ww_device *d, void *data, uint64_t address, size_t n,
                                       struct ww_error *error) {
    WW_TRY(check_range(d, address, n, error));
    TRY_CUDA(cudaMemcpy(data, (const void *)(size_t)address, n, cudaMemcpyDeviceToHost));
    return WW_OK;
}

extern "C" enum ww_code ww_device_memset(struct ww_device *d, uint64_t address, unsigned char value, size_t n,
                                         struct ww_error *error) {
    struct kit_step s = {};
    WW_TRY(check_range(d, address, n, error));
    s.kind = kit_step::FILL;
    s.address = address;
    s.bytes = n;
    s.value = value;
    d->step.push_back(s);
    TRY_CUDA(cudaMemset((void *)(size_t)address, value, n));
    return WW_OK;
}

extern "C" enum ww_code ww_device_texture_u32(struct ww_device *d, uint64_t address, uint64_t count,
                                              uint32_t words, uint64_t *handle, struct ww_error *error) {
    cudaTextureObject_t object = 0;
    cudaResourceDesc resource = {};
    cudaTextureDesc texture = {};
    resource.resType = cudaResourceTypeLinear;
    const cudaChannelFormatDesc format = words == 4   ? cudaCreateChannelDesc<uint4>()
                                         : words == 2 ? cudaCreateChannelDesc<uint2>()
                                                      : cudaCreateChannelDesc<unsigned>();
    resource.res.linear = {(void *)(size_t)address, format, (size_t)count * 4 * words};
    texture.readMode = cudaReadModeElementType;
    TRY_CUDA(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    d->image.push_back(object);
    *handle = object;
    return WW_OK;
}

extern "C" enum ww_code ww_device_image(struct ww_device *d, const struct ww_device_image *image,
                                        uint64_t *handle, struct ww_error *error) {
    cudaTextureObject_t object = 0;
    cudaResourceDesc resource = {};
    cudaTextureDesc texture = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {(void *)(size_t)image->address, cudaCreateChannelDesc<uchar4>(), image->width,
                            image->height, (size_t)image->width * 4};
    texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeWrap;
    texture.filterMode = cudaFilterModeLinear;
    texture.readMode = cudaReadModeNormalizedFloat;
    texture.normalizedCoords = 1;
    TRY_CUDA(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    d->image.push_back(object);
    *handle = object;
    return WW_OK;
}

typedef CUresult (*encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

extern "C" enum ww_code ww_device_map(struct ww_device *, const struct ww_device_matrix *m,
                                      unsigned char map[WW_DEVICE_MAP_BYTES], struct ww_error *error) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CUtensorMap made;
    cuuint64_t dim[] = {m->columns, m->rows}, stride[] = {(cuuint64_t)m->columns * m->element};
    cuuint32_t box[] = {128 / m->element, m->box_rows}, step[] = {1, 1};
#if CUDART_VERSION >= 12050
    TRY_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
#else
    TRY_CUDA(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found));
#endif
    if (found != cudaDriverEntryPointSuccess)
        return ww_fail(error, WW_UNSUPPORTED, "tensor map", "the driver has no tensor maps");
    if (((encode_fn)function)(&made, m->element == 2 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_UINT8,
                              2, (void *)(size_t)m->address, dim, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                              CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        return ww_fail(error, WW_USAGE, "tensor map", "the driver refuses it");
    memcpy(map, &made, sizeof made);
    return WW_OK;
}

/* ---- launches ---- */

extern "C" enum ww_code ww_device_module(struct ww_device *d, const char *name, struct ww_module **module,
                                         struct ww_error *error) {
    for (auto *m : d->module)
        if (m->name == name) {
            *module = m;
            return WW_OK;
        }
    const struct kit_kernel *kernel = kit_kernels_of(name);
    if (!kernel) return ww_fail(error, WW_USAGE, name, "no kernels of that name are linked");
    d->module.push_back(new ww_module{name, kernel});
    *module = d->module.back();
    return WW_OK;
}

/* Kernels are linked, so that a variable is found by its symbol and not by its name: no workload of the kit
 * fills one. */
extern "C" enum ww_code ww_device_variable(struct ww_device *, struct ww_module *, const char *name, bool,
                                           uint64_t *, uint64_t *, struct ww_error *error) {
    return ww_fail(error, WW_UNSUPPORTED, name, "the hardware kit does not fill variables in constant memory");
}

static cudaError_t launch(const struct kit_step &s) {
    std::vector<void *> pointer;
    for (auto &a : s.argument) pointer.push_back((void *)a.data());
    if (!s.cluster.x) return cudaLaunchKernel(s.kernel->function, s.grid, s.block, pointer.data(), s.shared, nullptr);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {s.cluster.x, s.cluster.y, s.cluster.z};
    cudaLaunchConfig_t config = {};
    config.gridDim = s.grid, config.blockDim = s.block, config.dynamicSmemBytes = s.shared;
    config.attrs = &attribute, config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, s.kernel->function, pointer.data());
}

extern "C" void ww_device_cluster(struct ww_device *d, const uint32_t cluster[3]) {
    d->cluster = dim3(cluster[0], cluster[1], cluster[2]);
}

extern "C" enum ww_code ww_device_launch(struct ww_device *d, struct ww_module *module, const char *kernel,
                                         const uint32_t grid[3], const uint32_t block[3],
                                         uint32_t dynamic_shared, const struct ww_arg *args, size_t count,
                                         struct ww_error *error) {
    struct kit_step s = {};
    s.kind = kit_step::LAUNCH;
    for (const struct kit_kernel *row = module->kernel; row->name && !s.kernel; row++)
        if (strcmp(row->name, kernel) == 0) s.kernel = row;
    if (!s.kernel) return ww_fail(error, WW_USAGE, module->name.c_str(), "there is no kernel %s", kernel);
    s.grid = dim3(grid[0], grid[1], grid[2]);
    s.block = dim3(block[0], block[1], block[2]);
    s.shared = dynamic_shared;
    s.cluster = d->cluster;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *p = (const unsigned char *)args[i].data;
        s.argument.emplace_back(p, p + args[i].size);
    }
    if (dynamic_shared > 48 * 1024)
        TRY_CUDA(cudaFuncSetAttribute(s.kernel->function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)dynamic_shared));
    d->step.push_back(s);
    TRY_CUDA(launch(s));
    TRY_CUDA(cudaDeviceSynchronize());
    return WW_OK;
}

size_t device_launches(const struct ww_device *d) {
    size_t n = 0;
    for (auto &s : d->step) n += s.kind == kit_step::LAUNCH;
    return n;
}

/* ---- replays ---- */

static void repeat(struct ww_device *d, const struct kit_step &s) {
    void *at = (void *)(size_t)s.address;
    if (s.kind == kit_step::WRITE) CHECK(d->k, cudaMemcpyAsync(at, s.copy, s.bytes, cudaMemcpyDeviceToDevice));
    if (s.kind == kit_step::FILL) CHECK(d->k, cudaMemsetAsync(at, s.value, s.bytes));
}

void device_replay(struct ww_device *d) {
    size_t n = device_launches(d), i = 0;
    std::vector<cudaEvent_t> event(2 * n);
    for (auto &e : event) CHECK(d->k, cudaEventCreate(&e));
    for (auto &s : d->step) {
        if (s.kind != kit_step::LAUNCH) {
            repeat(d, s);
            continue;
        }
        if (i == 0) kit_flush(d->k);
        if (i % BATCH == 0) {
            CHECK(d->k, cudaDeviceSynchronize());
            kit_gate(d->k, 30 + 8.0 * BATCH);
        }
        CHECK(d->k, cudaEventRecord(event[2 * i]));
        CHECK(d->k, launch(s));
        CHECK(d->k, cudaEventRecord(event[2 * i + 1]));
        i++;
    }
    CHECK(d->k, cudaDeviceSynchronize());
    i = 0;
    for (auto &s : d->step) {
        float ms = 0;
        if (s.kind != kit_step::LAUNCH) continue;
        CHECK(d->k, cudaEventElapsedTime(&ms, event[2 * i], event[2 * i + 1]));
        s.seconds.push_back(ms * 1e-3);
        i++;
    }
    for (auto &e : event) cudaEventDestroy(e);
}
