// Initialisation, devices, contexts and errors of the driver interface. There is one device.
#include <algorithm>
#include <cstring>

#include "cudart/entry_points.h"
#include "cudart/errors.h"
#include "cudart/properties.h"
#include "cudart/runtime_api.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

CudaError use_context(const char* name, const void* context) {
  return serve(name, [&](Context& c) { if (context != nullptr) c.contexts.get(context); });
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuInit(unsigned flags) {
  return serve_always("cuInit", [&](Context& c) {
    require_value(flags == 0);
    c.device();
    c.initialized = true;
  });
}
CudaError cuDriverGetVersion(int* out) {
  return serve_always("cuDriverGetVersion", [&](Context&) {
    require_value(out != nullptr);
    *out = kDriverVersion;
  });
}
CudaError cuGetErrorName(CudaError e, const char** out) {
  *out = driver_name(e);
  return *out != nullptr ? CudaError::success : CudaError::invalid_value;
}
CudaError cuGetErrorString(CudaError e, const char** out) {
  *out = error_text(e);
  return *out != nullptr ? CudaError::success : CudaError::invalid_value;
}

CudaError cuDeviceGetCount(int* out) { return forward(cudaGetDeviceCount, out); }
CudaError cuDeviceGet(int* out, int ordinal) {
  return serve("cuDeviceGet", [&](Context&) {
    require_value(out != nullptr);
    require(ordinal == 0, CudaError::invalid_device);
    *out = 0;
  });
}
CudaError cuDeviceGetName(char* out, int bytes, int device) {
  return serve("cuDeviceGetName", [&](Context& c) {
    require(device == 0, CudaError::invalid_device);
    require_value(out != nullptr && bytes > 0);
    const std::string name = device_name(c.device());
    const size_t n = std::min(name.size(), static_cast<size_t>(bytes) - 1);
    std::memcpy(out, name.data(), n);
    out[n] = 0;
  });
}
CudaError cuDeviceGetAttribute(int* out, int attribute, int device) { return forward(cudaDeviceGetAttribute, out, attribute, device); }
CudaError cuDeviceTotalMem_v2(size_t* out, int device) {
  size_t free = 0;
  return device == 0 ? forward(cudaMemGetInfo, &free, out) : CudaError::invalid_device;
}
CudaError cuDeviceComputeCapability(int* major, int* minor, int device) {
  const CudaError e = forward(cudaDeviceGetAttribute, major, 75, device);
  return e == CudaError::success ? forward(cudaDeviceGetAttribute, minor, 76, device) : e;
}
CudaError cuDeviceGetUuid_v2(char* out, int device) {
  return serve("cuDeviceGetUuid", [&](Context&) {
    require(device == 0, CudaError::invalid_device);
    std::memcpy(out, "drywell simulated", 16);
  });
}
CudaError cuDeviceGetPCIBusId(char* out, int bytes, int device) { return forward(cudaDeviceGetPCIBusId, out, bytes, device); }
CudaError cuDeviceCanAccessPeer(int* out, int, int) {
  return serve("cuDeviceCanAccessPeer", [&](Context&) { *out = 0; });
}

// Contexts with fewer SMs belong to the multi-process service, which is not here. (Green contexts are another mechanism.)
CudaError cuDeviceGetExecAffinitySupport(int* out, int type, int device) {
  constexpr int kSmCount = 0;  // CU_EXEC_AFFINITY_TYPE_SM_COUNT, the only one
  return serve("cuDeviceGetExecAffinitySupport", [&](Context&) {
    require_value(out != nullptr && type == kSmCount);
    require(device == 0, CudaError::invalid_device);
    *out = 0;
  });
}

CudaError cuDevicePrimaryCtxRetain(void** out, int device) {
  return serve("cuDevicePrimaryCtxRetain", [&](Context& c) {
    require_value(out != nullptr);
    require(device == 0, CudaError::invalid_device);
    c.primary_context = true;
    *out = &c.contexts.primary();
  });
}
CudaError cuDevicePrimaryCtxRelease_v2(int) { return CudaError::success; }
CudaError cuDevicePrimaryCtxReset_v2(int) { return forward(cudaDeviceReset); }
CudaError cuDevicePrimaryCtxSetFlags_v2(int, unsigned) { return CudaError::success; }
CudaError cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  return serve("cuDevicePrimaryCtxGetState", [&](Context& c) {
    *flags = 0;
    *active = c.primary_context ? 1 : 0;
  });
}
CudaError cuCtxCreate_v2(void** out, unsigned flags, int device) {
  return serve("cuCtxCreate", [&](Context& c) {
    require_value(out != nullptr);
    require(device == 0, CudaError::invalid_device);
    GuestContext& made = c.contexts.create(flags);
    c.thread().contexts.push(made);
    *out = &made;
  });
}
CudaError cuCtxCreate_v3(void** out, const void*, int, unsigned flags, int device) { return cuCtxCreate_v2(out, flags, device); }
CudaError cuCtxCreate_v4(void** out, const void*, unsigned flags, int device) { return cuCtxCreate_v2(out, flags, device); }
/// Other threads keep it on their stacks. The primary context stays: it is released instead.
CudaError cuCtxDestroy_v2(void* context) {
  return serve("cuCtxDestroy", [&](Context& c) {
    GuestContext& destroyed = c.contexts.get(context);
    destroyed.destroyed = &destroyed != &c.contexts.primary();
    ContextStack& stack = c.thread().contexts;
    if (stack.current() == &destroyed) stack.pop();
  });
}
/// Replaces the context on top of the thread's stack; null takes it away.
CudaError cuCtxSetCurrent(void* context) {
  return serve("cuCtxSetCurrent", [&](Context& c) { c.thread().contexts.replace(context != nullptr ? &c.contexts.get(context) : nullptr); });
}
CudaError cuCtxPushCurrent_v2(void* context) {
  return serve("cuCtxPushCurrent", [&](Context& c) { c.thread().contexts.push(c.contexts.get(context)); });
}
CudaError cuCtxPopCurrent_v2(void** out) {
  return serve("cuCtxPopCurrent", [&](Context& c) {
    GuestContext& popped = c.current_context();
    c.thread().contexts.pop();
    if (out != nullptr) *out = &popped;
  });
}
CudaError cuCtxGetCurrent(void** out) {
  return serve("cuCtxGetCurrent", [&](Context& c) {
    require_value(out != nullptr);
    *out = c.thread().contexts.current();
  });
}
CudaError cuCtxGetDevice(int* out) {
  return serve("cuCtxGetDevice", [&](Context&) { *out = 0; });
}
CudaError cuCtxGetApiVersion(void*, unsigned* out) {
  return serve("cuCtxGetApiVersion", [&](Context&) { *out = kRuntimeVersion; });
}
CudaError cuCtxGetLimit(size_t* out, int limit) { return forward(cudaDeviceGetLimit, out, limit); }
CudaError cuCtxSetLimit(int limit, size_t value) { return forward(cudaDeviceSetLimit, limit, value); }
CudaError cuCtxSynchronize() { return forward(cudaDeviceSynchronize); }
CudaError cuCtxSynchronize_v2(void* context) {
  const CudaError e = use_context("cuCtxSynchronize", context);
  return e == CudaError::success ? cuCtxSynchronize() : e;
}
CudaError cuCtxGetDevice_v2(int* out, void* context) {
  const CudaError e = use_context("cuCtxGetDevice", context);
  return e == CudaError::success ? cuCtxGetDevice(out) : e;
}
CudaError cuDeviceGetP2PAttribute(int* out, int attribute, int from, int to) { return forward(cudaDeviceGetP2PAttribute, out, attribute, from, to); }
CudaError cuCtxGetSharedMemConfig(int* out) { return forward(cudaDeviceGetSharedMemConfig, out); }
CudaError cuCtxSetSharedMemConfig(int config) { return forward(cudaDeviceSetSharedMemConfig, config); }
CudaError cuFuncSetSharedMemConfig(void* function, int config) { return forward(cudaFuncSetSharedMemConfig, function, config); }

