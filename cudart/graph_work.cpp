#include "cudart/graph_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cudart/call.h"
#include "cudart/copy_actions.h"
#include "drywell/core/error.h"

namespace drywell::cudart {
namespace {

Work with_handle(Action run, void* handle) {
  auto kept = std::make_shared<NodeParams>();
  kept->handle = handle;
  return {std::move(run), std::move(kept)};
}

const char* type_text(GraphNodeType t) {
  switch (t) {
    case GraphNodeType::kernel: return "kernel";
    case GraphNodeType::memcpy: return "memcpy";
    case GraphNodeType::memset: return "memset";
    case GraphNodeType::host: return "host";
    case GraphNodeType::graph: return "graph";
    case GraphNodeType::empty: return "empty";
    case GraphNodeType::wait_event: return "wait for event";
    case GraphNodeType::event_record: return "record event";
    case GraphNodeType::mem_alloc: return "allocate";
    case GraphNodeType::mem_free: return "free";
    case GraphNodeType::batch_mem_op: return "memory operations";
    case GraphNodeType::conditional: return "conditional";
  }
  return "?";
}

}  // namespace

Work kernel_work(Context& c, const KernelNodeParams* p, std::vector<LaunchAttribute> attributes) {
  require_value(p != nullptr);
  return c.launch_work(*p, std::move(attributes));
}

Work set_work(Context& c, const MemsetParams* p) {
  require_value(p != nullptr);
  auto kept = std::make_shared<NodeParams>();
  kept->memset = *p;
  return {[&memory = c.memory(), m = *p] { memory.set({m.dst, m.pitch, 0}, m.value, m.element_size, {m.width * m.element_size, m.height, 1}); }, std::move(kept)};
}

Work host_work(const HostNodeParams* p) {
  require_value(p != nullptr && p->function != nullptr);
  auto kept = std::make_shared<NodeParams>();
  kept->host = *p;
  return {[h = *p] { h.function(h.user_data); }, std::move(kept)};
}

Work child_work(Context& c, void* graph) {
  Graph& own = c.streams.graphs.make(c.streams.graphs.get(graph).clone());
  return with_handle([inner = std::shared_ptr<GraphExec>(instantiate(own))] { inner->run(); }, &own);
}

Work record_work(Context& c, void* event) {
  c.streams.events.get(event);
  return with_handle([&streams = c.streams, event] { streams.mark(streams.events.get(event)); }, event);
}

Work wait_work(Context& c, void* event) {
  c.streams.events.get(event);
  return with_handle({}, event);  // the recorded work has run
}

Work alloc_work(Context& c, MemAllocNodeParams* p, void* again) {
  require_value(p != nullptr && p->bytes != 0);
  p->address = again != nullptr ? again : c.memory().allocate(p->bytes, MemoryType::device);
  c.memory().keep_for_graph(p->address);
  auto kept = std::make_shared<NodeParams>();
  kept->alloc = *p;
  return {[&memory = c.memory(), at = p->address] { memory.begin_for_graph(at); }, std::move(kept)};
}

Work free_work(Context& c, void* address) {
  require_value(c.memory().find(address).has_value());
  return with_handle([&memory = c.memory(), address] { memory.end_for_graph(address); }, address);
}

namespace {

std::set<const GraphNode*> with_all_before(const std::vector<GraphNode*>& nodes) {
  std::set<const GraphNode*> seen;
  std::vector<const GraphNode*> next(nodes.begin(), nodes.end());
  while (!next.empty()) {
    const GraphNode* n = next.back();
    next.pop_back();
    if (seen.insert(n).second) next.insert(next.end(), n->after.begin(), n->after.end());
  }
  return seen;
}

}  // namespace

void* freed_before(const Graph& g, const std::vector<GraphNode*>& after, uint64_t bytes) {
  const std::set<const GraphNode*> earlier = with_all_before(after);
  // Of each address: how often nodes allocate it, and how often those that have run by then free it.
  std::map<void*, std::pair<uint64_t, int>> open;
  for (const auto& n : g.nodes) {
    if (n->type != GraphNodeType::mem_alloc) continue;
    auto& [size, count] = open[n->work.params->alloc.address];
    size = n->work.params->alloc.bytes;
    ++count;
  }
  for (const GraphNode* n : earlier) {
    if (n->type == GraphNodeType::mem_free) --open[n->work.params->handle].second;
  }
  const auto it = std::find_if(open.begin(), open.end(), [&](const auto& a) { return a.second == std::pair(bytes, 0); });
  return it == open.end() ? nullptr : it->first;
}

void require_freed(Context& c, const GraphExec& e) {
  constexpr unsigned long long kAutoFree = 1;  // cudaGraphInstantiateFlagAutoFreeOnLaunch
  if (c.streams.any_held()) return;            // work that frees it may be in front
  for (void* p : e.allocations) {
    if (!c.memory().graphs.in_use(reinterpret_cast<uintptr_t>(p))) continue;
    require_value((e.flags & kAutoFree) != 0);
    c.memory().end_for_graph(p);
  }
}

uint64_t make_condition(Context& c, Graph& g, unsigned value, bool assign) {
  void* const word = c.memory().allocate(sizeof(uint32_t), MemoryType::device);
  c.memory().keep_for_graph(word);
  const auto set = [&memory = c.memory(), word, value] { memory.set({word, sizeof value, 0}, value, sizeof value, {sizeof value, 1, 1}); };
  set();
  if (assign) g.starts.push_back(set);
  return reinterpret_cast<uint64_t>(word);
}

namespace {

using Bodies = std::vector<std::shared_ptr<GraphExec>>;

/// The body to run: its number, or that of no body.
size_t chosen(ConditionType type, uint32_t value) {
  return type == ConditionType::switch_ ? value : value != 0 ? 0
                                                             : 1;
}

void run_condition(Context& c, const ConditionalNodeParams& p, const Bodies& bodies) {
  const auto value = [&] {
    uint32_t now = 0;
    c.device().read(&now, GmemAddr(p.handle), sizeof now);
    return now;
  };
  if (p.type == ConditionType::while_) {
    while (value() != 0 && c.sticky == CudaError::success) bodies[0]->run();
  } else if (const size_t n = chosen(p.type, value()); n < bodies.size()) {
    bodies[n]->run();
  }
}

}  // namespace

Work condition_work(Context& c, ConditionalNodeParams* p) {
  using Type = ConditionType;
  require_value(p != nullptr && p->size > 0 && p->size <= (p->type == Type::switch_ ? UINT16_MAX : p->type == Type::if_ ? 2u
                                                                                                                        : 1u));
  require_value(c.memory().find(reinterpret_cast<void*>(p->handle)).has_value());
  auto kept = std::make_shared<NodeParams>();
  for (unsigned i = 0; i < p->size; ++i) kept->bodies.push_back(&c.streams.graphs.make(std::make_unique<Graph>()));
  p->bodies = kept->bodies.data();
  kept->conditional = *p;
  const auto make_run = [&c, kept] {
    Bodies bodies;
    for (const void* body : kept->bodies) bodies.push_back(instantiate(c.streams.graphs.get(body)));
    return [&c, p = kept->conditional, bodies] { run_condition(c, p, bodies); };
  };
  return {{}, kept, make_run};
}

Work node_work(Context& c, GraphNodeParams* p, void* again) {
  require_value(p != nullptr);
  switch (p->type) {
    case GraphNodeType::kernel: return kernel_work(c, &p->kernel);
    case GraphNodeType::memcpy: return copy_work(c, &p->memcpy.copy);
    case GraphNodeType::memset: return set_work(c, &p->memset);
    case GraphNodeType::host: return host_work(&p->host);
    case GraphNodeType::graph: return child_work(c, p->graph);
    case GraphNodeType::empty: return {};
    case GraphNodeType::wait_event: return wait_work(c, p->event);
    case GraphNodeType::event_record: return record_work(c, p->event);
    case GraphNodeType::mem_alloc: return alloc_work(c, &p->alloc, again);
    case GraphNodeType::mem_free: return free_work(c, p->address);
    case GraphNodeType::conditional: return condition_work(c, &p->conditional);
    default: throw Unsupported(fmt::format("nodes of kind '{}' in a graph", type_text(p->type)));
  }
}

const NodeParams& params_of(const void* node, GraphNodeType type) {
  require_value(node != nullptr);
  const auto& n = *static_cast<const GraphNode*>(node);
  require_value(n.type == type && n.work.params != nullptr);
  return *n.work.params;
}

std::string dot_text(const Graph& g) {
  std::map<const GraphNode*, size_t> numbers;
  std::string text = "digraph graph_of_the_program {\n";
  for (const auto& n : g.nodes) {
    const std::string name = n->work.params != nullptr ? n->work.params->name : "";
    const size_t number = numbers.emplace(n.get(), numbers.size()).first->second;
    text += fmt::format("  n{} [label=\"{}{}{}\"];\n", number, type_text(n->type), name.empty() ? "" : ": ", name);
  }
  for (const auto& n : g.nodes) {
    for (const GraphNode* first : n->after) text += fmt::format("  n{} -> n{};\n", numbers.at(first), numbers.at(n.get()));
  }
  return text + "}\n";
}

}  // namespace drywell::cudart
