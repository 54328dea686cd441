// Copies and fills in two and three dimensions of the driver interface, and hints.
#include "cudart/driver_copy.h"
#include "cudart/copy_actions.h"
#include "cudart/graph_work.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

template <class P>
CudaError copy(const char* name, const P* p, void* stream) {
  return serve(name, [&](Context& c) {
    const Memcpy3DParms deep = runtime_copy(p);
    c.streams.submit(c.streams.get(stream), GraphNodeType::memcpy, copy_work(c, &deep));
  });
}

CudaError fill(const char* name, uint64_t to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height, void* stream) {
  return serve(name, [&](Context& c) {
    const MemsetParams p{reinterpret_cast<void*>(to), pitch, value, element, width, height};
    c.streams.submit(c.streams.get(stream), GraphNodeType::memset, set_work(c, &p));
  });
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuMemcpy2D_v2(const DriverCopy2D* p) { return settled(copy("cuMemcpy2D", p, nullptr)); }
CudaError cuMemcpy2DUnaligned_v2(const DriverCopy2D* p) { return settled(copy("cuMemcpy2DUnaligned", p, nullptr)); }
CudaError cuMemcpy2DAsync_v2(const DriverCopy2D* p, void* stream) { return copy("cuMemcpy2DAsync", p, stream); }
CudaError cuMemcpy3D_v2(const DriverCopy3D* p) { return settled(copy("cuMemcpy3D", p, nullptr)); }
CudaError cuMemcpy3DAsync_v2(const DriverCopy3D* p, void* stream) { return copy("cuMemcpy3DAsync", p, stream); }

// The same fields, with a context in place of the reserved one.
CudaError cuMemcpy3DPeer(const DriverCopy3D* p) { return settled(copy("cuMemcpy3DPeer", p, nullptr)); }
CudaError cuMemcpy3DPeerAsync(const DriverCopy3D* p, void* stream) { return copy("cuMemcpy3DPeerAsync", p, stream); }

CudaError cuMemsetD2D8_v2(uint64_t to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fill("cuMemsetD2D8", to, pitch, value, 1, width, height, nullptr);
}
CudaError cuMemsetD2D16_v2(uint64_t to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fill("cuMemsetD2D16", to, pitch, value, 2, width, height, nullptr);
}
CudaError cuMemsetD2D32_v2(uint64_t to, size_t pitch, unsigned value, size_t width, size_t height) {
  return fill("cuMemsetD2D32", to, pitch, value, 4, width, height, nullptr);
}
CudaError cuMemsetD2D8Async(uint64_t to, size_t pitch, unsigned char value, size_t width, size_t height, void* stream) {
  return fill("cuMemsetD2D8Async", to, pitch, value, 1, width, height, stream);
}
CudaError cuMemsetD2D16Async(uint64_t to, size_t pitch, unsigned short value, size_t width, size_t height, void* stream) {
  return fill("cuMemsetD2D16Async", to, pitch, value, 2, width, height, stream);
}
CudaError cuMemsetD2D32Async(uint64_t to, size_t pitch, unsigned value, size_t width, size_t height, void* stream) {
  return fill("cuMemsetD2D32Async", to, pitch, value, 4, width, height, stream);
}

// Hints about the place of managed memory have no effect: it has one place.
CudaError cuMemPrefetchAsync_v2(uint64_t, size_t, MemLocation, unsigned, void*) {
  return serve("cuMemPrefetchAsync", [](Context&) {});
}
CudaError cuMemAdvise_v2(uint64_t, size_t, int, MemLocation) {
  return serve("cuMemAdvise", [](Context&) {});
}

#pragma GCC visibility pop
}
