// Driver entry points that programs find through the runtime.
#include "cudart/entry_points.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned version, unsigned long long, int* status) {
  return serve("cudaGetDriverEntryPointByVersion", [&](Context&) {
    require_value(name != nullptr && out != nullptr);
    *out = driver_entry_point(name, static_cast<int>(version));
    if (status != nullptr) *status = *out != nullptr ? 0 : 1;  // cudaDriverEntryPointSuccess, SymbolNotFound
  });
}
CudaError cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** out, unsigned version, unsigned long long flags, int* status) {
  return cudaGetDriverEntryPointByVersion(name, out, version, flags, status);
}
CudaError cudaGetDriverEntryPoint(const char* name, void** out, unsigned long long flags, int* status) {
  return cudaGetDriverEntryPointByVersion(name, out, kRuntimeVersion, flags, status);
}
CudaError cudaGetDriverEntryPoint_ptsz(const char* name, void** out, unsigned long long flags, int* status) {
  return cudaGetDriverEntryPointByVersion(name, out, kRuntimeVersion, flags, status);
}

#pragma GCC visibility pop
}
