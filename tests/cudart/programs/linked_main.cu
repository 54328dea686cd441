// Relocatable device code (nvcc -rdc=true): this unit uses definitions of linked_part.cu.
#include "check.cuh"
#include "linked.cuh"

namespace {
__device__ int helper(int x) { return x + 1; }  // linked_part.cu has another of the same name
}
static __device__ int shared_name = 100;

__global__ void mine(int* out) {
  const int i = threadIdx.x;
  out[i] = twice(helper(i)) + table[i & 3] + shared_name;
  atomicAdd(&counter, 1);
}

int main() {
  int* p = to_device(std::vector<int>(32));
  mine<<<1, 32>>>(p);
  CHECK(cudaDeviceSynchronize());
  size_t wrong = 0;
  const auto out = to_host(p, 32);
  for (int i = 0; i < 32; ++i) wrong += out[i] != 2 * (i + 1) + 10 * (i & 3) + 100;
  wrong += run_part(p);
  return verdict(wrong, 64);
}
