// A kernel that writes outside any allocation: the program receives the error and exits normally.
#include "check.cuh"

__global__ void stray(int* p) { p[1 << 20] = 1; }

int main() {
  int* p = nullptr;
  CHECK(cudaMalloc(&p, 256));
  stray<<<1, 1>>>(p);
  const cudaError_t e = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(e));
  return e == cudaErrorIllegalAddress ? 3 : 0;
}
