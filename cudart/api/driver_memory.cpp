// Memory of the driver interface. A CUdeviceptr is the address that the runtime uses as a pointer.
#include "cudart/runtime_api.h"
#include "cudart/serve.h"
#include "drywell/core/sizes.h"

using namespace drywell::cudart;

namespace {

void* pointer(uint64_t p) { return reinterpret_cast<void*>(p); }

CudaError set(const char* name, uint64_t to, uint32_t value, unsigned element, size_t n, void* stream) {
  return serve(name, [&](Context& c) {
    Memory& m = c.memory();
    c.streams.submit(c.streams.get(stream), GraphNodeType::memset,
                     [&m, to, value, element, bytes = drywell::size_product(n, element)] { m.set({pointer(to), bytes, 0}, value, element, {bytes, 1, 1}); });
  });
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuMemAlloc_v2(uint64_t* out, size_t bytes) {
  return bytes == 0 ? CudaError::invalid_value : forward(cudaMalloc, reinterpret_cast<void**>(out), bytes);
}
CudaError cuMemFree_v2(uint64_t p) { return forward(cudaFree, pointer(p)); }
CudaError cuMemAllocAsync(uint64_t* out, size_t bytes, void* stream) { return forward(cudaMallocAsync, reinterpret_cast<void**>(out), bytes, stream); }
CudaError cuMemFreeAsync(uint64_t p, void* stream) { return forward(cudaFreeAsync, pointer(p), stream); }
CudaError cuMemAllocManaged(uint64_t* out, size_t bytes, unsigned flags) { return forward(cudaMallocManaged, reinterpret_cast<void**>(out), bytes, flags); }
CudaError cuMemAllocPitch_v2(uint64_t* out, size_t* pitch, size_t width, size_t height, unsigned) {
  return forward(cudaMallocPitch, reinterpret_cast<void**>(out), pitch, width, height);
}
CudaError cuMemAllocHost_v2(void** out, size_t bytes) { return forward(cudaHostAlloc, out, bytes, 0); }
CudaError cuMemHostAlloc(void** out, size_t bytes, unsigned flags) { return forward(cudaHostAlloc, out, bytes, flags); }
CudaError cuMemFreeHost(void* p) { return forward(cudaFreeHost, p); }
CudaError cuMemHostRegister_v2(void* p, size_t bytes, unsigned flags) { return forward(cudaHostRegister, p, bytes, flags); }
CudaError cuMemHostUnregister(void* p) { return forward(cudaHostUnregister, p); }
CudaError cuMemHostGetDevicePointer_v2(uint64_t* out, void* p, unsigned flags) {
  return forward(cudaHostGetDevicePointer, reinterpret_cast<void**>(out), p, flags);
}
CudaError cuMemGetInfo_v2(size_t* free, size_t* total) { return forward(cudaMemGetInfo, free, total); }
CudaError cuMemGetAddressRange_v2(uint64_t* base, size_t* bytes, uint64_t p) {
  return serve("cuMemGetAddressRange", [&](Context& c) {
    const auto a = c.memory_at(p);
    require_value(a.has_value());
    if (base != nullptr) *base = a->base;
    if (bytes != nullptr) *bytes = a->bytes;
  });
}

CudaError cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) { return forward(cudaMemcpy, pointer(to), from, bytes, CopyKind::host_to_device); }
CudaError cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) { return forward(cudaMemcpy, to, pointer(from), bytes, CopyKind::device_to_host); }
CudaError cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) { return forward(cudaMemcpy, pointer(to), pointer(from), bytes, CopyKind::device_to_device); }
CudaError cuMemcpy(uint64_t to, uint64_t from, size_t bytes) { return forward(cudaMemcpy, pointer(to), pointer(from), bytes, CopyKind::inferred); }
CudaError cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  return forward(cudaMemcpyAsync, pointer(to), from, bytes, CopyKind::host_to_device, stream);
}
CudaError cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  return forward(cudaMemcpyAsync, to, pointer(from), bytes, CopyKind::device_to_host, stream);
}
CudaError cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  return forward(cudaMemcpyAsync, pointer(to), pointer(from), bytes, CopyKind::device_to_device, stream);
}
CudaError cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  return forward(cudaMemcpyAsync, pointer(to), pointer(from), bytes, CopyKind::inferred, stream);
}

