// A kernel that never ends: a signal to this program arrives while the kernel runs.
#include "check.cuh"

__global__ void wait_for_ever(volatile int* p) {
  while (*p != 1) {
  }
}

int main() {
  int* p = nullptr;  // the host might write there
  if (cudaMallocHost(&p, sizeof(int)) != cudaSuccess) return 2;
  *p = 0;
  std::printf("started\n");
  std::fflush(stdout);
  wait_for_ever<<<1, 1>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
