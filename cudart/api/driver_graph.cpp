// Graphs of the driver interface. Kernel parameters begin as the runtime's do; copies are described differently.
#include "cudart/driver_copy.h"
#include "cudart/graph_api.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

/// CUDA_KERNEL_NODE_PARAMS_v2: a function, or a kernel of a library.
struct DriverKernelNode {
  KernelNodeParams node;
  void *kernel, *context;
};

KernelNodeParams runtime_kernel(const DriverKernelNode* p) {
  KernelNodeParams out = p->node;
  if (out.function == nullptr) out.function = p->kernel;
  return out;
}

/// The driver's parameters of a kernel node as the runtime's; other kinds but copies are the same.
CudaError runtime_params(const char* name, const GraphNodeParams* p, GraphNodeParams& out) {
  return serve(name, [&](Context&) {
    require_value(p != nullptr);
    out = *p;
    if (p->type == GraphNodeType::kernel) out.kernel = runtime_kernel(reinterpret_cast<const DriverKernelNode*>(&p->kernel));
    // CUDA_MEMCPY_NODE_PARAMS: flags, the context, the copy.
    if (p->type == GraphNodeType::memcpy) out.memcpy.copy = runtime_copy(reinterpret_cast<const DriverCopy3D*>(p->reserved1 + 2));
  });
}

