// Copies to and from a module's variables as nodes of graphs.
#include "cudart/graph_api.h"
#include "cudart/runtime_api.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

extern "C" {
CudaError cudaGetSymbolAddress(void** out, const void* symbol);
CudaError cudaGetSymbolSize(size_t* out, const void* symbol);
CudaError cudaGraphAddMemcpyNode1D(void** out, void* graph, void* const* after, size_t count, void* to, const void* from, size_t bytes, CopyKind kind);
CudaError cudaGraphMemcpyNodeSetParams1D(void* node, void* to, const void* from, size_t bytes, CopyKind kind);
CudaError cudaGraphExecMemcpyNodeSetParams1D(void* executable, void* node, void* to, const void* from, size_t bytes, CopyKind kind);
}

namespace {

/// Calls `use` with the address of `bytes` bytes of the variable from `offset` on.
template <class F>
CudaError with_place(const void* symbol, size_t bytes, size_t offset, F&& use) {
  void* start = nullptr;
  size_t size = 0;
  if (const CudaError e = cudaGetSymbolAddress(&start, symbol); e != CudaError::success) return e;
  if (const CudaError e = cudaGetSymbolSize(&size, symbol); e != CudaError::success) return e;
  if (offset > size || bytes > size - offset) return serve("cudaGraphMemcpyNode", [](Context&) { throw CallFailed{CudaError::invalid_value}; });
  return use(static_cast<uint8_t*>(start) + offset);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaGraphAddMemcpyNodeToSymbol(void** out, void* graph, void* const* after, size_t count, const void* symbol, const void* from, size_t bytes,
                                         size_t offset, CopyKind kind) {
  return with_place(symbol, bytes, offset, [&](void* place) { return cudaGraphAddMemcpyNode1D(out, graph, after, count, place, from, bytes, kind); });
}
CudaError cudaGraphAddMemcpyNodeFromSymbol(void** out, void* graph, void* const* after, size_t count, void* to, const void* symbol, size_t bytes,
                                           size_t offset, CopyKind kind) {
  return with_place(symbol, bytes, offset, [&](void* place) { return cudaGraphAddMemcpyNode1D(out, graph, after, count, to, place, bytes, kind); });
}
CudaError cudaGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol, const void* from, size_t bytes, size_t offset, CopyKind kind) {
  return with_place(symbol, bytes, offset, [&](void* place) { return cudaGraphMemcpyNodeSetParams1D(node, place, from, bytes, kind); });
}
CudaError cudaGraphMemcpyNodeSetParamsFromSymbol(void* node, void* to, const void* symbol, size_t bytes, size_t offset, CopyKind kind) {
  return with_place(symbol, bytes, offset, [&](void* place) { return cudaGraphMemcpyNodeSetParams1D(node, to, place, bytes, kind); });
}
CudaError cudaGraphExecMemcpyNodeSetParamsToSymbol(void* executable, void* node, const void* symbol, const void* from, size_t bytes, size_t offset,
                                                   CopyKind kind) {
  return with_place(symbol, bytes, offset, [&](void* place) { return cudaGraphExecMemcpyNodeSetParams1D(executable, node, place, from, bytes, kind); });
}
CudaError cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* executable, void* node, void* to, const void* symbol, size_t bytes, size_t offset,
                                                     CopyKind kind) {
  return with_place(symbol, bytes, offset, [&](void* place) { return cudaGraphExecMemcpyNodeSetParams1D(executable, node, to, place, bytes, kind); });
}

#pragma GCC visibility pop
}
