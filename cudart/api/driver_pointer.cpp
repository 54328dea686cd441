// cuPointerGetAttribute and its kin: what the driver interface says of an address.
#include <cstring>

#include "cudart/runtime_api.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

// CUpointer_attribute of cuda.h
enum PointerAttribute : int {
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kSyncMemops = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kIsLegacyIpcCapable = 10,
  kRangeStart = 11,
  kRangeSize = 12,
  kMapped = 13,
  kAllowedHandleTypes = 14,
  kIsGpuDirectRdmaCapable = 15,
  kAccessFlags = 16,
  kMempoolHandle = 17,
};
constexpr unsigned kHostMemory = 1, kDeviceMemory = 2;  // CUmemorytype; managed memory is of the device
constexpr uint64_t kReadWrite = 3;                      // CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE

template <class T>
void put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
}

/// Writes the attribute in the type that cuda.h gives it. Throws CallFailed for one that does not apply.
void give(Context& c, void* out, int attribute, uint64_t p, const Allocation& a) {
  const bool device = a.type == MemoryType::device;
  switch (attribute) {
    case kContext: return put(out, a.context != nullptr ? a.context : &c.contexts.primary());
    case kMemoryType: return put(out, a.type == MemoryType::host ? kHostMemory : kDeviceMemory);
    case kDevicePointer: return put(out, p);
    case kHostPointer: return require_value(!device), put(out, p);
    case kSyncMemops: return put(out, uint32_t{0});
    case kBufferId: return put(out, a.base);
    case kIsManaged: return put(out, a.type == MemoryType::managed);
    case kDeviceOrdinal: return put(out, 0);
    case kIsLegacyIpcCapable:
    case kIsGpuDirectRdmaCapable: return put(out, false);
    case kRangeStart: return put(out, a.base);
    case kRangeSize: return put(out, a.bytes);
    case kMapped: return put(out, true);
    case kAllowedHandleTypes: return put(out, uint64_t{0});
    case kAccessFlags: return put(out, kReadWrite);
    case kMempoolHandle: return put(out, static_cast<void*>(nullptr));
    default: throw CallFailed{CudaError::not_supported};
  }
}

/// Bytes of an attribute of an address that CUDA does not know: cuPointerGetAttributes writes zeros.
size_t bytes_of(int attribute) {
  switch (attribute) {
    case kMemoryType:
    case kSyncMemops:
    case kDeviceOrdinal: return 4;
    case kIsManaged:
    case kIsLegacyIpcCapable:
    case kMapped:
    case kIsGpuDirectRdmaCapable: return 1;
    default: return 8;
  }
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuPointerGetAttribute(void* out, int attribute, uint64_t p) {
  return serve("cuPointerGetAttribute", [&](Context& c) {
    const auto a = c.memory_at(p);
    require_value(out != nullptr && a.has_value());
    give(c, out, attribute, p, *a);
  });
}

CudaError cuPointerGetAttributes(unsigned n, const int* attributes, void** outs, uint64_t p) {
  return serve("cuPointerGetAttributes", [&](Context& c) {
    require_value(attributes != nullptr && outs != nullptr);
    const auto a = c.memory_at(p);
    for (unsigned i = 0; i < n; ++i) {
      std::memset(outs[i], 0, bytes_of(attributes[i]));
      // An attribute that the memory does not have stays zero; -2 is the ordinal of no device (cuda.h,
      // CU_DEVICE_INVALID).
      if (!a.has_value() && attributes[i] == kDeviceOrdinal) put(outs[i], -2);
      if (a.has_value() && !(attributes[i] == kHostPointer && a->type == MemoryType::device))
        give(c, outs[i], attributes[i], p, *a);
    }
  });
}

/// Every copy is synchronous here, so that synchronous operations need no setting.
CudaError cuPointerSetAttribute(const void* value, int attribute, uint64_t p) {
  return serve("cuPointerSetAttribute", [&](Context& c) {
    require_value(value != nullptr && c.memory_at(p).has_value());
    require(attribute == kSyncMemops, CudaError::not_supported);
  });
}

#pragma GCC visibility pop
}
