#include "check.cuh"
#include "linked.cuh"

__constant__ int table[4] = {0, 10, 20, 30};
__device__ int counter;
static __device__ int shared_name = 7;

namespace {
__device__ int helper(int x) { return 2 * x; }
}
__device__ int twice(int x) { return helper(x); }

__global__ void of_the_part(int* out) { out[threadIdx.x] = twice(static_cast<int>(threadIdx.x)) + counter + shared_name; }

size_t run_part(int* p) {
  of_the_part<<<1, 32>>>(p);
  CHECK(cudaDeviceSynchronize());
  size_t wrong = 0;
  const auto out = to_host(p, 32);
  for (int i = 0; i < 32; ++i) wrong += out[i] != 2 * i + 32 + 7;
  int counted = 0;
  CHECK(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
  return wrong + (counted != 32);
}
