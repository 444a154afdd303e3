// 2D and 3D memory: pitched allocation, copies with different pitches, fills.
#include "check.h"
#include <vector>

__global__ void twice(float *p, size_t pitch, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float *row = (float *)((char *)p + y * pitch);
        row[x] *= 2;
    }
}
__global__ void add3(cudaPitchedPtr p, cudaExtent e) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    int *row = (int *)((char *)p.ptr + (z * p.ysize + y) * p.pitch);
    if (x * sizeof(int) < e.width && y < e.height) row[x] += x + 10 * y + 100 * z;
}

int main() {
    const int w = 37, h = 21;
    std::vector<float> in(w * h), out(w * h, -1);
    for (int i = 0; i < w * h; i++) in[i] = i;
    float *p;
    size_t pitch;
    CHECK(cudaMallocPitch(&p, &pitch, w * sizeof(float), h));
    EXPECT(pitch >= w * sizeof(float) && pitch % 256 == 0);
    CHECK(cudaMemset2D(p, pitch, 0, w * sizeof(float), h));
    CHECK(cudaMemcpy2D(p, pitch, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    twice<<<dim3(3, 2), dim3(16, 16)>>>(p, pitch, w, h);
    CHECK(cudaMemcpy2D(out.data(), w * 4, p, pitch, w * 4, h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * h; i++) EXPECT(out[i] == 2 * in[i]);
    EXPECT(cudaMemcpy2D(p, 4, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
    cudaExtent e = make_cudaExtent(9 * sizeof(int), 5, 4);
    cudaPitchedPtr v;
    CHECK(cudaMalloc3D(&v, e));
    CHECK(cudaMemset3D(v, 1, e));
    add3<<<4, dim3(16, 8)>>>(v, e);
    std::vector<int> got(9 * 5 * 4);
    cudaMemcpy3DParms m = {};
    m.srcPtr = v;
    m.dstPtr = make_cudaPitchedPtr(got.data(), 9 * sizeof(int), 9, 5);
    m.extent = e;
    m.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&m));
    for (int z = 0; z < 4; z++)
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 9; x++) EXPECT(got[(z * 5 + y) * 9 + x] == 0x01010101 + x + 10 * y + 100 * z);
    cudaArray_t array;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &d, w, h));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DFromArray(p, pitch, array, 0, 0, w * 4, h, cudaMemcpyDeviceToDevice));
    twice<<<dim3(3, 2), dim3(16, 16)>>>(p, pitch, w, h);
    CHECK(cudaMemcpy2D(out.data(), w * 4, p, pitch, w * 4, h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * h; i++) EXPECT(out[i] == 2 * in[i]);
    cudaExtent size;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&d, &size, &flags, array));
    EXPECT(size.width == w && size.height == h && d.x == 32 && d.f == cudaChannelFormatKindFloat);
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(v.ptr));
    CHECK(cudaFree(p));
    return pass();
}
