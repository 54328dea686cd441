// What a program is linked with when it is linked with the runtime of CUDA 12: names, each of the version libcudart.so.12.
extern "C" {
int cudaMalloc(void**, unsigned long) { return 999; }
int cudaFree(void*) { return 999; }
int cudaGetDeviceProperties_v2(void*, int) { return 999; }
int cudaFunctionOfTomorrow() { return 999; }
}
