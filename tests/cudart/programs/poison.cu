// The kernel that should have made the result is not launched: the program must not look as if it had been.
#include "check.cuh"

int main() {
  float* p = nullptr;
  CHECK(cudaMalloc(&p, 256 * sizeof *p));
  size_t wrong = 0;
  for (float v : to_host(p, 256)) wrong += v != 0;
  void* q = nullptr;
  CHECK(cudaMallocAsync(&q, 1024, nullptr));
  for (float v : to_host(static_cast<float*>(q), 256)) wrong += v != 0;
  return verdict(wrong, 512);
}
