// The usual first program: allocate, copy, launch, time with events, write a file, read it back, verify.
#include "check.h"
#include <cmath>
#include <cstring>
#include <sys/time.h>
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

static double seconds() {
    timeval t;
    gettimeofday(&t, nullptr);
    return t.tv_sec + 1e-6 * t.tv_usec;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10000;
    std::vector<float> a(n), b(n), c(n), d(n);
    for (int i = 0; i < n; i++) a[i] = 0.5f * i, b[i] = sinf((float)i);
    float *da, *db, *dc, ms = -1;
    size_t bytes = n * sizeof(float);
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc((void **)&dc, bytes));
    CHECK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dc, 0xff, bytes));
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    double before = seconds();
    CHECK(cudaEventRecord(start));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    EXPECT(ms > 0 && ms < 1000 && seconds() >= before);
    CHECK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
    FILE *f = fopen("vector_add.bin", "w+b");
    EXPECT(f && fwrite(c.data(), 1, bytes, f) == bytes);
    rewind(f);
    EXPECT(fread(d.data(), 1, bytes, f) == bytes && !fclose(f) && !remove("vector_add.bin"));
    for (int i = 0; i < n; i++) EXPECT(d[i] == a[i] + b[i]);
    // A copy that leaves the allocation, a wrong direction and a pointer of the host are refused.
    EXPECT(cudaMemcpy(da, a.data(), bytes + 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(a.data(), b.data(), 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(da, db, 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaGetLastError() == cudaErrorInvalidMemcpyDirection && cudaGetLastError() == cudaSuccess);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    CHECK(cudaFree(nullptr));
    EXPECT(cudaFree(dc) == cudaErrorInvalidValue);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaDeviceReset());
    return pass();
}