CudaError copy_params(const char* name, const DriverCopy3D* p, Memcpy3DParms& out) {
  return serve(name, [&](Context&) { out = runtime_copy(p); });
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cuGraphCreate(void** out, unsigned flags) { return forward(cudaGraphCreate, out, flags); }
CudaError cuGraphClone(void** out, void* graph) { return forward(cudaGraphClone, out, graph); }
CudaError cuGraphNodeFindInClone(void** out, void* node, void* clone) { return forward(cudaGraphNodeFindInClone, out, node, clone); }
CudaError cuGraphAddHostNode(void** out, void* graph, void* const* after, size_t count, const HostNodeParams* p) { return forward(cudaGraphAddHostNode, out, graph, after, count, p); }
CudaError cuGraphAddEmptyNode(void** out, void* graph, void* const* after, size_t count) { return forward(cudaGraphAddEmptyNode, out, graph, after, count); }
CudaError cuGraphAddChildGraphNode(void** out, void* graph, void* const* after, size_t count, void* child) { return forward(cudaGraphAddChildGraphNode, out, graph, after, count, child); }
CudaError cuGraphAddEventRecordNode(void** out, void* graph, void* const* after, size_t count, void* event) { return forward(cudaGraphAddEventRecordNode, out, graph, after, count, event); }
CudaError cuGraphAddEventWaitNode(void** out, void* graph, void* const* after, size_t count, void* event) { return forward(cudaGraphAddEventWaitNode, out, graph, after, count, event); }
CudaError cuGraphAddMemAllocNode(void** out, void* graph, void* const* after, size_t count, MemAllocNodeParams* p) { return forward(cudaGraphAddMemAllocNode, out, graph, after, count, p); }
CudaError cuGraphAddMemFreeNode(void** out, void* graph, void* const* after, size_t count, void* address) { return forward(cudaGraphAddMemFreeNode, out, graph, after, count, address); }
CudaError cuGraphAddDependencies_v2(void* graph, void* const* from, void* const* to, const GraphEdgeData* edges, size_t count) { return forward(cudaGraphAddDependencies, graph, from, to, edges, count); }
CudaError cuGraphRemoveDependencies_v2(void* graph, void* const* from, void* const* to, const GraphEdgeData* edges, size_t count) { return forward(cudaGraphRemoveDependencies, graph, from, to, edges, count); }
CudaError cuGraphGetNodes(void* graph, void** nodes, size_t* count) { return forward(cudaGraphGetNodes, graph, nodes, count); }
CudaError cuGraphGetRootNodes(void* graph, void** nodes, size_t* count) { return forward(cudaGraphGetRootNodes, graph, nodes, count); }
CudaError cuGraphGetEdges_v2(void* graph, void** from, void** to, GraphEdgeData* data, size_t* count) { return forward(cudaGraphGetEdges, graph, from, to, data, count); }
CudaError cuGraphNodeGetDependencies_v2(void* node, void** out, GraphEdgeData* edges, size_t* count) { return forward(cudaGraphNodeGetDependencies, node, out, edges, count); }
CudaError cuGraphNodeGetDependentNodes_v2(void* node, void** out, GraphEdgeData* edges, size_t* count) { return forward(cudaGraphNodeGetDependentNodes, node, out, edges, count); }
CudaError cuGraphNodeGetType(void* node, GraphNodeType* out) { return forward(cudaGraphNodeGetType, node, out); }
CudaError cuGraphDestroyNode(void* node) { return forward(cudaGraphDestroyNode, node); }
CudaError cuGraphKernelNodeGetAttribute(void* node, int id, void* out) { return forward(cudaGraphKernelNodeGetAttribute, node, id, out); }
CudaError cuGraphKernelNodeSetAttribute(void* node, int id, const void* value) { return forward(cudaGraphKernelNodeSetAttribute, node, id, value); }
CudaError cuGraphKernelNodeCopyAttributes(void* to, void* from) { return forward(cudaGraphKernelNodeCopyAttributes, to, from); }
CudaError cuGraphMemsetNodeGetParams(void* node, MemsetParams* out) { return forward(cudaGraphMemsetNodeGetParams, node, out); }
CudaError cuGraphMemsetNodeSetParams(void* node, const MemsetParams* p) { return forward(cudaGraphMemsetNodeSetParams, node, p); }
CudaError cuGraphHostNodeGetParams(void* node, HostNodeParams* out) { return forward(cudaGraphHostNodeGetParams, node, out); }
CudaError cuGraphHostNodeSetParams(void* node, const HostNodeParams* p) { return forward(cudaGraphHostNodeSetParams, node, p); }
CudaError cuGraphMemAllocNodeGetParams(void* node, MemAllocNodeParams* out) { return forward(cudaGraphMemAllocNodeGetParams, node, out); }
CudaError cuGraphMemFreeNodeGetParams(void* node, void** out) { return forward(cudaGraphMemFreeNodeGetParams, node, out); }
CudaError cuGraphChildGraphNodeGetGraph(void* node, void** out) { return forward(cudaGraphChildGraphNodeGetGraph, node, out); }
CudaError cuGraphEventRecordNodeGetEvent(void* node, void** out) { return forward(cudaGraphEventRecordNodeGetEvent, node, out); }
CudaError cuGraphEventRecordNodeSetEvent(void* node, void* event) { return forward(cudaGraphEventRecordNodeSetEvent, node, event); }
CudaError cuGraphEventWaitNodeGetEvent(void* node, void** out) { return forward(cudaGraphEventWaitNodeGetEvent, node, out); }
CudaError cuGraphEventWaitNodeSetEvent(void* node, void* event) { return forward(cudaGraphEventWaitNodeSetEvent, node, event); }
CudaError cuGraphInstantiateWithParams(void** out, void* graph, GraphInstantiateParams* p) { return forward(cudaGraphInstantiateWithParams, out, graph, p); }
CudaError cuGraphExecGetFlags(void* executable, unsigned long long* out) { return forward(cudaGraphExecGetFlags, executable, out); }
CudaError cuGraphUpload(void* executable, void* stream) { return forward(cudaGraphUpload, executable, stream); }
CudaError cuGraphExecHostNodeSetParams(void* executable, void* node, const HostNodeParams* p) { return forward(cudaGraphExecHostNodeSetParams, executable, node, p); }
CudaError cuGraphExecEventRecordNodeSetEvent(void* executable, void* node, void* event) { return forward(cudaGraphExecEventRecordNodeSetEvent, executable, node, event); }
CudaError cuGraphExecEventWaitNodeSetEvent(void* executable, void* node, void* event) { return forward(cudaGraphExecEventWaitNodeSetEvent, executable, node, event); }
CudaError cuGraphExecChildGraphNodeSetParams(void* executable, void* node, void* graph) { return forward(cudaGraphExecChildGraphNodeSetParams, executable, node, graph); }
CudaError cuGraphNodeSetEnabled(void* executable, void* node, unsigned enabled) { return forward(cudaGraphNodeSetEnabled, executable, node, enabled); }
CudaError cuGraphNodeGetEnabled(void* executable, void* node, unsigned* out) { return forward(cudaGraphNodeGetEnabled, executable, node, out); }
CudaError cuGraphExecUpdate_v2(void* executable, void* graph, void* info) { return forward(cudaGraphExecUpdate, executable, graph, info); }
CudaError cuGraphDebugDotPrint(void* graph, const char* path, unsigned flags) { return forward(cudaGraphDebugDotPrint, graph, path, flags); }
CudaError cuUserObjectCreate(void** out, void* object, void (*destroy)(void*), unsigned count, unsigned flags) { return forward(cudaUserObjectCreate, out, object, destroy, count, flags); }
CudaError cuUserObjectRetain(void* object, unsigned count) { return forward(cudaUserObjectRetain, object, count); }
CudaError cuUserObjectRelease(void* object, unsigned count) { return forward(cudaUserObjectRelease, object, count); }
CudaError cuGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags) { return forward(cudaGraphRetainUserObject, graph, object, count, flags); }
CudaError cuGraphReleaseUserObject(void* graph, void* object, unsigned count) { return forward(cudaGraphReleaseUserObject, graph, object, count); }
CudaError cuDeviceGraphMemTrim(int device) { return forward(cudaDeviceGraphMemTrim, device); }
CudaError cuDeviceGetGraphMemAttribute(int device, int attribute, void* out) { return forward(cudaDeviceGetGraphMemAttribute, device, attribute, out); }
CudaError cuDeviceSetGraphMemAttribute(int device, int attribute, void* value) { return forward(cudaDeviceSetGraphMemAttribute, device, attribute, value); }
CudaError cuStreamBeginCaptureToGraph(void* stream, void* graph, void* const* after, const GraphEdgeData* edges, size_t count, int mode) { return forward(cudaStreamBeginCaptureToGraph, stream, graph, after, edges, count, mode); }
CudaError cuStreamUpdateCaptureDependencies_v2(void* stream, void* const* nodes, const GraphEdgeData* edges, size_t count, unsigned flags) { return forward(cudaStreamUpdateCaptureDependencies, stream, nodes, edges, count, flags); }
CudaError cuStreamSetAttribute(void* stream, int id, const void* value) { return forward(cudaStreamSetAttribute, stream, id, value); }
CudaError cuStreamGetAttribute(void* stream, int id, void* out) { return forward(cudaStreamGetAttribute, stream, id, out); }

