// Launches in a handler of atexit and in a destructor of a global: both run after what the program's statics used was made, and after
// statics that were made later are gone.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

__global__ void put(int* p, int v) { *p = v; }
__global__ void late(int* p, int v) { *p += v; }

struct Global {
  int* device = nullptr;
  ~Global() {
    int host = 0;
    late<<<1, 1>>>(device, 5);
    const cudaError_t e = cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("destructor %d %d\n", static_cast<int>(e), host);
    std::fflush(stdout);
  }
} global;

int main() {
  cudaMalloc(&global.device, sizeof(int));
  std::atexit([] {
    put<<<1, 1>>>(global.device, 37);
    std::printf("handler %d\n", static_cast<int>(cudaDeviceSynchronize()));
  });
  return 0;
}
