// Copies, fills and symbols of the runtime interface.
#include "cudart/api/per_thread.h"
#include "cudart/copy_actions.h"
#include "cudart/graph_work.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

/// Runs a copy in its stream. Asynchronous copies from pageable memory run at the call, as on a device.
template <class F>
CudaError in_stream(const char* name, const void* stream, GraphNodeType type, F&& make) {
  return serve(name, [&](Context& c) {
    Stream& s = c.streams.get(stream);
    c.streams.submit(s, type, make(c));
  });
}

Action set_action(Context& c, CopyPlace to, int value, CopyShape shape) {
  return [&memory = c.memory(), to, value, shape] { memory.set(to, static_cast<uint32_t>(value), 1, shape); };
}

uint8_t* symbol_place(Context& c, const void* symbol, size_t bytes, size_t offset) {
  const Symbol& s = c.modules.symbol(symbol);
  const auto range = c.variable(*s.module, s.name);
  require_value(offset <= range.bytes && bytes <= range.bytes - offset);
  return reinterpret_cast<uint8_t*>(range.base.value() + offset);
}

CudaError fill(const char* name, void* to, int value, size_t bytes, void* stream) {
  return in_stream(name, stream, GraphNodeType::memset, [&](Context& c) {
    const MemsetParams p{to, bytes, static_cast<unsigned>(value), 1, bytes, 1};
    return set_work(c, &p);
  });
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaMemcpyAsync(void* to, const void* from, size_t bytes, CopyKind kind, void* stream) {
  return in_stream("cudaMemcpyAsync", stream, GraphNodeType::memcpy, [&](Context& c) {
    const Memcpy3DParms p = linear_copy(to, from, bytes, kind);
    return copy_work(c, &p);
  });
}
PER_THREAD_ALIAS(cudaMemcpyAsync, _ptsz);

CudaError cudaMemcpy(void* to, const void* from, size_t bytes, CopyKind kind) {
  return serve("cudaMemcpy", [&](Context& c) {
    wait_until(c, "cudaMemcpy", [&] { return !c.streams.in_front(c.streams.get(nullptr)); });
    c.launcher().queue_drained();
    c.memory().copy(to, from, bytes, kind);
  });
}
PER_THREAD_ALIAS(cudaMemcpy, _ptds);

CudaError cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return serve("cudaMemcpyPeer", [&](Context& c) {
    require(to_device == 0 && from_device == 0, CudaError::invalid_device);
    c.memory().copy(to, from, bytes, CopyKind::device_to_device);
  });
}

CudaError cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes, void* stream) {
  return in_stream("cudaMemcpyPeerAsync", stream, GraphNodeType::memcpy, [&](Context& c) {
    require(to_device == 0 && from_device == 0, CudaError::invalid_device);
    return copy_action(c, to, from, bytes, CopyKind::device_to_device);
  });
}

CudaError cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, CopyKind kind, void* stream) {
  return in_stream("cudaMemcpy2DAsync", stream, GraphNodeType::memcpy,
                   [&](Context& c) { return copy_action(c, {to, to_pitch, 0}, {from, from_pitch, 0}, {width, height, 1}, kind); });
}
PER_THREAD_ALIAS(cudaMemcpy2DAsync, _ptsz);

CudaError cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, CopyKind kind) {
  return settled(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr));
}
PER_THREAD_ALIAS(cudaMemcpy2D, _ptds);

CudaError cudaMemcpy3DAsync(const Memcpy3DParms* p, void* stream) {
  return in_stream("cudaMemcpy3DAsync", stream, GraphNodeType::memcpy, [&](Context& c) { return copy_work(c, p); });
}
PER_THREAD_ALIAS(cudaMemcpy3DAsync, _ptsz);

CudaError cudaMemcpy3D(const Memcpy3DParms* p) { return settled(cudaMemcpy3DAsync(p, nullptr)); }
PER_THREAD_ALIAS(cudaMemcpy3D, _ptds);