CudaError cuGraphConditionalHandleCreate(uint64_t* out, void* graph, void*, unsigned value, unsigned flags) { return forward(cudaGraphConditionalHandleCreate, out, graph, value, flags); }

CudaError cuGraphAddKernelNode_v2(void** out, void* graph, void* const* after, size_t count, const DriverKernelNode* p) {
  if (p == nullptr) return CudaError::invalid_value;
  const KernelNodeParams kernel = runtime_kernel(p);
  return forward(cudaGraphAddKernelNode, out, graph, after, count, &kernel);
}
CudaError cuGraphKernelNodeGetParams_v2(void* node, DriverKernelNode* out) {
  if (out == nullptr) return CudaError::invalid_value;
  *out = {};
  const CudaError e = forward(cudaGraphKernelNodeGetParams, node, &out->node);
  return e != CudaError::success ? e : serve("cuGraphKernelNodeGetParams", [&](Context& c) { out->node.function = &c.modules.kernel(out->node.function); });
}
CudaError cuGraphKernelNodeSetParams_v2(void* node, const DriverKernelNode* p) {
  if (p == nullptr) return CudaError::invalid_value;
  const KernelNodeParams kernel = runtime_kernel(p);
  return forward(cudaGraphKernelNodeSetParams, node, &kernel);
}
CudaError cuGraphExecKernelNodeSetParams_v2(void* executable, void* node, const DriverKernelNode* p) {
  if (p == nullptr) return CudaError::invalid_value;
  const KernelNodeParams kernel = runtime_kernel(p);
  return forward(cudaGraphExecKernelNodeSetParams, executable, node, &kernel);
}
CudaError cuGraphAddMemsetNode(void** out, void* graph, void* const* after, size_t count, const MemsetParams* p, void*) {
  return forward(cudaGraphAddMemsetNode, out, graph, after, count, p);
}
CudaError cuGraphExecMemsetNodeSetParams(void* executable, void* node, const MemsetParams* p, void*) {
  return forward(cudaGraphExecMemsetNodeSetParams, executable, node, p);
}
CudaError cuGraphAddMemcpyNode(void** out, void* graph, void* const* after, size_t count, const DriverCopy3D* p, void*) {
  Memcpy3DParms copy{};
  const CudaError e = copy_params("cuGraphAddMemcpyNode", p, copy);
  return e == CudaError::success ? forward(cudaGraphAddMemcpyNode, out, graph, after, count, &copy) : e;
}
CudaError cuGraphMemcpyNodeGetParams(void* node, DriverCopy3D* out) {
  Memcpy3DParms copy{};
  const CudaError e = out == nullptr ? CudaError::invalid_value : forward(cudaGraphMemcpyNodeGetParams, node, &copy);
  if (e == CudaError::success) *out = driver_copy(copy);
  return e;
}
CudaError cuGraphMemcpyNodeSetParams(void* node, const DriverCopy3D* p) {
  Memcpy3DParms copy{};
  const CudaError e = copy_params("cuGraphMemcpyNodeSetParams", p, copy);
  return e == CudaError::success ? forward(cudaGraphMemcpyNodeSetParams, node, &copy) : e;
}
CudaError cuGraphExecMemcpyNodeSetParams(void* executable, void* node, const DriverCopy3D* p, void*) {
  Memcpy3DParms copy{};
  const CudaError e = copy_params("cuGraphExecMemcpyNodeSetParams", p, copy);
  return e == CudaError::success ? forward(cudaGraphExecMemcpyNodeSetParams, executable, node, &copy) : e;
}
CudaError cuGraphAddNode_v2(void** out, void* graph, void* const* after, const GraphEdgeData* edges, size_t count, GraphNodeParams* p) {
  GraphNodeParams given{};
  const CudaError e = runtime_params("cuGraphAddNode", p, given);
  if (e != CudaError::success) return e;
  const CudaError added = forward(cudaGraphAddNode, out, graph, after, edges, count, &given);
  if (given.type == GraphNodeType::mem_alloc) p->alloc.address = given.alloc.address;
  if (given.type == GraphNodeType::conditional) p->conditional.bodies = given.conditional.bodies;
  return added;
}
CudaError cuGraphNodeSetParams(void* node, const GraphNodeParams* p) {
  GraphNodeParams given{};
  const CudaError e = runtime_params("cuGraphNodeSetParams", p, given);
  return e == CudaError::success ? forward(cudaGraphNodeSetParams, node, &given) : e;
}
CudaError cuGraphExecNodeSetParams(void* executable, void* node, const GraphNodeParams* p) {
  GraphNodeParams given{};
  const CudaError e = runtime_params("cuGraphExecNodeSetParams", p, given);
  return e == CudaError::success ? forward(cudaGraphExecNodeSetParams, executable, node, &given) : e;
}

#pragma GCC visibility pop
}
