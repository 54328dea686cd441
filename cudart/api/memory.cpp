// Allocation and pointers of the runtime interface.
#include "cudart/api/allocate.h"
#include "cudart/api/per_thread.h"
#include "cudart/graph_work.h"
#include "cudart/serve.h"
#include "drywell/core/sizes.h"

using namespace drywell::cudart;

namespace {

constexpr size_t kPitchAlignment = 512;  // bytes; the value of devices of compute capability 9.0 and 10.0

void allocate(Context& c, void** out, size_t bytes, MemoryType type, unsigned flags) {
  require_value(out != nullptr);
  c.streams.refuse_unsafe();
  *out = c.memory().allocate(bytes, type, flags);
  if (*out != nullptr) c.memory().belongs_to(*out, c.thread().contexts.current());
}

}  // namespace

void drywell::cudart::allocate_in_stream(Context& c, void** out, size_t bytes, const void* stream) {
  require_value(out != nullptr);
  Stream& s = c.streams.get(stream);
  if (s.capture == nullptr) {
    *out = c.memory().allocate(bytes, MemoryType::device);
    return c.memory().count_in_pool(*out);
  }
  // A graph's addresses are fixed at capture.
  MemAllocNodeParams p{};
  p.bytes = bytes;
  Work work = alloc_work(c, &p, freed_before(*s.capture, s.last, bytes));
  *out = p.address;
  c.streams.submit(s, GraphNodeType::mem_alloc, std::move(work));
}

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaMalloc(void** out, size_t bytes) {
  return serve("cudaMalloc", [&](Context& c) { allocate(c, out, bytes, MemoryType::device, 0); });
}

CudaError cudaFree(void* p) {
  return serve("cudaFree", [&](Context& c) {
    c.device();  // programs call cudaFree(0) to initialise the device
    c.streams.refuse_unsafe();
    wait_until(c, "cudaFree", [&] { return p == nullptr || !c.streams.any_held(); });
    c.memory().release(p, {MemoryType::device, MemoryType::managed});
  });
}

CudaError cudaMallocAsync(void** out, size_t bytes, void* stream) {
  return serve("cudaMallocAsync", [&](Context& c) {
    allocate_in_stream(c, out, bytes, stream);
  });
}
PER_THREAD_ALIAS(cudaMallocAsync, _ptsz);

CudaError cudaFreeAsync(void* p, void* stream) {
  return serve("cudaFreeAsync", [&](Context& c) {
    Stream& s = c.streams.get(stream);
    if (s.capture == nullptr && c.streams.in_front(s)) return c.streams.submit(s, GraphNodeType::mem_free, [&memory = c.memory(), p] { memory.release(p, {MemoryType::device}); });
    if (s.capture == nullptr) return c.memory().release(p, {MemoryType::device});
    // The graph's memory stays allocated for its next launch; its content is poisoned.
    c.streams.submit(s, GraphNodeType::mem_free, free_work(c, p));
  });
}
PER_THREAD_ALIAS(cudaFreeAsync, _ptsz);

CudaError cudaMallocManaged(void** out, size_t bytes, unsigned flags) {
  return serve("cudaMallocManaged", [&](Context& c) { allocate(c, out, bytes, MemoryType::managed, flags); });
}

CudaError cudaHostAlloc(void** out, size_t bytes, unsigned flags) {
  return serve("cudaHostAlloc", [&](Context& c) { allocate(c, out, bytes, MemoryType::host, flags); });
}

CudaError cudaMallocHost(void** out, size_t bytes) { return cudaHostAlloc(out, bytes, 0); }

CudaError cudaFreeHost(void* p) {
  return serve("cudaFreeHost", [&](Context& c) { c.memory().release(p, {MemoryType::host}); });
}

CudaError cudaHostRegister(void* p, size_t bytes, unsigned flags) {
  return serve("cudaHostRegister", [&](Context& c) { c.memory().register_host(p, bytes, flags); });
}

CudaError cudaHostUnregister(void* p) {
  return serve("cudaHostUnregister", [&](Context& c) { c.memory().unregister_host(p); });
}

CudaError cudaHostGetDevicePointer(void** out, void* p, unsigned) {
  return serve("cudaHostGetDevicePointer", [&](Context& c) {
    require_value(out != nullptr && c.memory().find(p).has_value());
    *out = p;
  });
}

CudaError cudaHostGetFlags(unsigned* out, void* p) {
  return serve("cudaHostGetFlags", [&](Context& c) {
    const auto a = c.memory().find(p);
    require_value(out != nullptr && a.has_value() && a->type == MemoryType::host);
    *out = a->flags;
  });
}

CudaError cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  return serve("cudaMallocPitch", [&](Context& c) {
    require_value(pitch != nullptr);
    const uint64_t row = drywell::size_rounded_up(width, kPitchAlignment);
    allocate(c, out, drywell::size_product(row, height), MemoryType::device, 0);
    *pitch = row;
  });
}

CudaError cudaMalloc3D(PitchedPtr* out, Extent extent) {
  return serve("cudaMalloc3D", [&](Context& c) {
    require_value(out != nullptr);
    const uint64_t row = drywell::size_rounded_up(extent.width, kPitchAlignment);
    allocate(c, &out->ptr, drywell::size_product(drywell::size_product(row, extent.height), extent.depth), MemoryType::device, 0);
    out->pitch = row;
    out->xsize = extent.width;
    out->ysize = extent.height;
  });
}

CudaError cudaMemGetInfo(size_t* free, size_t* total) {
  return serve("cudaMemGetInfo", [&](Context& c) {
    require_value(free != nullptr && total != nullptr);
    *total = c.device().memory_capacity();
    const uint64_t device = c.device().memory_free();
    *free = std::min(device - std::min(device, c.virtual_memory().created()), c.memory().left());
  });
}

CudaError cudaPointerGetAttributes(PointerAttributes* out, const void* p) {
  return serve("cudaPointerGetAttributes", [&](Context& c) {
    require_value(out != nullptr);
    const auto a = c.memory().find(p);
    const bool variable = !a.has_value() && c.device().find(drywell::GmemAddr(reinterpret_cast<uintptr_t>(p))).has_value();
    *out = {};
    out->type = a.has_value() ? a->type : variable ? MemoryType::device
                                                   : MemoryType::unregistered;
    out->device = out->type == MemoryType::unregistered ? -2 : 0;  // cudaInvalidDeviceId
    void* const address = const_cast<void*>(p);
    if (out->type != MemoryType::unregistered) out->device_pointer = address;
    if (out->type != MemoryType::device) out->host_pointer = address;
  });
}

#pragma GCC visibility pop
}