CudaError cudaMemsetAsync(void* to, int value, size_t bytes, void* stream) { return fill("cudaMemsetAsync", to, value, bytes, stream); }
PER_THREAD_ALIAS(cudaMemsetAsync, _ptsz);

CudaError cudaMemset(void* to, int value, size_t bytes) { return fill("cudaMemset", to, value, bytes, nullptr); }
PER_THREAD_ALIAS(cudaMemset, _ptds);

CudaError cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, void* stream) {
  return in_stream("cudaMemset2DAsync", stream, GraphNodeType::memset,
                   [&](Context& c) { return set_action(c, {to, pitch, 0}, value, {width, height, 1}); });
}
PER_THREAD_ALIAS(cudaMemset2DAsync, _ptsz);

CudaError cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) { return cudaMemset2DAsync(to, pitch, value, width, height, nullptr); }
PER_THREAD_ALIAS(cudaMemset2D, _ptds);

CudaError cudaMemset3DAsync(PitchedPtr to, int value, Extent extent, void* stream) {
  return in_stream("cudaMemset3DAsync", stream, GraphNodeType::memset, [&](Context& c) {
    return set_action(c, {to.ptr, to.pitch, to.pitch * to.ysize}, value, {extent.width, extent.height, extent.depth});
  });
}
PER_THREAD_ALIAS(cudaMemset3DAsync, _ptsz);

CudaError cudaMemset3D(PitchedPtr to, int value, Extent extent) { return cudaMemset3DAsync(to, value, extent, nullptr); }
PER_THREAD_ALIAS(cudaMemset3D, _ptds);

CudaError cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, CopyKind kind, void* stream) {
  return in_stream("cudaMemcpyToSymbolAsync", stream, GraphNodeType::memcpy,
                   [&](Context& c) { return copy_action(c, symbol_place(c, symbol, bytes, offset), from, bytes, kind); });
}
PER_THREAD_ALIAS(cudaMemcpyToSymbolAsync, _ptsz);

CudaError cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, CopyKind kind) {
  return settled(cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr));
}
PER_THREAD_ALIAS(cudaMemcpyToSymbol, _ptds);

CudaError cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, CopyKind kind, void* stream) {
  return in_stream("cudaMemcpyFromSymbolAsync", stream, GraphNodeType::memcpy,
                   [&](Context& c) { return copy_action(c, to, symbol_place(c, symbol, bytes, offset), bytes, kind); });
}
PER_THREAD_ALIAS(cudaMemcpyFromSymbolAsync, _ptsz);

CudaError cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, CopyKind kind) {
  return settled(cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr));
}
PER_THREAD_ALIAS(cudaMemcpyFromSymbol, _ptds);

CudaError cudaGetSymbolAddress(void** out, const void* symbol) {
  return serve("cudaGetSymbolAddress", [&](Context& c) {
    require_value(out != nullptr);
    void** const managed = c.modules.symbol(symbol).managed;
    *out = managed != nullptr && c.memory().find(*managed).has_value() ? *managed : symbol_place(c, symbol, 0, 0);
  });
}

CudaError cudaGetSymbolSize(size_t* out, const void* symbol) {
  return serve("cudaGetSymbolSize", [&](Context& c) {
    require_value(out != nullptr);
    const Symbol& s = c.modules.symbol(symbol);
    *out = c.variable(*s.module, s.name).bytes;
  });
}

// Hints about the place of managed memory have no effect: it has one place.
CudaError cudaMemPrefetchAsync(const void*, size_t, MemLocation, unsigned, void*) {
  return serve("cudaMemPrefetchAsync", [](Context&) {});
}
PER_THREAD_ALIAS(cudaMemPrefetchAsync, _ptsz);
CudaError cudaMemAdvise(const void*, size_t, int advice, MemLocation) {
  constexpr int kFirst = 1, kLast = 6;  // cudaMemAdviseSetReadMostly to cudaMemAdviseUnsetAccessedBy
  return serve("cudaMemAdvise", [&](Context&) { require_value(advice >= kFirst && advice <= kLast); });
}

#pragma GCC visibility pop
}