// There is one context, whatever the program passes.
CudaError cuMemcpyPeer(uint64_t to, void*, uint64_t from, void*, size_t bytes) { return cuMemcpyDtoD_v2(to, from, bytes); }
CudaError cuMemcpyPeerAsync(uint64_t to, void*, uint64_t from, void*, size_t bytes, void* stream) { return cuMemcpyDtoDAsync_v2(to, from, bytes, stream); }

CudaError cuMemsetD8_v2(uint64_t to, unsigned char value, size_t n) { return set("cuMemsetD8", to, value, 1, n, nullptr); }
CudaError cuMemsetD16_v2(uint64_t to, unsigned short value, size_t n) { return set("cuMemsetD16", to, value, 2, n, nullptr); }
CudaError cuMemsetD32_v2(uint64_t to, unsigned value, size_t n) { return set("cuMemsetD32", to, value, 4, n, nullptr); }
CudaError cuMemsetD8Async(uint64_t to, unsigned char value, size_t n, void* stream) { return set("cuMemsetD8Async", to, value, 1, n, stream); }
CudaError cuMemsetD16Async(uint64_t to, unsigned short value, size_t n, void* stream) { return set("cuMemsetD16Async", to, value, 2, n, stream); }
CudaError cuMemsetD32Async(uint64_t to, unsigned value, size_t n, void* stream) { return set("cuMemsetD32Async", to, value, 4, n, stream); }

CudaError cuMemHostGetFlags(unsigned* out, void* p) { return forward(cudaHostGetFlags, out, p); }
CudaError cuDeviceGetDefaultMemPool(void** out, int device) { return forward(cudaDeviceGetDefaultMemPool, out, device); }
CudaError cuDeviceGetMemPool(void** out, int device) { return forward(cudaDeviceGetMemPool, out, device); }
CudaError cuDeviceSetMemPool(int device, void* pool) { return forward(cudaDeviceSetMemPool, device, pool); }
CudaError cuMemGetDefaultMemPool(void** out, const MemLocation* where, int type) { return forward(cudaMemGetDefaultMemPool, out, where, type); }
CudaError cuMemGetMemPool(void** out, const MemLocation* where, int type) { return forward(cudaMemGetMemPool, out, where, type); }
CudaError cuMemSetMemPool(const MemLocation* where, int type, void* pool) { return forward(cudaMemSetMemPool, where, type, pool); }
CudaError cuMemPoolGetAccess(int* out, void* pool, const MemLocation* where) { return forward(cudaMemPoolGetAccess, out, pool, where); }
CudaError cuMemPoolCreate(void** out, const void* properties) { return forward(cudaMemPoolCreate, out, properties); }
CudaError cuMemPoolDestroy(void* pool) { return forward(cudaMemPoolDestroy, pool); }
CudaError cuMemPoolTrimTo(void* pool, size_t bytes) { return forward(cudaMemPoolTrimTo, pool, bytes); }
CudaError cuMemPoolSetAttribute(void* pool, int attribute, void* value) { return forward(cudaMemPoolSetAttribute, pool, attribute, value); }
CudaError cuMemPoolGetAttribute(void* pool, int attribute, void* value) { return forward(cudaMemPoolGetAttribute, pool, attribute, value); }
CudaError cuMemPoolSetAccess(void* pool, const void* list, size_t count) { return forward(cudaMemPoolSetAccess, pool, list, count); }
CudaError cuMemAllocFromPoolAsync(uint64_t* out, size_t bytes, void* pool, void* stream) {
  return forward(cudaMallocFromPoolAsync, reinterpret_cast<void**>(out), bytes, pool, stream);
}

#pragma GCC visibility pop
}
