// Programmatic dependent launch: dependent HOW. The consumer reads what the producer stores: "late" behind its wait, "early" before it,
// "never" without a wait; "plain" like early, without the attribute; "between" with a memset between the two, "synchronised" with the
// host's wait; "whole" like early, behind a producer that lets nothing begin before it has ended (CUB's merge sort).
#include <cstring>

#include "check.cuh"

__global__ void produce(int* p) {
  cudaTriggerProgrammaticLaunchCompletion();
  p[threadIdx.x] = 7;
}

__global__ void produce_whole(int* p) {
  cudaGridDependencySynchronize();
  p[threadIdx.x] = 7;
}

__global__ void consume_late(const int* p, int* out) {
  cudaGridDependencySynchronize();
  out[threadIdx.x] = p[threadIdx.x];
}

__global__ void consume_early(const int* p, int* out) {
  const int v = *(volatile const int*)&p[threadIdx.x];
  cudaGridDependencySynchronize();
  out[threadIdx.x] = v;
}

__global__ void consume(const int* p, int* out) { out[threadIdx.x] = p[threadIdx.x]; }

int main(int, char** arguments) {
  const char* const how = arguments[1];
  const auto is = [&](const char* word) { return std::strcmp(how, word) == 0; };
  int *p = to_device(std::vector<int>(128, 1)), *out = to_device(std::vector<int>(128, 0));
  (is("whole") ? produce_whole : produce)<<<1, 128>>>(p);
  if (is("between")) CHECK(cudaMemsetAsync(out, 0, 4));
  if (is("synchronised")) CHECK(cudaDeviceSynchronize());
  cudaLaunchAttribute a{};
  a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  a.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t c{};
  c.gridDim = 1;
  c.blockDim = 128;
  c.attrs = &a;
  c.numAttrs = is("plain") ? 0 : 1;
  void (*const kernel)(const int*, int*) = is("late") ? consume_late : is("never") ? consume : consume_early;
  CHECK(cudaLaunchKernelEx(&c, kernel, (const int*)p, out));
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
