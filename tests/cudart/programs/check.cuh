// Common parts of the host programs: calls that must succeed, tensor maps, a generator, and the result.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void check(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(e));
  std::exit(2);
}
#define CHECK(CALL_) check((CALL_), #CALL_)

/// Numbers that are the same everywhere.
class Generator {
 public:
  explicit Generator(uint32_t seed) : state_(seed) {}
  uint32_t below(uint32_t n) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 16) % n;
  }

 private:
  uint32_t state_;
};

template <class T>
T* to_device(const std::vector<T>& host) {
  T* p = nullptr;
  CHECK(cudaMalloc(&p, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <class T>
std::vector<T> to_host(const T* p, size_t n) {
  std::vector<T> host(n);
  CHECK(cudaMemcpy(host.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

/// A row-major matrix in boxes of `box_columns` x `box_rows`, 128-byte swizzled.
template <class Map>
Map matrix_map(CUtensorMapDataType type, size_t element, void* p, uint64_t rows, uint64_t columns, uint32_t box_columns, uint32_t box_rows) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  alignas(64) Map map;
  const cuuint64_t dim[] = {columns, rows}, stride[] = {columns * element};
  const cuuint32_t box[] = {box_columns, box_rows}, step[] = {1, 1};
  const CUresult r = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      reinterpret_cast<CUtensorMap*>(&map), type, 2, p, dim, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) {
    std::printf("cuTensorMapEncodeTiled: %d\n", static_cast<int>(r));
    std::exit(2);
  }
  return map;
}

/// Prints the verdict; the exit status of the program.
inline int verdict(size_t wrong, size_t values) {
  if (wrong == 0) std::printf("Passed: %zu values\n", values);
  else std::printf("Failed: %zu of %zu values differ\n", wrong, values);
  return wrong == 0 ? 0 : 1;
}
