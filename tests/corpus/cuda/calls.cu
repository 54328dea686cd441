// Code that nvcc emits around calls: declarations, recursion, structures by value, function pointers, printf, assert,
// initialised variables of every kind. Made into calls.ptx, calls_lineinfo.ptx and calls_debug.ptx (see README.md).
#include <cassert>
#include <cstdio>

using Unary = int (*)(int);

__device__ __noinline__ int affine(int x) { return x * 3 + 1; }
__device__ __noinline__ int fibonacci(int x) { return x < 2 ? x : fibonacci(x - 1) + fibonacci(x - 2); }
__device__ Unary table[2] = {affine, fibonacci};

struct __attribute__((packed)) Packed {
  char tag;
  const void* where;
};
struct Padded {
  char tag;
  const void* where;
};
__device__ int counter;
__device__ Packed packed = {1, &counter};
__device__ Padded padded = {2, &counter};
__constant__ float weights[3] = {1.0f, 2.5f};

struct Five {
  int a[5];
};
__device__ __noinline__ Five bump(Five b, int k) {
  b.a[1] += k;
  return b;
}

extern "C" __global__ void __launch_bounds__(128, 2) calls(int* out, int n, Five b) {
  extern __shared__ int dynamic[];
  __shared__ long long fixed[4];
  const int i = threadIdx.x;
  assert(n > 0);
  fixed[i & 3] = i;
  dynamic[i] = n;
  __syncthreads();
  const Unary f = table[n & 1];
  const Five r = bump(b, i);
  int v = 0;
  switch (n) {
    case 0: v = 1; break;
    case 1: v = i * 2; break;
    case 2: v = i - 4; break;
    case 3: v = dynamic[3]; break;
    case 4: v = dynamic[i ^ 1]; break;
    case 5: v = fibonacci(i); break;
    case 6: v = 3 * i * i; break;
  }
  out[i] = f(i) + r.a[2] + static_cast<int>(fixed[1]) + v + __float_as_int(weights[n % 3]) + *static_cast<const int*>(packed.where);
  printf("thread %d of %d\n", i, n);
}

__global__ void local_array(float* out, int n) {
  float a[16];
#pragma unroll 1
  for (int i = 0; i < 16; ++i) a[i] = out[i * n];
#pragma unroll 1
  for (int i = 0; i < 16; ++i) out[i] = a[(i * n) & 15];
}
