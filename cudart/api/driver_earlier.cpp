// The driver's functions as programs of CUDA 11 and early 12 call them, where a later version has other parameters. They have the
// plain names in libcuda.so.1, and programs that ask by version get them (cudart/table/driver.inc).
#include "cudart/graph_api.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

extern "C" {
#pragma GCC visibility push(default)

// Dependencies without data of edges.
CudaError cuStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph, void* const** dependencies, size_t* count);

CudaError cuStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) { return cuStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr); }
CudaError cuStreamUpdateCaptureDependencies(void* stream, void* const* nodes, size_t count, unsigned flags) { return forward(cudaStreamUpdateCaptureDependencies, stream, nodes, nullptr, count, flags); }
CudaError cuGraphAddDependencies(void* graph, void* const* from, void* const* to, size_t count) { return forward(cudaGraphAddDependencies, graph, from, to, nullptr, count); }
CudaError cuGraphRemoveDependencies(void* graph, void* const* from, void* const* to, size_t count) { return forward(cudaGraphRemoveDependencies, graph, from, to, nullptr, count); }
CudaError cuGraphGetEdges(void* graph, void** from, void** to, size_t* count) { return forward(cudaGraphGetEdges, graph, from, to, nullptr, count); }
CudaError cuGraphNodeGetDependencies(void* node, void** out, size_t* count) { return forward(cudaGraphNodeGetDependencies, node, out, nullptr, count); }
CudaError cuGraphNodeGetDependentNodes(void* node, void** out, size_t* count) { return forward(cudaGraphNodeGetDependentNodes, node, out, nullptr, count); }
CudaError cuGraphAddNode_v2(void** out, void* graph, void* const* after, const GraphEdgeData* edges, size_t count, GraphNodeParams* p);
CudaError cuGraphAddNode(void** out, void* graph, void* const* after, size_t count, GraphNodeParams* p) { return cuGraphAddNode_v2(out, graph, after, nullptr, count, p); }

// A kernel node is of a function: CUDA_KERNEL_NODE_PARAMS_v1.
CudaError cuGraphAddKernelNode(void** out, void* graph, void* const* after, size_t count, const KernelNodeParams* p) { return forward(cudaGraphAddKernelNode, out, graph, after, count, p); }
CudaError cuGraphKernelNodeSetParams(void* node, const KernelNodeParams* p) { return forward(cudaGraphKernelNodeSetParams, node, p); }
CudaError cuGraphExecKernelNodeSetParams(void* executable, void* node, const KernelNodeParams* p) { return forward(cudaGraphExecKernelNodeSetParams, executable, node, p); }
CudaError cuGraphKernelNodeGetParams(void* node, KernelNodeParams* out) {
  const CudaError e = forward(cudaGraphKernelNodeGetParams, node, out);
  return e != CudaError::success ? e : serve("cuGraphKernelNodeGetParams", [&](Context& c) { out->function = &c.modules.kernel(out->function); });
}

/// Other results than a structure: the node that does not fit, and why.
CudaError cuGraphExecUpdate(void* executable, void* graph, void** node, int* result) {
  struct {
    int result;
    void *node, *from;
  } info{};
  const CudaError e = forward(cudaGraphExecUpdate, executable, graph, &info);
  if (node != nullptr) *node = info.node;
  if (result != nullptr) *result = info.result;
  return e;
}

// A device instead of a place.
CudaError cuMemPrefetchAsync(uint64_t, size_t, int, void*) {
  return serve("cuMemPrefetchAsync", [](Context&) {});
}
CudaError cuMemAdvise(uint64_t, size_t, int, int) {
  return serve("cuMemAdvise", [](Context&) {});
}

#pragma GCC visibility pop
}
