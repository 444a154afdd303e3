// Managed, pinned, mapped and registered memory.
#include "check.h"

__managed__ int total = 40;
__managed__ float field[1000];

__global__ void sum(const int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&total, p[i]);
    if (i < 1000) field[i] += i;
}
__global__ void scale(int *p, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] *= 3;
}
struct node {
    int value;
    node *next;
};
__global__ void follow(const node *head, int *out) {
    int s = 0;
    for (; head; head = head->next) s += head->value;
    *out = s;
}

int main() {
    int *m, *pinned, *mapped, *seen;
    for (int i = 0; i < 1000; i++) field[i] = 0.5f;
    CHECK(cudaMallocManaged(&m, 500 * sizeof *m));
    for (int i = 0; i < 500; i++) m[i] = i;
    sum<<<4, 256>>>(m, 500);
    CHECK(cudaDeviceSynchronize());
    EXPECT(total == 40 + 499 * 500 / 2 && field[999] == 999.5f);
    total = 0;
    m[0] = 1;
    sum<<<1, 32>>>(m, 1);
    CHECK(cudaDeviceSynchronize());
    EXPECT(total == 1);
    CHECK(cudaMallocHost(&pinned, 64));
    pinned[3] = 5;
    scale<<<1, 16>>>(pinned, 16);
    CHECK(cudaDeviceSynchronize());
    EXPECT(pinned[3] == 15);
    CHECK(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&seen, mapped, 0));
    mapped[1000] = 7;
    scale<<<1, 64>>>(seen, 1024);
    CHECK(cudaDeviceSynchronize());
    EXPECT(mapped[1000] == 21);
    int *own = (int *)malloc(4096);
    for (int i = 0; i < 1024; i++) own[i] = i;
    CHECK(cudaHostRegister(own, 4096, cudaHostRegisterMapped));
    EXPECT(cudaHostRegister(own, 4096, 0) == cudaErrorHostMemoryAlreadyRegistered);
    CHECK(cudaHostGetDevicePointer(&seen, own, 0));
    scale<<<1, 64>>>(seen, 1024);
    CHECK(cudaDeviceSynchronize());
    EXPECT(own[1023] == 3 * 1023);
    CHECK(cudaHostUnregister(own));
    EXPECT(cudaHostUnregister(own) == cudaErrorHostMemoryNotRegistered);
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, m));
    EXPECT(a.type == cudaMemoryTypeManaged && a.devicePointer == m && a.hostPointer == m);
    CHECK(cudaPointerGetAttributes(&a, pinned));
    EXPECT(a.type == cudaMemoryTypeHost);
    CHECK(cudaMalloc(&seen, 4));
    CHECK(cudaPointerGetAttributes(&a, seen));
    EXPECT(a.type == cudaMemoryTypeDevice && a.hostPointer == nullptr);
    CHECK(cudaPointerGetAttributes(&a, own));
    EXPECT(a.type == cudaMemoryTypeUnregistered);
    // A list that the host builds and the device walks.
    node *list = nullptr;
    for (int i = 1; i <= 10; i++) {
        node *one;
        CHECK(cudaMallocManaged(&one, sizeof *one));
        one->value = i;
        one->next = list;
        list = one;
    }
    follow<<<1, 1>>>(list, m);
    CHECK(cudaDeviceSynchronize());
    EXPECT(m[0] == 55);
    CHECK(cudaMemcpy(own, pinned, 64, cudaMemcpyDefault));
    EXPECT(own[3] == 15);
    CHECK(cudaFree(m));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(mapped));
    EXPECT(cudaFreeHost(mapped) == cudaErrorInvalidValue);
    free(own);
    return pass();
}
