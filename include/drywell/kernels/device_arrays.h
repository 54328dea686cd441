// Device memory that is freed with its owner.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "drywell/launch/accelerator.h"

namespace drywell::kernels {

/// Allocations on one device, freed together. One thread at a time, as for the device.
class DeviceArrays {
 public:
  /// Arrays of `device`, which lives longer.
  explicit DeviceArrays(Accelerator& device) : device_(device) {}
  ~DeviceArrays() {
    for (const GmemAddr a : all_) device_.release(a);
  }
  DeviceArrays(const DeviceArrays&) = delete;
  DeviceArrays& operator=(const DeviceArrays&) = delete;

  /// Memory without a value. Throws as Accelerator::allocate.
  GmemAddr make(uint64_t bytes, const std::string& name) {
    all_.push_back(device_.allocate(bytes, name));
    return all_.back();
  }
  /// Memory with a copy of the values.
  template <class T>
  GmemAddr make(std::span<const T> values, const std::string& name) {
    const GmemAddr a = make(values.size_bytes(), name);
    device_.write(a, values.data(), values.size_bytes());
    return a;
  }
  /// The same of a vector.
  template <class T>
  GmemAddr make(const std::vector<T>& values, const std::string& name) {
    return make(std::span<const T>(values), name);
  }

  /// Returns the content of device memory at `from`.
  template <class T>
  std::vector<T> read(GmemAddr from, uint64_t count) const {
    std::vector<T> out(count);
    device_.read(out.data(), from, count * sizeof(T));
    return out;
  }

 private:
  Accelerator& device_;
  std::vector<GmemAddr> all_;
};

}  // namespace drywell::kernels
