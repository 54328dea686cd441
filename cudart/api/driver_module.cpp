// Modules, functions and launches of the driver interface.
#include <fmt/format.h>

#include "cudart/functions.h"
#include "cudart/jit_logs.h"
#include "cudart/runtime_api.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

/// Writes why a module was not loaded into the buffers of the program.
CudaError with_logs(CudaError error, unsigned count, const int* options, void** values) {
  (void)serve_always("cuModuleLoadDataEx", [&](Context& c) { JitLogs(count, options, values).write("", error == CudaError::success ? "" : c.explanation()); });
  return error;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuModuleLoadData(void** out, const void* image) { return forward(cudaLibraryLoadData, out, image, nullptr, nullptr, 0, nullptr, nullptr, 0); }
CudaError cuModuleLoadDataEx(void** out, const void* image, unsigned count, int* options, void** values) {
  return with_logs(cuModuleLoadData(out, image), count, options, values);
}
CudaError cuModuleLoadFatBinary(void** out, const void* image) { return cuModuleLoadData(out, image); }
CudaError cuModuleLoad(void** out, const char* path) { return forward(cudaLibraryLoadFromFile, out, path, nullptr, nullptr, 0, nullptr, nullptr, 0); }
CudaError cuLibraryLoadFromFile(void** out, const char* path, int* options, void** values, unsigned count, int*, void**, unsigned) {
  return with_logs(cuModuleLoad(out, path), count, options, values);
}
CudaError cuModuleUnload(void* module) { return forward(cudaLibraryUnload, module); }
CudaError cuModuleGetFunction(void** out, void* module, const char* name) { return forward(cudaLibraryGetKernel, out, module, name); }
CudaError cuModuleGetGlobal_v2(uint64_t* out, size_t* bytes, void* module, const char* name) {
  return forward(cudaLibraryGetGlobal, reinterpret_cast<void**>(out), bytes, module, name);
}
CudaError cuLibraryLoadData(void** out, const void* code, int* options, void** values, unsigned count, int*, void**, unsigned) {
  return with_logs(cuModuleLoadData(out, code), count, options, values);
}
CudaError cuLibraryUnload(void* library) { return forward(cudaLibraryUnload, library); }
CudaError cuLibraryGetKernel(void** out, void* library, const char* name) { return forward(cudaLibraryGetKernel, out, library, name); }
CudaError cuLibraryGetModule(void** out, void* library) {
  return serve("cuLibraryGetModule", [&](Context& c) { *out = &c.modules.module(library); });
}
CudaError cuLibraryGetGlobal(uint64_t* out, size_t* bytes, void* library, const char* name) { return cuModuleGetGlobal_v2(out, bytes, library, name); }
CudaError cuKernelGetFunction(void** out, void* kernel) {
  return serve("cuKernelGetFunction", [&](Context& c) { *out = &c.modules.kernel(kernel); });
}

CudaError cuFuncGetAttribute(int* out, int attribute, void* function) {
  return serve("cuFuncGetAttribute", [&](Context& c) {
    require_value(out != nullptr);
    const FuncAttributes a = attributes_of(c, c.modules.kernel(function));
    // CUfunction_attribute (cuda.h) from 0.
    const int values[] = {a.max_threads_per_block, static_cast<int>(a.shared_bytes), static_cast<int>(a.const_bytes), static_cast<int>(a.local_bytes),
                          a.num_regs, a.ptx_version, a.binary_version, a.cache_mode_ca,
                          a.max_dynamic_shared_bytes, a.preferred_carveout, a.cluster_must_be_set, a.required_cluster_width,
                          a.required_cluster_height, a.required_cluster_depth, a.non_portable_cluster_allowed, a.cluster_scheduling_policy};
    require_value(attribute >= 0 && attribute < static_cast<int>(std::size(values)));
    *out = values[attribute];
  });
}
CudaError cuFuncSetAttribute(void* function, int attribute, int value) { return forward(cudaFuncSetAttribute, function, attribute, value); }
CudaError cuKernelSetAttribute(int attribute, int value, void* kernel, int) { return forward(cudaFuncSetAttribute, kernel, attribute, value); }
CudaError cuKernelGetAttribute(int* out, int attribute, void* kernel, int) { return cuFuncGetAttribute(out, attribute, kernel); }
CudaError cuFuncSetCacheConfig(void* function, int) {
  return serve("cuFuncSetCacheConfig", [&](Context& c) { c.modules.kernel(function); });
}
CudaError cuFuncGetName(const char** out, void* function) { return forward(cudaFuncGetName, out, function); }

CudaError cuLaunchKernelEx(const DriverLaunchConfig* config, void* function, void** arguments, void** extra) {
  before_launch();
  const CudaError error = serve("cuLaunchKernelEx", [&](Context& c) {
    require_value(config != nullptr);
    const AbiDim3 &g = config->grid, &b = config->block;
    c.launch(c.modules.kernel(function), {{g.x, g.y, g.z}, {b.x, b.y, b.z}, {1, 1, 1}, config->dynamic_smem}, arguments, extra,
             {config->attributes, config->attribute_count}, config->stream);
  });
  // The driver has no separate error for a grid or block that is too large.
  return error == CudaError::invalid_configuration ? CudaError::invalid_value : error;
}
CudaError cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned smem, void* stream,
                         void** arguments, void** extra) {
  const DriverLaunchConfig config{{gx, gy, gz}, {bx, by, bz}, smem, stream, nullptr, 0};
  return cuLaunchKernelEx(&config, function, arguments, extra);
}
CudaError cuLaunchCooperativeKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned smem,
                                    void* stream, void** arguments) {
  LaunchAttribute attribute{};
  attribute.id = kCooperative;
  attribute.flag = 1;
  const DriverLaunchConfig config{{gx, gy, gz}, {bx, by, bz}, smem, stream, &attribute, 1};
  return cuLaunchKernelEx(&config, function, arguments, nullptr);
}

