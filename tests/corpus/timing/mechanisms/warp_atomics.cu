// Atomic operations of all lanes at one address: ptxas makes one for the warp where it knows that the address is the same for all lanes, and the values
// can be joined (docs/lab/calibration.md). `by_lane`: it cannot know.
#include <stdint.h>

template <class F>
__device__ void sixteen(F f) {
#pragma unroll 1
  for (int i = 0; i < 16; ++i) f(i);
}
extern "C" __global__ void imm_uni(int* p, const int* q, int v) { sixteen([&](int) { atomicAdd(p, 1); }); }
extern "C" __global__ void uni_uni(int* p, const int* q, int v) { sixteen([&](int) { atomicAdd(p, v); }); }
extern "C" __global__ void var_uni(int* p, const int* q, int v) { const int x = q[threadIdx.x]; sixteen([&](int i) { atomicAdd(p, x + i); }); }
extern "C" __global__ void max_uni(int* p, const int* q, int v) { const int x = q[threadIdx.x]; sixteen([&](int i) { atomicMax(p, x + i); }); }
extern "C" __global__ void long_uni(unsigned long long* p, const int* q, int v) { sixteen([&](int) { atomicAdd(p, 1ull); }); }
extern "C" __global__ void cta_uni(int* p, const int* q, int v) { sixteen([&](int i) { atomicAdd(p + blockIdx.x * 32, 1); }); }
extern "C" __global__ void old_uni(int* p, const int* q, int v) { int sum = 0; sixteen([&](int) { sum += atomicAdd(p + blockIdx.x * 32, 1); }); if (sum == -1) p[0] = 0; }
extern "C" __global__ void by_lane(int* p, const int* q, int v) { int* at = p + q[threadIdx.x]; sixteen([&](int) { atomicAdd(at, 1); }); }
extern "C" __global__ void real_uni(float* p, const int* q, int v) { sixteen([&](int) { atomicAdd(p, 1.0f); }); }
