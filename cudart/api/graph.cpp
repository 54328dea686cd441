// Graphs in the runtime interface: created by capture or node by node, instantiated, launched.
#include <algorithm>
#include <cstring>

#include "cudart/api/node_list.h"
#include "cudart/api/per_thread.h"
#include "cudart/copy_actions.h"
#include "cudart/graph_work.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

GraphNodeType type_of(const GraphNodeParams* p) { return p == nullptr ? GraphNodeType::empty : p->type; }

Work linear_work(Context& c, void* to, const void* from, size_t bytes, CopyKind kind) {
  const Memcpy3DParms p = linear_copy(to, from, bytes, kind);
  return copy_work(c, &p);
}

/// True if an argument is an address, false if it is a number of nodes.
bool is_address(uintptr_t argument) { return argument >= 4096; }

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaGraphCreate(void** out, unsigned flags) {
  return serve("cudaGraphCreate", [&](Context& c) {
    require_value(out != nullptr && flags == 0);
    *out = &c.streams.graphs.make(std::make_unique<Graph>());
  });
}
CudaError cudaGraphDestroy(void* graph) {
  return serve("cudaGraphDestroy", [&](Context& c) { c.streams.release(c.streams.graphs.take(graph)->objects); });
}
CudaError cudaGraphClone(void** out, void* graph) {
  return serve("cudaGraphClone", [&](Context& c) {
    require_value(out != nullptr);
    const Graph& g = c.streams.graphs.get(graph);
    for (const auto& n : g.nodes) {
      const bool has_memory = n->type == GraphNodeType::mem_alloc || n->type == GraphNodeType::mem_free;
      require(!has_memory && n->type != GraphNodeType::conditional, CudaError::not_supported);
    }
    *out = &c.streams.graphs.make(g.clone());
    c.streams.retain(g.objects);
  });
}
CudaError cudaGraphNodeFindInClone(void** out, void* node, void* clone) {
  return serve("cudaGraphNodeFindInClone", [&](Context& c) {
    require_value(out != nullptr && node != nullptr);
    const auto& nodes = c.streams.graphs.get(clone).nodes;
    const auto it = std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n->original == node; });
    require_value(it != nodes.end());
    *out = it->get();
  });
}
CudaError cudaGraphAddKernelNode(void** out, void* graph, void* const* after, size_t count, const KernelNodeParams* p) {
  return add_node("cudaGraphAddKernelNode", out, graph, after, count, GraphNodeType::kernel, [&](Context& c) { return kernel_work(c, p); });
}
CudaError cudaGraphAddMemcpyNode1D(void** out, void* graph, void* const* after, size_t count, void* to, const void* from, size_t bytes, CopyKind kind) {
  return add_node("cudaGraphAddMemcpyNode1D", out, graph, after, count, GraphNodeType::memcpy, [&](Context& c) { return linear_work(c, to, from, bytes, kind); });
}
CudaError cudaGraphAddMemcpyNode(void** out, void* graph, void* const* after, size_t count, const Memcpy3DParms* p) {
  return add_node("cudaGraphAddMemcpyNode", out, graph, after, count, GraphNodeType::memcpy, [&](Context& c) { return copy_work(c, p); });
}
CudaError cudaGraphAddMemsetNode(void** out, void* graph, void* const* after, size_t count, const MemsetParams* p) {
  return add_node("cudaGraphAddMemsetNode", out, graph, after, count, GraphNodeType::memset, [&](Context& c) { return set_work(c, p); });
}
CudaError cudaGraphAddHostNode(void** out, void* graph, void* const* after, size_t count, const HostNodeParams* p) {
  return add_node("cudaGraphAddHostNode", out, graph, after, count, GraphNodeType::host, [&](Context&) { return host_work(p); });
}
CudaError cudaGraphAddEmptyNode(void** out, void* graph, void* const* after, size_t count) {
  return add_node("cudaGraphAddEmptyNode", out, graph, after, count, GraphNodeType::empty, [](Context&) { return Work(); });
}
CudaError cudaGraphAddChildGraphNode(void** out, void* graph, void* const* after, size_t count, void* child) {
  return add_node("cudaGraphAddChildGraphNode", out, graph, after, count, GraphNodeType::graph, [&](Context& c) { return child_work(c, child); });
}
/// The signature of CUDA 13, or of CUDA 12, which has no edge data: the later arguments then are one position earlier.
CudaError cudaGraphAddNode(void** out, void* graph, void* const* after, const GraphEdgeData* edges, size_t count, GraphNodeParams* p) {
  if (is_address(count)) {
    p = reinterpret_cast<GraphNodeParams*>(count);
    count = reinterpret_cast<uintptr_t>(edges);
  }
  return add_node("cudaGraphAddNode", out, graph, after, count, type_of(p), [&](Context& c, Graph& g, const std::vector<GraphNode*>& nodes) {
    return node_work(c, p, p != nullptr && p->type == GraphNodeType::mem_alloc ? freed_before(g, nodes, p->alloc.bytes) : nullptr);
  });
}

