// Parameters and attributes of a graph's nodes in the runtime interface.
#include <algorithm>
#include <cstring>

#include "cudart/copy_actions.h"
#include "cudart/graph_work.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

GraphNode& node_of(void* node, GraphNodeType type) {
  require_value(node != nullptr);
  auto& n = *static_cast<GraphNode*>(node);
  require_value(n.type == type);
  return n;
}

/// Copies a field of the node's parameters to the program.
template <class T>
CudaError get(const char* name, void* node, GraphNodeType type, T NodeParams::*field, T* out) {
  return serve(name, [&](Context&) {
    require_value(out != nullptr);
    *out = params_of(node, type).*field;
  });
}

template <class F>
CudaError set(const char* name, void* node, GraphNodeType type, F&& make) {
  return serve(name, [&](Context& c) { node_of(node, type).work = make(c); });
}

constexpr size_t kValueBytes = 64;  // cudaLaunchAttributeValue

LaunchAttribute* find(std::vector<LaunchAttribute>& all, int id) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const LaunchAttribute& a) { return a.id == id; });
  return it == all.end() ? nullptr : &*it;
}

void set_attributes(Context& c, void* node, std::vector<LaunchAttribute> all) {
  const std::shared_ptr<const NodeParams> old = node_of(node, GraphNodeType::kernel).work.params;  // has the arguments
  static_cast<GraphNode*>(node)->work = kernel_work(c, &old->kernel, std::move(all));
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaGraphKernelNodeGetParams(void* node, KernelNodeParams* out) {
  return serve("cudaGraphKernelNodeGetParams", [&](Context& c) {
    require_value(out != nullptr);
    *out = params_of(node, GraphNodeType::kernel).kernel;
    out->function = c.modules.host_entry(out->function);  // llama.cpp compares it with its kernels
  });
}
CudaError cudaGraphKernelNodeSetParams(void* node, const KernelNodeParams* p) {
  return set("cudaGraphKernelNodeSetParams", node, GraphNodeType::kernel,
             [&](Context& c) { return kernel_work(c, p, params_of(node, GraphNodeType::kernel).attributes); });
}
CudaError cudaGraphMemcpyNodeGetParams(void* node, Memcpy3DParms* out) {
  return get("cudaGraphMemcpyNodeGetParams", node, GraphNodeType::memcpy, &NodeParams::memcpy, out);
}
CudaError cudaGraphMemcpyNodeSetParams(void* node, const Memcpy3DParms* p) {
  return set("cudaGraphMemcpyNodeSetParams", node, GraphNodeType::memcpy, [&](Context& c) { return copy_work(c, p); });
}
CudaError cudaGraphMemcpyNodeSetParams1D(void* node, void* to, const void* from, size_t bytes, CopyKind kind) {
  const Memcpy3DParms p = linear_copy(to, from, bytes, kind);
  return cudaGraphMemcpyNodeSetParams(node, &p);
}
CudaError cudaGraphMemsetNodeGetParams(void* node, MemsetParams* out) {
  return get("cudaGraphMemsetNodeGetParams", node, GraphNodeType::memset, &NodeParams::memset, out);
}
CudaError cudaGraphMemsetNodeSetParams(void* node, const MemsetParams* p) {
  return set("cudaGraphMemsetNodeSetParams", node, GraphNodeType::memset, [&](Context& c) { return set_work(c, p); });
}
CudaError cudaGraphHostNodeGetParams(void* node, HostNodeParams* out) {
  return get("cudaGraphHostNodeGetParams", node, GraphNodeType::host, &NodeParams::host, out);
}
CudaError cudaGraphHostNodeSetParams(void* node, const HostNodeParams* p) {
  return set("cudaGraphHostNodeSetParams", node, GraphNodeType::host, [&](Context&) { return host_work(p); });
}
CudaError cudaGraphMemAllocNodeGetParams(void* node, MemAllocNodeParams* out) {
  return get("cudaGraphMemAllocNodeGetParams", node, GraphNodeType::mem_alloc, &NodeParams::alloc, out);
}
CudaError cudaGraphMemFreeNodeGetParams(void* node, void** out) {
  return get("cudaGraphMemFreeNodeGetParams", node, GraphNodeType::mem_free, &NodeParams::handle, out);
}
CudaError cudaGraphChildGraphNodeGetGraph(void* node, void** out) {
  return get("cudaGraphChildGraphNodeGetGraph", node, GraphNodeType::graph, &NodeParams::handle, out);
}
CudaError cudaGraphEventRecordNodeGetEvent(void* node, void** out) {
  return get("cudaGraphEventRecordNodeGetEvent", node, GraphNodeType::event_record, &NodeParams::handle, out);
}
CudaError cudaGraphEventRecordNodeSetEvent(void* node, void* event) {
  return set("cudaGraphEventRecordNodeSetEvent", node, GraphNodeType::event_record, [&](Context& c) { return record_work(c, event); });
}
CudaError cudaGraphEventWaitNodeGetEvent(void* node, void** out) {
  return get("cudaGraphEventWaitNodeGetEvent", node, GraphNodeType::wait_event, &NodeParams::handle, out);
}
CudaError cudaGraphEventWaitNodeSetEvent(void* node, void* event) {
  return set("cudaGraphEventWaitNodeSetEvent", node, GraphNodeType::wait_event, [&](Context& c) { return wait_work(c, event); });
}
CudaError cudaGraphNodeSetParams(void* node, GraphNodeParams* p) {
  if (node == nullptr || p == nullptr) return CudaError::invalid_value;
  return set("cudaGraphNodeSetParams", node, p->type, [&](Context& c) { return node_work(c, p); });
}

/// The value of an attribute that the node does not have is all zero.
CudaError cudaGraphKernelNodeGetAttribute(void* node, int id, void* out) {
  return serve("cudaGraphKernelNodeGetAttribute", [&](Context&) {
    std::vector<LaunchAttribute> all = params_of(node, GraphNodeType::kernel).attributes;
    require_value(out != nullptr);
    std::memset(out, 0, kValueBytes);
    if (const LaunchAttribute* a = find(all, id); a != nullptr) std::memcpy(out, a->bytes, kValueBytes);
  });
}
CudaError cudaGraphKernelNodeSetAttribute(void* node, int id, const void* value) {
  return serve("cudaGraphKernelNodeSetAttribute", [&](Context& c) {
    std::vector<LaunchAttribute> all = params_of(node, GraphNodeType::kernel).attributes;
    require_value(value != nullptr);
    LaunchAttribute* a = find(all, id);
    if (a == nullptr) a = &all.emplace_back(LaunchAttribute{});
    a->id = id;
    std::memcpy(a->bytes, value, kValueBytes);
    set_attributes(c, node, std::move(all));
  });
}
CudaError cudaGraphKernelNodeCopyAttributes(void* to, void* from) {
  return serve("cudaGraphKernelNodeCopyAttributes", [&](Context& c) { set_attributes(c, to, params_of(from, GraphNodeType::kernel).attributes); });
}

#pragma GCC visibility pop
}
