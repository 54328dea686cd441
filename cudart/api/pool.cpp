// Memory pools: names for the one heap of the device.
#include <cstring>

#include "cudart/api/allocate.h"
#include "cudart/api/per_thread.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

// Opaque handles, different from nullptr and from each other; pools keep no memory back, so they have no state.
constexpr uintptr_t kDefaultPool = 0x10, kOwnPool = 0x20;

// cudaMemPoolAttr: three reuse policies (int), then the release threshold (cuuint64_t); they have no effect. Then bytes reserved and
// used, each now and at most: pools keep nothing back, so reserved is used.
constexpr int kFirstSetting = 1, kReleaseThreshold = 4, kReservedNow = 5, kReservedMost = 6, kUsedNow = 7, kUsedMost = 8;
size_t bytes_of(int attribute) { return attribute == kReleaseThreshold ? 8 : 4; }

void require_pool(const void* pool) {
  const auto p = reinterpret_cast<uintptr_t>(pool);
  require_value(p == kDefaultPool || p == kOwnPool);
}
// The greatest number of bytes may be set to 0 only.
void reset_most(Context& c, int attribute, const void* value) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, value, sizeof bytes);
  require_value((attribute == kReservedMost || attribute == kUsedMost) && bytes == 0);
  c.memory().pool_high = c.memory().pool_bytes();
}
/// A pool of the device; pools of the host's memory are not served.
void require_place(const MemLocation* where) {
  constexpr int kOfDevice = 1;  // cudaMemLocationTypeDevice
  require_value(where != nullptr);
  require(where->type == kOfDevice, CudaError::not_supported);
  require(where->id == 0, CudaError::invalid_device);
}
void give(void** out, uintptr_t pool) {
  require_value(out != nullptr);
  *out = reinterpret_cast<void*>(pool);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaDeviceGetDefaultMemPool(void** out, int device) {
  return serve("cudaDeviceGetDefaultMemPool", [&](Context&) {
    require(device == 0, CudaError::invalid_device);
    give(out, kDefaultPool);
  });
}
CudaError cudaDeviceGetMemPool(void** out, int device) { return cudaDeviceGetDefaultMemPool(out, device); }
CudaError cudaDeviceSetMemPool(int device, void* pool) {
  return serve("cudaDeviceSetMemPool", [&](Context&) {
    require(device == 0, CudaError::invalid_device);
    require_pool(pool);
  });
}
CudaError cudaMemGetDefaultMemPool(void** out, const MemLocation* where, int) {
  return serve("cudaMemGetDefaultMemPool", [&](Context&) {
    require_place(where);
    give(out, kDefaultPool);
  });
}
CudaError cudaMemGetMemPool(void** out, const MemLocation* where, int type) { return cudaMemGetDefaultMemPool(out, where, type); }
CudaError cudaMemSetMemPool(const MemLocation* where, int, void* pool) {
  return serve("cudaMemSetMemPool", [&](Context&) {
    require_place(where);
    require_pool(pool);
  });
}
CudaError cudaMemPoolCreate(void** out, const void*) {
  return serve("cudaMemPoolCreate", [&](Context&) { give(out, kOwnPool); });
}
CudaError cudaMemPoolDestroy(void* pool) {
  return serve("cudaMemPoolDestroy", [&](Context&) { require_pool(pool); });
}
// Pools keep no freed memory, so there is nothing to trim, to reuse or to limit.
CudaError cudaMemPoolTrimTo(void* pool, size_t) {
  return serve("cudaMemPoolTrimTo", [&](Context&) { require_pool(pool); });
}
CudaError cudaMemPoolSetAttribute(void* pool, int attribute, const void* value) {
  return serve("cudaMemPoolSetAttribute", [&](Context& c) {
    require_pool(pool);
    require_value(value != nullptr && attribute >= kFirstSetting && attribute <= kUsedMost);
    if (attribute > kReleaseThreshold) return reset_most(c, attribute, value);
    uint64_t& kept = c.pool_settings[{reinterpret_cast<uintptr_t>(pool), attribute}];
    kept = 0;
    std::memcpy(&kept, value, bytes_of(attribute));
  });
}
CudaError cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return serve("cudaMemPoolGetAttribute", [&](Context& c) {
    require_pool(pool);
    require_value(value != nullptr && attribute >= kFirstSetting);
    require_value(attribute <= kUsedMost);
    if (attribute > kReleaseThreshold) {
      const bool most = attribute == kReservedMost || attribute == kUsedMost;
      const uint64_t bytes = most ? c.memory().pool_high : c.memory().pool_bytes();
      std::memcpy(value, &bytes, sizeof bytes);
      return;
    }
    const auto it = c.pool_settings.find({reinterpret_cast<uintptr_t>(pool), attribute});
    const uint64_t kept = it != c.pool_settings.end() ? it->second : attribute == kReleaseThreshold ? 0
                                                                                                    : 1;
    std::memcpy(value, &kept, bytes_of(attribute));
  });
}
CudaError cudaMemPoolSetAccess(void* pool, const void*, size_t) {
  return serve("cudaMemPoolSetAccess", [&](Context&) { require_pool(pool); });
}
CudaError cudaMemPoolGetAccess(int* out, void* pool, const MemLocation* where) {
  return serve("cudaMemPoolGetAccess", [&](Context&) {
    require_pool(pool);
    require_value(out != nullptr && where != nullptr);
    *out = 3;  // cudaMemAccessFlagsProtReadWrite
  });
}
CudaError cudaMallocFromPoolAsync(void** out, size_t bytes, void* pool, void* stream) {
  return serve("cudaMallocFromPoolAsync", [&](Context& c) {
    require_pool(pool);
    allocate_in_stream(c, out, bytes, stream);
  });
}
PER_THREAD_ALIAS(cudaMallocFromPoolAsync, _ptsz);

#pragma GCC visibility pop
}
