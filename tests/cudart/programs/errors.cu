// Error numbers of a device, for wrong calls and for kernels with faults. Those of launches, copies and
// faults were measured on an H200 (driver 580, runtime 13.0), the others are from the documentation; a kernel's fault stays until
// the device is reset.
#include "check.cuh"

size_t wrong = 0;
void same(cudaError_t got, cudaError_t want, const char* what) {
  if (got != want) std::printf("%s: %s, not %s\n", what, cudaGetErrorName(got), cudaGetErrorName(want));
  wrong += got != want;
}
#define FAILS(WANT_, CALL_) (same((CALL_), WANT_, #CALL_), same(cudaGetLastError(), WANT_, "then cudaGetLastError()"), same(cudaGetLastError(), cudaSuccess, "and again"))

__global__ void write(int* p) { *p = 1; }
__global__ void halt() { asm("trap;"); }
__global__ void claim(int i) {
  if (i != 1) __trap();
}
extern __shared__ int block[];
__global__ void beyond_shared() { *reinterpret_cast<volatile int*>(block + (1 << 20)) = 1; }
__device__ void not_a_kernel() {}

/// A launch of a faulting kernel succeeds; the next call returns the error, which stays.
template <class F>
void faults(cudaError_t want, const char* what, F&& launch) {
  launch();
  same(cudaPeekAtLastError() == cudaSuccess || cudaPeekAtLastError() == want ? want : cudaPeekAtLastError(), want, what);
  same(cudaDeviceSynchronize(), want, what);
  void* p = nullptr;
  same(cudaMalloc(&p, 4), want, "a call after the fault");
  same(cudaGetLastError(), want, "the error after the fault");
  CHECK(cudaDeviceReset());
  same(cudaGetLastError(), cudaSuccess, "the error after the reset");
}

void wrong_calls() {
  int *d = nullptr, host[4] = {};
  CHECK(cudaMalloc(&d, sizeof host));
  FAILS(cudaErrorInvalidValue, cudaMalloc(static_cast<void**>(nullptr), 4));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(d, host, 5 * sizeof(int), cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(d, host, sizeof host, static_cast<cudaMemcpyKind>(9)));
  FAILS(cudaErrorInvalidValue, cudaMemset(host, 0, sizeof host));
  FAILS(cudaErrorInvalidValue, cudaFree(host));
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(5));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(host)));
  FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(host, host, 4));
  FAILS(cudaErrorInvalidDeviceFunction, cudaFuncSetAttribute(reinterpret_cast<const void*>(host), cudaFuncAttributeMaxDynamicSharedMemorySize, 4));
  cudaEvent_t a, b;
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreateWithFlags(&b, cudaEventDisableTiming));
  CHECK(cudaEventRecord(a));
  CHECK(cudaEventRecord(b));
  float ms = 0;
  FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));
  same(cudaPeekAtLastError(), cudaSuccess, "nothing left");
}

void wrong_launches() {
  int* d = nullptr;
  CHECK(cudaMalloc(&d, 4));
  const auto launch = [&](dim3 grid, dim3 block, size_t smem, cudaError_t want, const char* what) {
    write<<<grid, block, smem>>>(d);
    same(cudaGetLastError(), want, what);
  };
  launch(1, 1025, 0, cudaErrorInvalidValue, "1025 threads");
  launch(1, dim3(1, 1, 65), 0, cudaErrorInvalidValue, "65 threads in z");
  launch(dim3(1, 65536, 1), 1, 0, cudaErrorInvalidValue, "65536 blocks in y");
  launch(0, 1, 0, cudaErrorInvalidValue, "no block");
  launch(1, 1, 48 << 10, cudaSuccess, "48 KiB");
  launch(1, 1, (48 << 10) + 1, cudaErrorInvalidValue, "more than 48 KiB without asking");
}

int main() {
  wrong_calls();
  wrong_launches();
  int* d = nullptr;
  CHECK(cudaMalloc(&d, 256));
  char* const odd = reinterpret_cast<char*>(d) + 1;
  faults(cudaErrorMisalignedAddress, "an odd address", [&] { write<<<1, 1>>>(reinterpret_cast<int*>(odd)); });
  faults(cudaErrorIllegalAddress, "address 0", [] { write<<<1, 1>>>(nullptr); });
  faults(cudaErrorIllegalAddress, "beyond shared memory", [] { beyond_shared<<<1, 1>>>(); });
  faults(cudaErrorLaunchFailure, "trap", [] { halt<<<1, 1>>>(); });
  faults(cudaErrorLaunchFailure, "__trap", [] { claim<<<1, 1>>>(0); });
  CHECK(cudaMalloc(&d, 4));
  write<<<1, 1>>>(d);
  CHECK(cudaDeviceSynchronize());
  return verdict(wrong, 1);
}