CudaError cudaGraphConditionalHandleCreate(uint64_t* out, void* graph, unsigned value, unsigned flags) {
  constexpr unsigned kAssignDefault = 1;  // cudaGraphCondAssignDefault
  return serve("cudaGraphConditionalHandleCreate", [&](Context& c) {
    require_value(out != nullptr && flags <= kAssignDefault);
    *out = make_condition(c, c.streams.graphs.get(graph), value, flags == kAssignDefault);
  });
}

/// The signature of CUDA 13, or of CUDA 12, which has no edge data.
CudaError cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, const GraphEdgeData* edges, size_t count) {
  if (edges != nullptr && !is_address(reinterpret_cast<uintptr_t>(edges))) count = reinterpret_cast<uintptr_t>(edges);
  return serve("cudaGraphAddDependencies", [&](Context& c) {
    Graph& g = c.streams.graphs.get(graph);
    for (size_t i = 0; i < count; ++i) {
      auto *a = static_cast<GraphNode*>(from[i]), *b = static_cast<GraphNode*>(to[i]);
      require_value(a->graph == &g && b->graph == &g);
      b->after.push_back(a);
    }
  });
}
CudaError cudaGraphGetNodes(void* graph, void** nodes, size_t* count) {
  return serve("cudaGraphGetNodes", [&](Context& c) {
    std::vector<GraphNode*> all;
    for (const auto& n : c.streams.graphs.get(graph).nodes) all.push_back(n.get());
    list_nodes(all, nodes, nullptr, count);
  });
}
CudaError cudaGraphGetRootNodes(void* graph, void** nodes, size_t* count) {
  return serve("cudaGraphGetRootNodes", [&](Context& c) {
    std::vector<GraphNode*> roots;
    for (const auto& n : c.streams.graphs.get(graph).nodes) {
      if (n->after.empty()) roots.push_back(n.get());
    }
    list_nodes(roots, nodes, nullptr, count);
  });
}
CudaError cudaGraphGetEdges(void* graph, void** from, void** to, GraphEdgeData* data, size_t* count) {
  return serve("cudaGraphGetEdges", [&](Context& c) {
    require_value(count != nullptr && (from == nullptr) == (to == nullptr) && (data == nullptr || from != nullptr));
    std::vector<GraphNode*> starts, ends;
    for (const auto& n : c.streams.graphs.get(graph).nodes) {
      starts.insert(starts.end(), n->after.begin(), n->after.end());
      ends.resize(starts.size(), n.get());
    }
    if (data != nullptr) std::fill_n(data, *count, GraphEdgeData{});
    size_t room = *count;
    list_nodes(starts, from, nullptr, &room);
    list_nodes(ends, to, nullptr, count);
  });
}
CudaError cudaGraphNodeGetType(void* node, GraphNodeType* out) {
  return serve("cudaGraphNodeGetType", [&](Context&) {
    require_value(node != nullptr && out != nullptr);
    *out = static_cast<GraphNode*>(node)->type;
  });
}

