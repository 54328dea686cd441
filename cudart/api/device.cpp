// Device queries and errors of the runtime interface.
#include <cstring>
#include <string_view>

#include "cudart/errors.h"
#include "cudart/properties.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

void require_device(int device) { require(device == 0, CudaError::invalid_device); }

constexpr char kPciId[] = "0000:00:00.0";  // domain, bus, device, function

/// True for the device's identifier, which a program may write without its domain or its function. Throws CallFailed for what is none.
bool names_the_device(const char* id) {
  const std::string_view text = id;
  require_value(text.find(':') != text.npos && text.find_first_not_of("0123456789abcdefABCDEF:.") == text.npos);
  const std::string_view own = kPciId;
  return text == own || text == own.substr(0, own.find('.')) || text == own.substr(own.find(':') + 1);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

const char* cudaGetErrorName(CudaError e) { return runtime_name(e); }
const char* cudaGetErrorString(CudaError e) {
  const char* text = error_text(e);
  return text != nullptr ? text : "unrecognized error code";
}

CudaError cudaGetLastError() {
  CudaError out = CudaError::success;
  const CudaError call = serve_always("cudaGetLastError", [&](Context& c) {
    out = c.sticky != CudaError::success ? c.sticky : c.thread().last;
    c.thread().last = CudaError::success;
  });
  return call != CudaError::success ? call : out;
}
CudaError cudaPeekAtLastError() {
  CudaError out = CudaError::success;
  const CudaError call =
      serve_always("cudaPeekAtLastError", [&](Context& c) { out = c.sticky != CudaError::success ? c.sticky : c.thread().last; });
  return call != CudaError::success ? call : out;
}

CudaError cudaDeviceSynchronize() {
  return serve("cudaDeviceSynchronize", [](Context& c) {
    c.streams.refuse_while_capturing();
    c.device();
    wait_until(c, "cudaDeviceSynchronize", [&] { return !c.streams.any_held(); });
    c.launcher().queue_drained();
  });
}
CudaError cudaDeviceReset() {
  return serve_always("cudaDeviceReset", [](Context& c) { c.reset(); });
}

CudaError cudaGetDeviceCount(int* out) {
  return serve_always("cudaGetDeviceCount", [&](Context& c) {
    require_value(out != nullptr);
    c.device();
    *out = 1;
  });
}
CudaError cudaGetDevice(int* out) {
  return serve_always("cudaGetDevice", [&](Context&) {
    require_value(out != nullptr);
    *out = 0;
  });
}
CudaError cudaSetDevice(int device) {
  return serve("cudaSetDevice", [&](Context& c) {
    require_device(device);
    c.device();
    c.thread().contexts.replace(&c.contexts.primary());
  });
}
CudaError cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
CudaError cudaSetDeviceFlags(unsigned) {
  return serve("cudaSetDeviceFlags", [](Context&) {});
}
CudaError cudaGetDeviceFlags(unsigned* out) {
  return serve("cudaGetDeviceFlags", [&](Context&) { *out = 0; });
}
CudaError cudaChooseDevice(int* out, const void*) { return cudaGetDevice(out); }
CudaError cudaSetValidDevices(int* list, int n) {
  return serve("cudaSetValidDevices", [&](Context&) {
    for (int i = 0; i < n; ++i) require_device(list[i]);
  });
}

CudaError cudaDeviceGetAttribute(int* out, int attribute, int device) {
  return serve("cudaDeviceGetAttribute", [&](Context& c) {
    require_device(device);
    require_value(out != nullptr);
    *out = device_attribute(c.device(), attribute);
  });
}
CudaError cudaGetDeviceProperties(void* out, int device) {
  return serve("cudaGetDeviceProperties", [&](Context& c) {
    require_device(device);
    require_value(out != nullptr);
    fill_properties13(c.device(), out);
  });
}
/// Called by programs compiled with CUDA 12.
CudaError cudaGetDeviceProperties_v2(void* out, int device) {
  return serve("cudaGetDeviceProperties_v2", [&](Context& c) {
    require_device(device);
    require_value(out != nullptr);
    fill_properties12(c.device(), out);
  });
}

CudaError cudaDeviceGetPCIBusId(char* out, int bytes, int device) {
  return serve("cudaDeviceGetPCIBusId", [&](Context&) {
    require_device(device);
    require_value(out != nullptr && bytes >= static_cast<int>(sizeof kPciId));
    std::memcpy(out, kPciId, sizeof kPciId);
  });
}
CudaError cudaDeviceGetByPCIBusId(int* out, const char* id) {
  return serve("cudaDeviceGetByPCIBusId", [&](Context&) {
    require_value(out != nullptr && id != nullptr);
    require(names_the_device(id), CudaError::invalid_device);
    *out = 0;
  });
}

CudaError cudaDriverGetVersion(int* out) {
  return serve_always("cudaDriverGetVersion", [&](Context&) { *out = kDriverVersion; });
}
CudaError cudaRuntimeGetVersion(int* out) {
  return serve_always("cudaRuntimeGetVersion", [&](Context&) { *out = kRuntimeVersion; });
}

CudaError cudaDeviceGetLimit(size_t* out, int limit) {
  return serve("cudaDeviceGetLimit", [&](Context& c) {
    require_value(out != nullptr);
    *out = c.limits.get(limit);
  });
}
CudaError cudaDeviceSetLimit(int limit, size_t value) {
  return serve("cudaDeviceSetLimit", [&](Context& c) {
    c.limits.set(limit, value);
    c.device().set_kernel_heap(c.limits.get(Limits::kMallocHeap));
  });
}
CudaError cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return serve("cudaDeviceGetStreamPriorityRange", [&](Context&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}
CudaError cudaDeviceGetCacheConfig(int* out) {
  return serve("cudaDeviceGetCacheConfig", [&](Context&) { *out = 0; });
}
CudaError cudaDeviceSetCacheConfig(int) {
  return serve("cudaDeviceSetCacheConfig", [](Context&) {});
}
CudaError cudaCtxResetPersistingL2Cache() {
  return serve("cudaCtxResetPersistingL2Cache", [](Context&) {});
}
// A device is no peer of itself.
CudaError cudaDeviceEnablePeerAccess(int, unsigned) {
  return serve("cudaDeviceEnablePeerAccess", [](Context&) { require(false, CudaError::invalid_device); });
}
CudaError cudaDeviceDisablePeerAccess(int) {
  return serve("cudaDeviceDisablePeerAccess", [](Context&) { require(false, CudaError::invalid_device); });
}
// Banks of shared memory have one width on every device since compute capability 5.0.
CudaError cudaDeviceGetSharedMemConfig(int* out) {
  return serve("cudaDeviceGetSharedMemConfig", [&](Context&) {
    require_value(out != nullptr);
    *out = 1;  // cudaSharedMemBankSizeFourByte
  });
}
CudaError cudaDeviceSetSharedMemConfig(int) {
  return serve("cudaDeviceSetSharedMemConfig", [](Context&) {});
}
/// Notices of a device that runs out of memory: there are none.
CudaError cudaDeviceRegisterAsyncNotification(int device, void*, void*, void** out) {
  return serve("cudaDeviceRegisterAsyncNotification", [&](Context&) {
    static char handle;
    require_device(device);
    require_value(out != nullptr);
    *out = &handle;
  });
}
CudaError cudaDeviceUnregisterAsyncNotification(int device, void*) {
  return serve("cudaDeviceUnregisterAsyncNotification", [&](Context&) { require_device(device); });
}
CudaError cudaDeviceCanAccessPeer(int* out, int, int) {
  return serve("cudaDeviceCanAccessPeer", [&](Context&) { *out = 0; });
}
// Attributes of links between two devices: there is one device, and a device has no link to itself.
CudaError cudaDeviceGetP2PAttribute(int* out, int attribute, int, int) {
  constexpr int kFirst = 1, kLast = 5;  // cudaDevP2PAttrPerformanceRank to cudaDevP2PAttrOnlyPartialNativeAtomicSupported
  return serve("cudaDeviceGetP2PAttribute", [&](Context&) {
    require_value(out != nullptr && attribute >= kFirst && attribute <= kLast);
    require(false, CudaError::invalid_device);
  });
}
/// cudaChannelFormatDesc: only returned, because textures are not served.
struct ChannelDesc {
  int x, y, z, w, kind;
};
ChannelDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return {x, y, z, w, kind}; }

CudaError cudaProfilerStart() {
  return serve("cudaProfilerStart", [](Context&) {});
}
CudaError cudaProfilerStop() {
  return serve("cudaProfilerStop", [](Context&) {});
}

#pragma GCC visibility pop
}