CudaError cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t, int* status) {
  return serve_always("cuGetProcAddress", [&](Context&) {
    require_value(name != nullptr && out != nullptr);
    *out = driver_entry_point(name, version);
    if (status != nullptr) *status = *out != nullptr ? 0 : 1;  // CU_GET_PROC_ADDRESS_SUCCESS, SYMBOL_NOT_FOUND
    require(*out != nullptr, CudaError::symbol_not_found);
  });
}

/// The first version, by which libraries that load the driver themselves find everything else (Warp).
CudaError cuGetProcAddress(const char* name, void** out, int version, uint64_t flags) { return cuGetProcAddress_v2(name, out, version, flags, nullptr); }

CudaError cuCtxGetStreamPriorityRange(int* least, int* greatest) { return forward(cudaDeviceGetStreamPriorityRange, least, greatest); }
CudaError cuCtxGetFlags(unsigned* out) {
  return serve("cuCtxGetFlags", [&](Context& c) {
    require_value(out != nullptr);
    const GuestContext* const current = c.thread().contexts.current();
    *out = current != nullptr ? current->flags : 0;
  });
}
CudaError cuCtxSetFlags(unsigned flags) {
  return serve("cuCtxSetFlags", [&](Context& c) {
    if (GuestContext* const current = c.thread().contexts.current(); current != nullptr) current->flags = flags;
  });
}
CudaError cuCtxGetId(void* context, unsigned long long* out) {
  return serve("cuCtxGetId", [&](Context& c) {
    const GuestContext& asked = context != nullptr ? c.contexts.get(context) : c.current_context();
    require_value(out != nullptr);
    *out = asked.id;
  });
}
CudaError cuCtxGetCacheConfig(int* out) { return forward(cudaDeviceGetCacheConfig, out); }
CudaError cuCtxSetCacheConfig(int config) { return forward(cudaDeviceSetCacheConfig, config); }
CudaError cuCtxResetPersistingL2Cache() { return forward(cudaCtxResetPersistingL2Cache); }
CudaError cuDeviceGetByPCIBusId(int* out, const char* id) { return forward(cudaDeviceGetByPCIBusId, out, id); }
CudaError cuProfilerStart() { return forward(cudaProfilerStart); }
CudaError cuProfilerStop() { return forward(cudaProfilerStop); }

#pragma GCC visibility pop
}
