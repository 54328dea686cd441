// Many copies or hints in one call, and copies between devices, of which there is one, in both interfaces.
#include "cudart/api/per_thread.h"
#include "cudart/copy_actions.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

/// cudaMemcpy3DPeerParms
struct PeerCopy {
  void* src_array;
  Pos src_pos;
  PitchedPtr src_ptr;
  int src_device;
  void* dst_array;
  Pos dst_pos;
  PitchedPtr dst_ptr;
  int dst_device;
  Extent extent;
};

Memcpy3DParms within_device(const PeerCopy* p) {
  require_value(p != nullptr);
  require(p->src_device == 0 && p->dst_device == 0, CudaError::invalid_device);
  return {p->src_array, p->src_pos, p->src_ptr, p->dst_array, p->dst_pos, p->dst_ptr, p->extent, CopyKind::inferred};
}

void require_lists(const void* a, const void* b, size_t count) { require_value(count != 0 && a != nullptr && b != nullptr); }

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaMemcpy3DPeerAsync(const PeerCopy* p, void* stream) {
  return serve("cudaMemcpy3DPeerAsync", [&](Context& c) {
    const Memcpy3DParms copy = within_device(p);
    c.streams.submit(c.streams.get(stream), GraphNodeType::memcpy, copy_work(c, &copy));
  });
}
PER_THREAD_ALIAS(cudaMemcpy3DPeerAsync, _ptsz);
CudaError cudaMemcpy3DPeer(const PeerCopy* p) { return settled(cudaMemcpy3DPeerAsync(p, nullptr)); }
PER_THREAD_ALIAS(cudaMemcpy3DPeer, _ptds);

/// The copies may run in any order; attributes are hints and moments at which the source is read, all of them later than this call's order.
CudaError cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes, size_t count, const void*, const size_t*, size_t, void* stream) {
  return serve("cudaMemcpyBatchAsync", [&](Context& c) {
    require_lists(to, from, count);
    require_value(bytes != nullptr && stream != nullptr);  // "cannot be a legacy stream" (cuda_runtime_api.h)
    Stream& s = c.streams.get(stream);
    for (size_t i = 0; i < count; ++i) {
      const Memcpy3DParms p = linear_copy(to[i], from[i], bytes[i], CopyKind::inferred);
      c.streams.submit(s, GraphNodeType::memcpy, copy_work(c, &p));
    }
  });
}
PER_THREAD_ALIAS(cudaMemcpyBatchAsync, _ptsz);
CudaError cuMemcpyBatchAsync_v2(const uint64_t* to, const uint64_t* from, const size_t* bytes, size_t count, const void* attributes, const size_t* first,
                                size_t attribute_count, void* stream) {
  return forward(cudaMemcpyBatchAsync, reinterpret_cast<void* const*>(to), reinterpret_cast<const void* const*>(from), bytes, count, attributes, first, attribute_count, stream);
}

/// Managed memory has one place.
CudaError cudaMemPrefetchBatchAsync(void** at, const size_t* bytes, size_t count, const MemLocation*, const size_t*, size_t, unsigned long long, void* stream) {
  return serve("cudaMemPrefetchBatchAsync", [&](Context& c) {
    require_lists(at, bytes, count);
    c.streams.get(stream);
  });
}
PER_THREAD_ALIAS(cudaMemPrefetchBatchAsync, _ptsz);
/// What is discarded has no value any more: it is poisoned.
CudaError cudaMemDiscardBatchAsync(void** at, const size_t* bytes, size_t count, unsigned long long flags, void* stream) {
  return serve("cudaMemDiscardBatchAsync", [&](Context& c) {
    require_lists(at, bytes, count);
    require_value(flags == 0);
    for (size_t i = 0; i < count; ++i) {
      c.streams.submit(c.streams.get(stream), GraphNodeType::memset, [&memory = c.memory(), p = at[i], n = bytes[i]] { memory.poison(p, n); });
    }
  });
}
PER_THREAD_ALIAS(cudaMemDiscardBatchAsync, _ptsz);
CudaError cudaMemDiscardAndPrefetchBatchAsync(void** at, const size_t* bytes, size_t count, const MemLocation*, const size_t*, size_t, unsigned long long flags, void* stream) {
  return cudaMemDiscardBatchAsync(at, bytes, count, flags, stream);
}
PER_THREAD_ALIAS(cudaMemDiscardAndPrefetchBatchAsync, _ptsz);
CudaError cuMemPrefetchBatchAsync(uint64_t* at, size_t* bytes, size_t count, const MemLocation* places, const size_t* first, size_t place_count, unsigned long long flags, void* stream) {
  return forward(cudaMemPrefetchBatchAsync, reinterpret_cast<void**>(at), bytes, count, places, first, place_count, flags, stream);
}
CudaError cuMemDiscardBatchAsync(uint64_t* at, size_t* bytes, size_t count, unsigned long long flags, void* stream) {
  return forward(cudaMemDiscardBatchAsync, reinterpret_cast<void**>(at), bytes, count, flags, stream);
}
CudaError cuMemDiscardAndPrefetchBatchAsync(uint64_t* at, size_t* bytes, size_t count, const MemLocation*, const size_t*, size_t, unsigned long long flags, void* stream) {
  return forward(cudaMemDiscardBatchAsync, reinterpret_cast<void**>(at), bytes, count, flags, stream);
}

#pragma GCC visibility pop
}