CudaError cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, void* function, int threads, size_t smem, unsigned flags) {
  return forward(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, out, function, threads, smem, flags);
}
CudaError cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, void* function, int threads, size_t smem) {
  return forward(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, out, function, threads, smem, 0);
}
CudaError cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, void* function, size_t (*smem_of)(int), size_t smem, int limit, unsigned) {
  return serve("cuOccupancyMaxPotentialBlockSize", [&](Context& c) {
    require_value(grid != nullptr && block != nullptr && limit >= 0);
    const BlockChoice best = best_block(
        c, c.modules.kernel(function), [&](int threads) { return smem_of != nullptr ? smem_of(threads) : smem; }, limit);
    *block = best.block;
    *grid = best.grid;
  });
}
CudaError cuOccupancyMaxPotentialBlockSize(int* grid, int* block, void* function, size_t (*smem_of)(int), size_t smem, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, smem_of, smem, limit, 0);
}
CudaError cuOccupancyAvailableDynamicSMemPerBlock(size_t* out, void* function, int ctas, int threads) {
  return forward(cudaOccupancyAvailableDynamicSMemPerBlock, out, function, ctas, threads);
}
CudaError cuOccupancyMaxActiveClusters(int* out, void* function, const DriverLaunchConfig* config) {
  return serve("cuOccupancyMaxActiveClusters", [&](Context& c) {
    require_value(out != nullptr && config != nullptr);
    *out = max_clusters(c, c.modules.kernel(function), {config->grid, config->block, config->dynamic_smem, nullptr, config->attributes, config->attribute_count});
  });
}
CudaError cuOccupancyMaxPotentialClusterSize(int* out, void* function, const DriverLaunchConfig* config) {
  return serve("cuOccupancyMaxPotentialClusterSize", [&](Context& c) {
    require_value(out != nullptr && config != nullptr);
    *out = max_cluster_size(c, c.modules.kernel(function), {config->grid, config->block, config->dynamic_smem, nullptr, config->attributes, config->attribute_count});
  });
}

CudaError cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* bytes) { return forward(cudaFuncGetParamInfo, function, index, offset, bytes); }
CudaError cuKernelGetParamInfo(void* kernel, size_t index, size_t* offset, size_t* bytes) { return forward(cudaFuncGetParamInfo, kernel, index, offset, bytes); }
CudaError cuKernelGetName(const char** out, void* kernel) { return forward(cudaFuncGetName, out, kernel); }
CudaError cuFuncGetModule(void** out, void* function) {
  return serve("cuFuncGetModule", [&](Context& c) {
    require_value(out != nullptr);
    *out = c.modules.kernel(function).module;
  });
}
CudaError cuKernelGetLibrary(void** out, void* kernel) { return cuFuncGetModule(out, kernel); }
CudaError cuLibraryGetKernelCount(unsigned* out, void* library) { return forward(cudaLibraryGetKernelCount, out, library); }
CudaError cuModuleGetFunctionCount(unsigned* out, void* module) { return forward(cudaLibraryGetKernelCount, out, module); }
CudaError cuLibraryEnumerateKernels(void** out, unsigned most, void* library) { return forward(cudaLibraryEnumerateKernels, out, most, library); }
CudaError cuLibraryGetManaged(uint64_t* out, size_t* bytes, void* library, const char* name) { return cuModuleGetGlobal_v2(out, bytes, library, name); }
CudaError cuKernelSetCacheConfig(void* kernel, int config, int) { return cuFuncSetCacheConfig(kernel, config); }
CudaError cuModuleEnumerateFunctions(void** out, unsigned most, void* module) { return cuLibraryEnumerateKernels(out, most, module); }
/// A module is in device memory when it is loaded: CU_FUNCTION_LOADING_STATE_LOADED.
CudaError cuFuncIsLoaded(int* out, void* function) {
  return serve("cuFuncIsLoaded", [&](Context& c) {
    require_value(out != nullptr);
    c.modules.kernel(function);
    *out = 1;
  });
}
CudaError cuFuncLoad(void* function) {
  return serve("cuFuncLoad", [&](Context& c) { c.loaded(*c.modules.kernel(function).module); });
}
CudaError cuModuleGetLoadingMode(int* out) {
  return serve("cuModuleGetLoadingMode", [&](Context&) {
    require_value(out != nullptr);
    *out = 2;  // CU_MODULE_LAZY_LOADING, the default of CUDA 12 and 13
  });
}

#pragma GCC visibility pop
}
