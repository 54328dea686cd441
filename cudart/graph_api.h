// The runtime interface's functions on graphs, which the driver interface's call: both have the same meaning.
#pragma once

#include "cudart/abi.h"

extern "C" {
using drywell::cudart::CudaError;
using drywell::cudart::GraphEdgeData;
using drywell::cudart::GraphInstantiateParams;
using drywell::cudart::GraphNodeParams;
using drywell::cudart::GraphNodeType;
using drywell::cudart::HostNodeParams;
using drywell::cudart::KernelNodeParams;
using drywell::cudart::MemAllocNodeParams;
using drywell::cudart::Memcpy3DParms;
using drywell::cudart::MemsetParams;

CudaError cudaGraphCreate(void** out, unsigned flags);
CudaError cudaGraphClone(void** out, void* graph);
CudaError cudaGraphNodeFindInClone(void** out, void* node, void* clone);
CudaError cudaGraphAddHostNode(void** out, void* graph, void* const* after, size_t count, const HostNodeParams* p);
CudaError cudaGraphAddEmptyNode(void** out, void* graph, void* const* after, size_t count);
CudaError cudaGraphAddChildGraphNode(void** out, void* graph, void* const* after, size_t count, void* child);
CudaError cudaGraphAddEventRecordNode(void** out, void* graph, void* const* after, size_t count, void* event);
CudaError cudaGraphAddEventWaitNode(void** out, void* graph, void* const* after, size_t count, void* event);
CudaError cudaGraphAddMemAllocNode(void** out, void* graph, void* const* after, size_t count, MemAllocNodeParams* p);
CudaError cudaGraphAddMemFreeNode(void** out, void* graph, void* const* after, size_t count, void* address);
CudaError cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, const GraphEdgeData* edges, size_t count);
CudaError cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to, const GraphEdgeData* edges, size_t count);
CudaError cudaGraphGetNodes(void* graph, void** nodes, size_t* count);
CudaError cudaGraphGetRootNodes(void* graph, void** nodes, size_t* count);
CudaError cudaGraphGetEdges(void* graph, void** from, void** to, GraphEdgeData* data, size_t* count);
CudaError cudaGraphNodeGetDependencies(void* node, void** out, GraphEdgeData* edges, size_t* count);
CudaError cudaGraphNodeGetDependentNodes(void* node, void** out, GraphEdgeData* edges, size_t* count);
CudaError cudaGraphNodeGetType(void* node, GraphNodeType* out);
CudaError cudaGraphConditionalHandleCreate(uint64_t* out, void* graph, unsigned value, unsigned flags);
CudaError cudaGraphDestroyNode(void* node);
CudaError cudaGraphKernelNodeGetAttribute(void* node, int id, void* out);
CudaError cudaGraphKernelNodeSetAttribute(void* node, int id, const void* value);
CudaError cudaGraphKernelNodeCopyAttributes(void* to, void* from);
CudaError cudaGraphMemsetNodeGetParams(void* node, MemsetParams* out);
CudaError cudaGraphMemsetNodeSetParams(void* node, const MemsetParams* p);
CudaError cudaGraphHostNodeGetParams(void* node, HostNodeParams* out);
CudaError cudaGraphHostNodeSetParams(void* node, const HostNodeParams* p);
CudaError cudaGraphMemAllocNodeGetParams(void* node, MemAllocNodeParams* out);
CudaError cudaGraphMemFreeNodeGetParams(void* node, void** out);
CudaError cudaGraphChildGraphNodeGetGraph(void* node, void** out);
CudaError cudaGraphEventRecordNodeGetEvent(void* node, void** out);
CudaError cudaGraphEventRecordNodeSetEvent(void* node, void* event);
CudaError cudaGraphEventWaitNodeGetEvent(void* node, void** out);
CudaError cudaGraphEventWaitNodeSetEvent(void* node, void* event);
CudaError cudaGraphInstantiateWithParams(void** out, void* graph, GraphInstantiateParams* p);
CudaError cudaGraphExecGetFlags(void* executable, unsigned long long* out);
CudaError cudaGraphUpload(void* executable, void* stream);
CudaError cudaGraphExecHostNodeSetParams(void* executable, void* node, const HostNodeParams* p);
CudaError cudaGraphExecEventRecordNodeSetEvent(void* executable, void* node, void* event);
CudaError cudaGraphExecEventWaitNodeSetEvent(void* executable, void* node, void* event);
CudaError cudaGraphExecChildGraphNodeSetParams(void* executable, void* node, void* graph);
CudaError cudaGraphNodeSetEnabled(void* executable, void* node, unsigned enabled);
CudaError cudaGraphNodeGetEnabled(void* executable, void* node, unsigned* out);
CudaError cudaGraphExecUpdate(void* executable, void* graph, void* info);
CudaError cudaGraphDebugDotPrint(void* graph, const char* path, unsigned flags);
CudaError cudaUserObjectCreate(void** out, void* object, void (*destroy)(void*), unsigned count, unsigned flags);
CudaError cudaUserObjectRetain(void* object, unsigned count);
CudaError cudaUserObjectRelease(void* object, unsigned count);
CudaError cudaGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags);
CudaError cudaGraphReleaseUserObject(void* graph, void* object, unsigned count);
CudaError cudaDeviceGraphMemTrim(int device);
CudaError cudaDeviceGetGraphMemAttribute(int device, int attribute, void* out);
CudaError cudaDeviceSetGraphMemAttribute(int device, int attribute, const void* value);
CudaError cudaStreamBeginCaptureToGraph(void* stream, void* graph, void* const* after, const GraphEdgeData* edges, size_t count, int mode);
CudaError cudaStreamUpdateCaptureDependencies(void* stream, void* const* nodes, const GraphEdgeData* edges, size_t count, unsigned flags);
CudaError cudaStreamSetAttribute(void* stream, int id, const void* value);
CudaError cudaStreamGetAttribute(void* stream, int id, void* out);
CudaError cudaGraphAddMemcpyNode(void** out, void* graph, void* const* after, size_t count, const Memcpy3DParms* p);
CudaError cudaGraphAddMemsetNode(void** out, void* graph, void* const* after, size_t count, const MemsetParams* p);
CudaError cudaGraphAddKernelNode(void** out, void* graph, void* const* after, size_t count, const KernelNodeParams* p);
CudaError cudaGraphAddNode(void** out, void* graph, void* const* after, const GraphEdgeData* edges, size_t count, GraphNodeParams* p);
CudaError cudaGraphKernelNodeGetParams(void* node, KernelNodeParams* out);
CudaError cudaGraphKernelNodeSetParams(void* node, const KernelNodeParams* p);
CudaError cudaGraphMemcpyNodeGetParams(void* node, Memcpy3DParms* out);
CudaError cudaGraphMemcpyNodeSetParams(void* node, const Memcpy3DParms* p);
CudaError cudaGraphNodeSetParams(void* node, GraphNodeParams* p);
CudaError cudaGraphExecNodeSetParams(void* executable, void* node, GraphNodeParams* p);
CudaError cudaGraphExecKernelNodeSetParams(void* executable, void* node, const KernelNodeParams* p);
CudaError cudaGraphExecMemcpyNodeSetParams(void* executable, void* node, const Memcpy3DParms* p);
CudaError cudaGraphExecMemsetNodeSetParams(void* executable, void* node, const MemsetParams* p);
}
