// Graphs in the runtime interface: made by capture or node by node, instantiated, launched.
#include <algorithm>
#include <cstring>

#include "cudart/api/per_thread.h"
#include "cudart/copy_actions.h"
#include "cudart/serve.h"

using namespace drywell::cudart;

namespace {

Action kernel_action(Context& c, const KernelNodeParams* p) {
  require_value(p != nullptr);
  drywell::sim::LaunchConfig config{{p->grid.x, p->grid.y, p->grid.z}, {p->block.x, p->block.y, p->block.z}, {1, 1, 1}, p->dynamic_smem};
  return c.launch_action(c.modules.kernel(p->function), config, p->arguments, p->extra, {});
}

Action set_action(Context& c, const MemsetParams* p) {
  require_value(p != nullptr);
  return [&memory = c.memory(), m = *p] { memory.set({m.dst, m.pitch, 0}, m.value, m.element_size, {m.width * m.element_size, m.height, 1}); };
}

Action host_action(const HostNodeParams* p) {
  require_value(p != nullptr && p->function != nullptr);
  return [h = *p] { h.function(h.user_data); };
}

template <class F>
CudaError add(const char* name, void** out, void* graph, void* const* after, size_t count, GraphNodeType type, F&& make) {
  return serve(name, [&](Context& c) {
    require_value(out != nullptr && (count == 0 || after != nullptr));
    Graph& g = c.streams.graphs.get(graph);
    std::vector<GraphNode*> nodes;
    for (size_t i = 0; i < count; ++i) nodes.push_back(static_cast<GraphNode*>(after[i]));
    *out = &g.add(type, make(c), std::move(nodes));
  });
}

template <class F>
CudaError set_step(const char* name, void* executable, const void* node, GraphNodeType type, F&& make) {
  return serve(name, [&](Context& c) {
    GraphExec::Step& s = c.streams.executables.get(executable).step(node);
    require_value(s.type == type);
    s.run = make(c);
  });
}

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
  return serve("cudaGraphDestroy", [&](Context& c) { c.streams.graphs.take(graph); });
}
CudaError cudaGraphClone(void** out, void* graph) {
  return serve("cudaGraphClone", [&](Context& c) {
    require_value(out != nullptr);
    const Graph& g = c.streams.graphs.get(graph);
    for (const auto& n : g.nodes) require(n->type != GraphNodeType::mem_alloc && n->type != GraphNodeType::mem_free, CudaError::not_supported);
    *out = &c.streams.graphs.make(g.clone());
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
  return add("cudaGraphAddKernelNode", out, graph, after, count, GraphNodeType::kernel, [&](Context& c) { return kernel_action(c, p); });
}
CudaError cudaGraphAddMemcpyNode1D(void** out, void* graph, void* const* after, size_t count, void* to, const void* from, size_t bytes, CopyKind kind) {
  return add("cudaGraphAddMemcpyNode1D", out, graph, after, count, GraphNodeType::memcpy, [&](Context& c) { return copy_action(c, to, from, bytes, kind); });
}
CudaError cudaGraphAddMemcpyNode(void** out, void* graph, void* const* after, size_t count, const Memcpy3DParms* p) {
  return add("cudaGraphAddMemcpyNode", out, graph, after, count, GraphNodeType::memcpy, [&](Context& c) { return copy_action(c, p); });
}
CudaError cudaGraphAddMemsetNode(void** out, void* graph, void* const* after, size_t count, const MemsetParams* p) {
  return add("cudaGraphAddMemsetNode", out, graph, after, count, GraphNodeType::memset, [&](Context& c) { return set_action(c, p); });
}
CudaError cudaGraphAddHostNode(void** out, void* graph, void* const* after, size_t count, const HostNodeParams* p) {
  return add("cudaGraphAddHostNode", out, graph, after, count, GraphNodeType::host, [&](Context&) { return host_action(p); });
}
CudaError cudaGraphAddEmptyNode(void** out, void* graph, void* const* after, size_t count) {
  return add("cudaGraphAddEmptyNode", out, graph, after, count, GraphNodeType::empty, [](Context&) { return Action(); });
}
CudaError cudaGraphAddChildGraphNode(void** out, void* graph, void* const* after, size_t count, void* child) {
  return add("cudaGraphAddChildGraphNode", out, graph, after, count, GraphNodeType::graph, [&](Context& c) -> Action {
    return [inner = std::shared_ptr<GraphExec>(instantiate(c.streams.graphs.get(child)))] { inner->run(); };
  });
}

CudaError cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, const void*, size_t count) {
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
    const Graph& g = c.streams.graphs.get(graph);
    require_value(count != nullptr);
    for (size_t i = 0; nodes != nullptr && i < *count; ++i) nodes[i] = i < g.nodes.size() ? g.nodes[i].get() : nullptr;
    *count = nodes == nullptr ? g.nodes.size() : std::min(*count, g.nodes.size());
  });
}
CudaError cudaGraphNodeGetType(void* node, GraphNodeType* out) {
  return serve("cudaGraphNodeGetType", [&](Context&) {
    require_value(node != nullptr && out != nullptr);
    *out = static_cast<GraphNode*>(node)->type;
  });
}

