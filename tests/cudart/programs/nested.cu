// Dynamic parallelism: a kernel that may launch another. What launches nothing runs, as everything else of the module.
#include <cstdio>

__global__ void inner(int* out) { *out = 1; }
__global__ void outer(int* out, bool launch) {
  *out = 2;
  if (launch) inner<<<1, 1>>>(out);
}

int main() {
  int *out = nullptr, value = 0;
  cudaMalloc(&out, sizeof *out);
  outer<<<1, 1>>>(out, false);
  cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
  std::printf("without: %d, %s\n", value, cudaGetErrorName(cudaGetLastError()));
  outer<<<1, 1>>>(out, true);
  std::printf("with: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
