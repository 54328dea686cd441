// Virtual memory of the driver interface: addresses, physical memory, mappings.
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

// CUmemAllocationProp: the type is pinned, the location the device. CUmemAccess_flags: none, read, read and write.
constexpr int kPinned = 1, kDevice = 1, kFullAccess = 3;

struct AllocationProperties {
  int type, handle_types;
  MemLocation location;
  void* metadata;
  unsigned char flags[8];
};
struct AccessDescription {
  MemLocation location;
  int flags;
};

void require_device(const MemLocation& l) { require(l.type == kDevice && l.id == 0, CudaError::invalid_device); }

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuMemGetAllocationGranularity(size_t* out, const AllocationProperties* p, int) {
  return serve("cuMemGetAllocationGranularity", [&](Context&) {
    require_value(out != nullptr && p != nullptr);
    *out = VirtualMemory::kGranularity;
  });
}
CudaError cuMemAddressReserve(uint64_t* out, size_t bytes, size_t alignment, uint64_t, unsigned long long) {
  return serve("cuMemAddressReserve", [&](Context& c) {
    require_value(out != nullptr);
    *out = c.virtual_memory().reserve(bytes, alignment);
  });
}
CudaError cuMemAddressFree(uint64_t base, size_t bytes) {
  return serve("cuMemAddressFree", [&](Context& c) { c.virtual_memory().give_back(base, bytes); });
}
CudaError cuMemCreate(unsigned long long* out, size_t bytes, const AllocationProperties* p, unsigned long long) {
  return serve("cuMemCreate", [&](Context& c) {
    require_value(out != nullptr && p != nullptr && p->type == kPinned);
    require_device(p->location);
    *out = c.virtual_memory().create(bytes);
  });
}
CudaError cuMemRelease(unsigned long long handle) {
  return serve("cuMemRelease", [&](Context& c) { c.virtual_memory().release(handle); });
}
CudaError cuMemRetainAllocationHandle(unsigned long long* out, void* at) {
  return serve("cuMemRetainAllocationHandle", [&](Context& c) {
    require_value(out != nullptr);
    const uint64_t handle = c.virtual_memory().handle_at(reinterpret_cast<uint64_t>(at));
    c.virtual_memory().retain(handle);
    *out = handle;
  });
}
CudaError cuMemGetAllocationPropertiesFromHandle(AllocationProperties* out, unsigned long long handle) {
  return serve("cuMemGetAllocationPropertiesFromHandle", [&](Context& c) {
    require_value(out != nullptr);
    c.virtual_memory().bytes_of(handle);
    *out = {kPinned, 0, {kDevice, 0}, nullptr, {}};
  });
}
CudaError cuMemMap(uint64_t at, size_t bytes, size_t offset, unsigned long long handle, unsigned long long) {
  return serve("cuMemMap", [&](Context& c) { c.virtual_memory().map(at, bytes, offset, handle); });
}
CudaError cuMemUnmap(uint64_t at, size_t bytes) {
  return serve("cuMemUnmap", [&](Context& c) { c.virtual_memory().unmap(at, bytes); });
}
CudaError cuMemSetAccess(uint64_t at, size_t bytes, const AccessDescription* list, size_t count) {
  return serve("cuMemSetAccess", [&](Context& c) {
    require_value(list != nullptr && count != 0);
    for (size_t i = 0; i < count; ++i) {
      if (list[i].location.type != kDevice) continue;  // the host's own access
      require_device(list[i].location);
      c.virtual_memory().set_access(at, bytes, list[i].flags != 0);
    }
  });
}
CudaError cuMemGetAccess(unsigned long long* flags, const MemLocation* where, uint64_t at) {
  return serve("cuMemGetAccess", [&](Context& c) {
    require_value(flags != nullptr && where != nullptr);
    *flags = c.virtual_memory().accessible(at) ? kFullAccess : 0;
  });
}

#pragma GCC visibility pop
}