CudaError cudaGraphInstantiate(void** out, void* graph, unsigned long long) {
  return serve("cudaGraphInstantiate", [&](Context& c) {
    require_value(out != nullptr);
    *out = &c.streams.executables.make(instantiate(c.streams.graphs.get(graph)));
  });
}
CudaError cudaGraphInstantiateWithFlags(void** out, void* graph, unsigned long long flags) { return cudaGraphInstantiate(out, graph, flags); }
CudaError cudaGraphExecDestroy(void* executable) {
  return serve("cudaGraphExecDestroy", [&](Context& c) { c.streams.executables.take(executable); });
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
    c.streams.submit(c.streams.get(stream), GraphNodeType::graph, [copy = e] { copy.run(); });
  });
}
PER_THREAD_ALIAS(cudaGraphLaunch, _ptsz);

CudaError cudaGraphExecKernelNodeSetParams(void* executable, void* node, const KernelNodeParams* p) {
  return set_step("cudaGraphExecKernelNodeSetParams", executable, node, GraphNodeType::kernel, [&](Context& c) { return kernel_action(c, p); });
}
CudaError cudaGraphExecMemcpyNodeSetParams(void* executable, void* node, const Memcpy3DParms* p) {
  return set_step("cudaGraphExecMemcpyNodeSetParams", executable, node, GraphNodeType::memcpy, [&](Context& c) { return copy_action(c, p); });
}
CudaError cudaGraphExecMemcpyNodeSetParams1D(void* executable, void* node, void* to, const void* from, size_t bytes, CopyKind kind) {
  return set_step("cudaGraphExecMemcpyNodeSetParams1D", executable, node, GraphNodeType::memcpy,
                  [&](Context& c) { return copy_action(c, to, from, bytes, kind); });
}
CudaError cudaGraphExecMemsetNodeSetParams(void* executable, void* node, const MemsetParams* p) {
  return set_step("cudaGraphExecMemsetNodeSetParams", executable, node, GraphNodeType::memset, [&](Context& c) { return set_action(c, p); });
}
CudaError cudaGraphExecHostNodeSetParams(void* executable, void* node, const HostNodeParams* p) {
  return set_step("cudaGraphExecHostNodeSetParams", executable, node, GraphNodeType::host, [&](Context&) { return host_action(p); });
}
CudaError cudaGraphNodeSetEnabled(void* executable, void* node, unsigned enabled) {
  return serve("cudaGraphNodeSetEnabled", [&](Context& c) { c.streams.executables.get(executable).step(node).enabled = enabled != 0; });
}
CudaError cudaGraphNodeGetEnabled(void* executable, void* node, unsigned* out) {
  return serve("cudaGraphNodeGetEnabled", [&](Context& c) { *out = c.streams.executables.get(executable).step(node).enabled ? 1 : 0; });
}
/// Takes the graph's work over if it has as many nodes of the same kinds in the same order.
CudaError cudaGraphExecUpdate(void* executable, void* graph, void* info) {
  return serve("cudaGraphExecUpdate", [&](Context& c) {
    GraphExec& e = c.streams.executables.get(executable);
    const auto fresh = instantiate(c.streams.graphs.get(graph));
    if (info != nullptr) std::memset(info, 0, 24);  // cudaGraphExecUpdateResultInfo: success, no node to name
    require(e.steps.size() == fresh->steps.size(), CudaError::graph_update_failure);
    for (size_t i = 0; i < e.steps.size(); ++i) {
      require(e.steps[i].type == fresh->steps[i].type, CudaError::graph_update_failure);
      e.steps[i].run = fresh->steps[i].run;
    }
  });
}

#pragma GCC visibility pop
}
