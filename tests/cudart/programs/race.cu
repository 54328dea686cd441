// A missing __syncthreads: the program passes for every order; --check reports it.
#include "check.cuh"

__global__ void rotate(int* p) {
  __shared__ int s[128];
  s[threadIdx.x] = p[threadIdx.x];
  p[threadIdx.x] = s[(threadIdx.x + 32) % 128];
}

int main() {
  int* p = to_device(std::vector<int>(128, 1));
  rotate<<<1, 128>>>(p);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
