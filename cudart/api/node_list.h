// Lists of a graph's nodes for the program, new nodes from it, and new work for its nodes.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "cudart/serve.h"

namespace drywell::cudart {

/// Copies as many of `all` as `out` has room for and fills the rest with nullptr; without `out`, returns the number of nodes.
inline void list_nodes(const std::vector<GraphNode*>& all, void** out, GraphEdgeData* edges, size_t* count) {
  require_value(count != nullptr);
  if (edges != nullptr && out != nullptr) std::fill_n(edges, *count, GraphEdgeData{});
  for (size_t i = 0; out != nullptr && i < *count; ++i) out[i] = i < all.size() ? all[i] : nullptr;
  *count = out == nullptr ? all.size() : std::min(*count, all.size());
}

/// Adds a node after those of `after`; `make(Context&)`, or `make(Context&, Graph&, nodes of after)`, returns its work.
template <class F>
CudaError add_node(const char* name, void** out, void* graph, void* const* after, size_t count, GraphNodeType type, F&& make) {
  return serve(name, [&](Context& c) {
    require_value(out != nullptr && (count == 0 || after != nullptr));
    Graph& g = c.streams.graphs.get(graph);
    std::vector<GraphNode*> nodes;
    for (size_t i = 0; i < count; ++i) nodes.push_back(static_cast<GraphNode*>(after[i]));
    const auto work = [&] {
      if constexpr (std::is_invocable_v<F, Context&, Graph&, const std::vector<GraphNode*>&>)
        return make(c, g, nodes);
      else
        return make(c);
    };
    Work made = work();
    *out = &g.add(type, std::move(made), std::move(nodes));
  });
}

/// Gives a node of an instantiated graph, of that type, new work: what `make(Context&)` returns.
template <class F>
CudaError set_step(const char* name, void* executable, const void* node, GraphNodeType type, F&& make) {
  return serve(name, [&](Context& c) {
    GraphExec::Step& s = c.streams.executables.get(executable).step(node);
    require_value(s.type == type);
    s.run = make(c).run;
  });
}

}  // namespace drywell::cudart