CudaError cudaGraphInstantiate(void** out, void* graph, unsigned long long flags) {
  return serve("cudaGraphInstantiate", [&](Context& c) {
    require_value(out != nullptr);
    GraphExec& made = c.streams.executables.make(instantiate(c.streams.graphs.get(graph)));
    made.flags = flags;
    c.streams.retain(made.objects);
    *out = &made;
  });
}
CudaError cudaGraphInstantiateWithFlags(void** out, void* graph, unsigned long long flags) { return cudaGraphInstantiate(out, graph, flags); }
CudaError cudaGraphInstantiateWithParams(void** out, void* graph, GraphInstantiateParams* p) {
  if (p == nullptr) return CudaError::invalid_value;
  const CudaError e = cudaGraphInstantiate(out, graph, p->flags);
  p->error_node = nullptr;
  p->result = e == CudaError::success ? 0 : 1;  // cudaGraphInstantiateSuccess, Error
  return e;
}
PER_THREAD_ALIAS(cudaGraphInstantiateWithParams, _ptsz);
CudaError cudaGraphExecGetFlags(void* executable, unsigned long long* out) {
  return serve("cudaGraphExecGetFlags", [&](Context& c) {
    require_value(out != nullptr);
    *out = c.streams.executables.get(executable).flags;
  });
}
CudaError cudaGraphExecDestroy(void* executable) {
  return serve("cudaGraphExecDestroy", [&](Context& c) { c.streams.release(c.streams.executables.take(executable)->objects); });
}
CudaError cudaGraphUpload(void* executable, void* stream) {
  return serve("cudaGraphUpload", [&](Context& c) {
    c.streams.executables.get(executable);
    c.streams.get(stream);
  });
}
PER_THREAD_ALIAS(cudaGraphUpload, _ptsz);
CudaError cudaGraphLaunch(void* executable, void* stream) {
  return serve("cudaGraphLaunch", [&](Context& c) {
    GraphExec& e = c.streams.executables.get(executable);
    require_freed(c, e);
    c.streams.submit(c.streams.get(stream), GraphNodeType::graph, [copy = e] { copy.run(); });
  });
}
PER_THREAD_ALIAS(cudaGraphLaunch, _ptsz);

CudaError cudaGraphExecKernelNodeSetParams(void* executable, void* node, const KernelNodeParams* p) {
  return set_step("cudaGraphExecKernelNodeSetParams", executable, node, GraphNodeType::kernel, [&](Context& c) { return kernel_work(c, p); });
}
CudaError cudaGraphExecMemcpyNodeSetParams(void* executable, void* node, const Memcpy3DParms* p) {
  return set_step("cudaGraphExecMemcpyNodeSetParams", executable, node, GraphNodeType::memcpy, [&](Context& c) { return copy_work(c, p); });
}
CudaError cudaGraphExecMemcpyNodeSetParams1D(void* executable, void* node, void* to, const void* from, size_t bytes, CopyKind kind) {
  return set_step("cudaGraphExecMemcpyNodeSetParams1D", executable, node, GraphNodeType::memcpy,
                  [&](Context& c) { return linear_work(c, to, from, bytes, kind); });
}
CudaError cudaGraphExecMemsetNodeSetParams(void* executable, void* node, const MemsetParams* p) {
  return set_step("cudaGraphExecMemsetNodeSetParams", executable, node, GraphNodeType::memset, [&](Context& c) { return set_work(c, p); });
}
CudaError cudaGraphExecHostNodeSetParams(void* executable, void* node, const HostNodeParams* p) {
  return set_step("cudaGraphExecHostNodeSetParams", executable, node, GraphNodeType::host, [&](Context&) { return host_work(p); });
}
CudaError cudaGraphExecNodeSetParams(void* executable, void* node, GraphNodeParams* p) {
  return set_step("cudaGraphExecNodeSetParams", executable, node, type_of(p), [&](Context& c) { return node_work(c, p); });
}
CudaError cudaGraphNodeSetEnabled(void* executable, void* node, unsigned enabled) {
  return serve("cudaGraphNodeSetEnabled", [&](Context& c) { c.streams.executables.get(executable).step(node).enabled = enabled != 0; });
}
CudaError cudaGraphNodeGetEnabled(void* executable, void* node, unsigned* out) {
  return serve("cudaGraphNodeGetEnabled", [&](Context& c) { *out = c.streams.executables.get(executable).step(node).enabled ? 1 : 0; });
}
/// Replaces the work of the executable graph if `graph` has as many nodes of the same kinds in the same order.
CudaError cudaGraphExecUpdate(void* executable, void* graph, void* info) {
  return serve("cudaGraphExecUpdate", [&](Context& c) {
    GraphExec& e = c.streams.executables.get(executable);
    const auto fresh = instantiate(c.streams.graphs.get(graph));
    constexpr int kSuccess = 0, kTopologyChanged = 2, kTypeChanged = 3;  // cudaGraphExecUpdateResult
    const auto answer = [&](int result) {
      if (info != nullptr) std::memset(info, 0, 24);  // cudaGraphExecUpdateResultInfo: no node
      if (info != nullptr) std::memcpy(info, &result, sizeof result);
      require(result == kSuccess, CudaError::graph_update_failure);
    };
    answer(e.steps.size() == fresh->steps.size() ? kSuccess : kTopologyChanged);
    for (size_t i = 0; i < e.steps.size(); ++i) {
      if (e.steps[i].type != fresh->steps[i].type) answer(kTypeChanged);
      e.steps[i].run = fresh->steps[i].run;
      e.starts = fresh->starts;
    }
  });
}

#pragma GCC visibility pop
}
