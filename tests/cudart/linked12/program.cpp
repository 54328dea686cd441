// A program of CUDA 12, without its headers: the structure of device properties has that version's layout.
#include <cstdio>

#include "cudart/device_prop.h"

extern "C" {
int cudaMalloc(void** out, unsigned long bytes);
int cudaFree(void* p);
int cudaGetDeviceProperties_v2(void* out, int device);
int cudaFunctionOfTomorrow();
}

int main() {
  void* p = nullptr;
  drywell::cudart::DeviceProp12 prop{};
  if (cudaMalloc(&p, 64) != 0 || cudaGetDeviceProperties_v2(&prop, 0) != 0 || cudaFree(p) != 0) return 1;
  std::printf("compute capability %d.%d, %d SMs\n", prop.major, prop.minor, prop.multiProcessorCount);
#ifdef DRYWELL_AND_MORE
  return cudaFunctionOfTomorrow();
#endif
  return 0;
}
