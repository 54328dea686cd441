// The few functions of NVML (libnvidia-ml.so.1) that PyTorch's allocator calls before it maps memory (expandable segments): there is
// one device, and it has no fabric to other ones.
#include <cstddef>
#include <cstring>

#include "cudart/abi.h"

namespace {

// nvmlReturn_t
enum class NvmlResult : int {
  success = 0,
  invalid_argument = 2,
  not_supported = 3,
  function_not_found = 13
};

constexpr char kDevice = 0;  // only its address means something: an nvmlDevice_t

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

NvmlResult nvmlInit_v2() { return NvmlResult::success; }
NvmlResult nvmlShutdown() { return NvmlResult::success; }
NvmlResult nvmlDeviceGetHandleByPciBusId_v2(const char*, const void** device) {
  if (device == nullptr) return NvmlResult::invalid_argument;
  *device = &kDevice;
  return NvmlResult::success;
}
NvmlResult nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (version == nullptr) return NvmlResult::invalid_argument;
  *version = drywell::cudart::kDriverVersion;
  return NvmlResult::success;
}
/// nvmlGpuFabricInfoV_t begins with its version, whose low 24 bits are its size; all zero after it means that there is no fabric.
NvmlResult nvmlDeviceGetGpuFabricInfoV(const void*, unsigned* info) {
  constexpr size_t kMost = 256;
  const size_t bytes = info == nullptr ? 0 : *info & 0xFFFFFF;
  if (bytes < sizeof *info || bytes > kMost) return NvmlResult::invalid_argument;
  std::memset(info + 1, 0, bytes - sizeof *info);
  return NvmlResult::success;
}
NvmlResult nvmlDeviceGetNvLinkRemoteDeviceType(const void*, unsigned, int*) { return NvmlResult::not_supported; }
NvmlResult nvmlDeviceGetNvLinkRemotePciInfo_v2(const void*, unsigned, void*) { return NvmlResult::not_supported; }
NvmlResult nvmlDeviceGetComputeRunningProcesses(const void*, unsigned*, void*) { return NvmlResult::not_supported; }

#pragma GCC visibility pop
}
