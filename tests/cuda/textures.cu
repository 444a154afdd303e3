// Texture and surface objects: linear memory, pitched memory, arrays of 1 to 3 dimensions, layers; filtering, addressing.
#include "check.h"
#include <cmath>
#include <vector>

__global__ void fetch_linear(cudaTextureObject_t t, int *out, int n) {
    int i = threadIdx.x;
    if (i < n + 2) out[i] = tex1Dfetch<int>(t, i - 1); // one outside on each side
}
__global__ void read_2d(cudaTextureObject_t t, float *out, int w, int h, float scale_x, float scale_y, float shift) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x < w && y < h) out[y * w + x] = tex2D<float>(t, (x + 0.5f + shift) * scale_x, (y + 0.5f + shift) * scale_y);
}
__global__ void read_bytes(cudaTextureObject_t t, float4 *out, cudaTextureObject_t raw, uchar4 *bytes) {
    out[threadIdx.x] = tex1D<float4>(t, threadIdx.x + 0.5f);
    bytes[threadIdx.x] = tex1D<uchar4>(raw, threadIdx.x + 0.5f);
}
__global__ void read_3d(cudaTextureObject_t t, float *out) {
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    out[(z * 4 + y) * 4 + x] = tex3D<float>(t, x + 0.5f, y + 0.5f, z + 0.75f);
}
__global__ void read_layer(cudaTextureObject_t t, float *out, int layer) {
    out[threadIdx.y * 4 + threadIdx.x] = tex2DLayered<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f, layer);
}
__global__ void invert(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w, int h) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x >= w || y >= h) return;
    uchar4 v = surf2Dread<uchar4>(from, x * 4, y);
    surf2Dwrite(make_uchar4(255 - v.x, v.y, v.z, y), to, x * 4, y);
}

static cudaTextureObject_t make(const cudaResourceDesc &r, cudaTextureFilterMode filter, cudaTextureReadMode read,
                                bool normalized, cudaTextureAddressMode mode) {
    cudaTextureDesc d = {};
    for (int n = 0; n < 3; n++) d.addressMode[n] = mode;
    d.filterMode = filter;
    d.readMode = read;
    d.normalizedCoords = normalized;
    cudaTextureObject_t t = 0;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

static void linear() {
    int h[20], *d, *out, got[22];
    for (int i = 0; i < 20; i++) h[i] = 100 - 7 * i;
    CHECK(cudaMalloc(&d, sizeof h));
    CHECK(cudaMalloc(&out, sizeof got));
    CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = d;
    r.res.linear.desc = cudaCreateChannelDesc<int>();
    r.res.linear.sizeInBytes = sizeof h;
    cudaTextureObject_t t = make(r, cudaFilterModePoint, cudaReadModeElementType, false, cudaAddressModeClamp);
    fetch_linear<<<1, 32>>>(t, out, 20);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 22; i++) EXPECT(got[i] == (i == 0 || i == 21 ? 0 : h[i - 1]));
    CHECK(cudaDestroyTextureObject(t));
    EXPECT(cudaDestroyTextureObject(t) == cudaErrorInvalidValue);
}

static float at(const std::vector<float> &v, int w, int h, int x, int y, bool wrap) {
    x = wrap ? (x % w + w) % w : x < 0 ? 0 : x >= w ? w - 1 : x;
    y = wrap ? (y % h + h) % h : y < 0 ? 0 : y >= h ? h - 1 : y;
    return v[y * w + x];
}

