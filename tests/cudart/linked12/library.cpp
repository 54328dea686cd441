// A library to link with in place of the runtime of CUDA 12: names, each with the version libcudart.so.12.
extern "C" {
int cudaMalloc(void**, unsigned long) { return 999; }
int cudaFree(void*) { return 999; }
int cudaGetDeviceProperties_v2(void*, int) { return 999; }
int cudaFunctionOfTomorrow() { return 999; }
}
