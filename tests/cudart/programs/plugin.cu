// A library with a kernel, for a program that loads it while it runs (loads.cu).
#include "check.cuh"

__device__ int offset = 5;

__global__ void add(int* y) { y[threadIdx.x] += offset; }

extern "C" int run_plugin(int expected_ptx) {
  std::vector<int> values(64, 3);
  int* const d = to_device(values);
  add<<<1, 64>>>(d);
  CHECK(cudaDeviceSynchronize());
  size_t wrong = 0;
  for (const int v : to_host(d, values.size())) wrong += v != 8;
  cudaFuncAttributes a;
  CHECK(cudaFuncGetAttributes(&a, add));
  wrong += a.ptxVersion != expected_ptx || a.binaryVersion != 100;
  return verdict(wrong, values.size());
}