static void two_dimensions(bool pitched) {
    const int w = 13, h = 9;
    std::vector<float> v(w * h), got(w * h);
    for (int i = 0; i < w * h; i++) v[i] = (i * 37 % 101);
    cudaResourceDesc r = {};
    float *out, *p;
    size_t pitch;
    CHECK(cudaMalloc(&out, w * h * 4));
    if (pitched) {
        CHECK(cudaMallocPitch(&p, &pitch, w * 4, h));
        CHECK(cudaMemcpy2D(p, pitch, v.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
        r.resType = cudaResourceTypePitch2D;
        r.res.pitch2D = {p, cudaCreateChannelDesc<float>(), (size_t)w, (size_t)h, pitch};
    } else {
        r.resType = cudaResourceTypeArray;
        cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
        CHECK(cudaMallocArray(&r.res.array.array, &c, w, h));
        CHECK(cudaMemcpy2DToArray(r.res.array.array, 0, 0, v.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    }
    for (int wrap = 0; wrap < 2; wrap++)
        for (int filter = 0; filter < 2; filter++) {
            cudaTextureObject_t t = make(r, filter ? cudaFilterModeLinear : cudaFilterModePoint, cudaReadModeElementType,
                                         wrap, wrap ? cudaAddressModeWrap : cudaAddressModeClamp);
            const int shift = 3;
            read_2d<<<1, dim3(16, 16)>>>(t, out, w, h, wrap ? 1.f / w : 1, wrap ? 1.f / h : 1, shift + filter * 0.25f);
            CHECK(cudaMemcpy(got.data(), out, w * h * 4, cudaMemcpyDeviceToHost));
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++) {
                    float want = at(v, w, h, x + shift, y + shift, wrap);
                    if (filter) {
                        auto g = [&](int a, int b) { return at(v, w, h, x + shift + a, y + shift + b, wrap); };
                        want = 0.5625f * g(0, 0) + 0.1875f * g(1, 0) + 0.1875f * g(0, 1) + 0.0625f * g(1, 1);
                    }
                    EXPECT(fabsf(got[y * w + x] - want) < (filter ? 0.9f : 1e-6f)); // fractions have 8 bits
                }
        }
}

static void bytes() {
    const int n = 16;
    uchar4 h[n], *ob, gb[n];
    float4 *out, got[n];
    for (int i = 0; i < n; i++) h[i] = make_uchar4(i, 17 * i, 255 - i, 128);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    cudaChannelFormatDesc c = cudaCreateChannelDesc<uchar4>();
    CHECK(cudaMallocArray(&r.res.array.array, &c, n));
    CHECK(cudaMemcpy2DToArray(r.res.array.array, 0, 0, h, sizeof h, sizeof h, 1, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&out, sizeof got));
    CHECK(cudaMalloc(&ob, sizeof gb));
    read_bytes<<<1, n>>>(make(r, cudaFilterModePoint, cudaReadModeNormalizedFloat, false, cudaAddressModeClamp), out,
                         make(r, cudaFilterModePoint, cudaReadModeElementType, false, cudaAddressModeClamp), ob);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(gb, ob, sizeof gb, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        EXPECT(fabsf(got[i].x - i / 255.f) < 1e-6f && fabsf(got[i].y - 17 * i / 255.f) < 1e-6f);
        EXPECT(gb[i].z == 255 - i && gb[i].w == 128);
    }
}

static void three_dimensions(bool layers) {
    std::vector<float> v(64), got(64);
    for (int i = 0; i < 64; i++) v[i] = i;
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc3DArray(&r.res.array.array, &c, make_cudaExtent(4, 4, 4), layers ? cudaArrayLayered : 0));
    cudaMemcpy3DParms m = {};
    m.srcPtr = make_cudaPitchedPtr(v.data(), 16, 4, 4);
    m.dstArray = r.res.array.array;
    m.extent = make_cudaExtent(4, 4, 4);
    m.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&m));
    float *out;
    CHECK(cudaMalloc(&out, 256));
    cudaTextureFilterMode f = layers ? cudaFilterModePoint : cudaFilterModeLinear;
    cudaTextureObject_t t = make(r, f, cudaReadModeElementType, false, cudaAddressModeClamp);
    if (layers)
        for (int k = 0; k < 4; k++) read_layer<<<1, dim3(4, 4)>>>(t, out + 16 * k, k);
    else
        read_3d<<<1, dim3(4, 4, 4)>>>(t, out);
    CHECK(cudaMemcpy(got.data(), out, 256, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(got[i] == (layers || i >= 48 ? i : i + 4)); // a quarter of the way to the next slice
}

static void surfaces() {
    const int w = 10, h = 6;
    std::vector<uchar4> v(w * h), got(w * h);
    for (int i = 0; i < w * h; i++) v[i] = make_uchar4(i, 2 * i, 3, 4);
    cudaChannelFormatDesc c = cudaCreateChannelDesc<uchar4>();
    cudaResourceDesc r[2] = {};
    cudaSurfaceObject_t s[2];
    for (int k = 0; k < 2; k++) {
        r[k].resType = cudaResourceTypeArray;
        CHECK(cudaMallocArray(&r[k].res.array.array, &c, w, h, cudaArraySurfaceLoadStore));
        CHECK(cudaCreateSurfaceObject(&s[k], &r[k]));
    }
    CHECK(cudaMemcpy2DToArray(r[0].res.array.array, 0, 0, v.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    invert<<<1, dim3(16, 8)>>>(s[0], s[1], w, h);
    CHECK(cudaMemcpy2DFromArray(got.data(), w * 4, r[1].res.array.array, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * h; i++)
        EXPECT(got[i].x == 255 - i && got[i].y == (2 * i & 255) && got[i].z == 3 && got[i].w == i / w);
    CHECK(cudaDestroySurfaceObject(s[0]));
}

int main() {
    linear();
    two_dimensions(false);
    two_dimensions(true);
    bytes();
    three_dimensions(false);
    three_dimensions(true);
    surfaces();
    return pass();
}
