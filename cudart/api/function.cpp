// Kernels' attributes and occupancy in the runtime interface.
#include "cudart/functions.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaFuncGetAttributes(FuncAttributes* out, const void* function) {
  return serve("cudaFuncGetAttributes", [&](Context& c) {
    require_value(out != nullptr);
    *out = attributes_of(c, c.modules.kernel(function));
  });
}
CudaError cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return serve("cudaFuncSetAttribute", [&](Context& c) { set_attribute(c, c.modules.kernel(function), attribute, value); });
}
CudaError cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int device) {
  return serve("cudaKernelSetAttributeForDevice", [&](Context& c) {
    require(device == 0, CudaError::invalid_device);
    set_attribute(c, c.modules.kernel(kernel), attribute, value);
  });
}
CudaError cudaFuncSetCacheConfig(const void* function, int) {
  return serve("cudaFuncSetCacheConfig", [&](Context& c) { c.modules.kernel(function); });
}
CudaError cudaFuncSetSharedMemConfig(const void* function, int) {
  return serve("cudaFuncSetSharedMemConfig", [&](Context& c) { c.modules.kernel(function); });
}
CudaError cudaFuncGetName(const char** out, const void* function) {
  return serve("cudaFuncGetName", [&](Context& c) { *out = c.modules.kernel(function).name.c_str(); });
}
CudaError cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* bytes) {
  return serve("cudaFuncGetParamInfo", [&](Context& c) {
    Kernel& k = c.modules.kernel(function);
    const auto* f = c.loaded(*k.module).module().find_function(k.name);
    require_value(f != nullptr && offset != nullptr && index < f->params.size());
    size_t at = 0;
    for (size_t i = 0;; at += f->params[i++].bytes()) {
      at = (at + f->params[i].align - 1) / f->params[i].align * f->params[i].align;
      if (i == index) break;
    }
    *offset = at;
    if (bytes != nullptr) *bytes = f->params[index].bytes();
  });
}
CudaError cudaGetFuncBySymbol(void** out, const void* symbol) {
  return serve("cudaGetFuncBySymbol", [&](Context& c) { *out = &c.modules.kernel(symbol); });
}
CudaError cudaGetKernel(void** out, const void* symbol) { return cudaGetFuncBySymbol(out, symbol); }

CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, const void* function, int threads, size_t smem, unsigned) {
  return serve("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Context& c) {
    require_value(out != nullptr);
    *out = ctas_per_sm(c, c.modules.kernel(function), threads, smem);
  });
}
CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* out, const void* function, int threads, size_t smem) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, threads, smem, 0);
}
CudaError cudaOccupancyAvailableDynamicSMemPerBlock(size_t* out, const void* function, int ctas, int) {
  return serve("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Context& c) {
    require_value(out != nullptr);
    *out = available_smem(c, c.modules.kernel(function), ctas);
  });
}
CudaError cudaOccupancyMaxActiveClusters(int* out, const void* function, const RuntimeLaunchConfig* config) {
  return serve("cudaOccupancyMaxActiveClusters", [&](Context& c) {
    require_value(out != nullptr && config != nullptr);
    *out = max_clusters(c, c.modules.kernel(function), *config);
  });
}
CudaError cudaOccupancyMaxPotentialClusterSize(int* out, const void* function, const RuntimeLaunchConfig* config) {
  return serve("cudaOccupancyMaxPotentialClusterSize", [&](Context& c) {
    require_value(out != nullptr && config != nullptr);
    *out = max_cluster_size(c, c.modules.kernel(function), *config);
  });
}

#pragma GCC visibility pop
}
