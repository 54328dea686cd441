// A kernel that never ends: a signal to this program arrives while the kernel runs.
#include <csignal>

#include "check.cuh"

__global__ void wait_for_ever(volatile int* p) {
  while (*p != 1) {
  }
}

int main() {
  int* p = nullptr;  // the host might write there
  if (cudaMallocHost(&p, sizeof(int)) != cudaSuccess) return 2;
  *p = 0;
  // As a library does that has a handler of its own for a while: the flags of the handler before are lost.
  std::signal(SIGINT, std::signal(SIGINT, SIG_IGN));
  std::printf("started\n");
  std::fflush(stdout);
  wait_for_ever<<<1, 1>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
