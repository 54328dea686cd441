// Limits of the device that a program asks for and sets (cudaDeviceSetLimit).
#pragma once

#include <array>
#include <cstddef>

namespace drywell::cudart {

class Limits {
 public:
  static constexpr int kMallocHeap = 2;  // cudaLimitMallocHeapSize
  /// Value of a cudaLimit: what was set, at first a device's. Throws CallFailed for an unknown number and for one that the simulated devices
  /// no longer have.
  size_t get(int limit) const;
  void set(int limit, size_t value);

 private:
  // Stack of a thread, printf's buffer, heap of malloc in kernels, depth of nested synchronisation, pending launches of kernels by kernels,
  // granularity of fetches into the L2, L2 for persisting accesses (CUDA C++ Programming Guide; H200).
  std::array<size_t, 7> values_{1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
};

}  // namespace drywell::cudart
