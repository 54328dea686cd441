// Graphs in the runtime interface: nodes for events and memory, changes of nodes and edges, pictures, objects of the program.
#include <algorithm>
#include <cstring>

#include "cudart/api/node_list.h"
#include "cudart/graph_work.h"
#include "cudart/serve.h"
#include "drywell/core/files.h"

using namespace drywell::cudart;

namespace {

GraphNode& existing(void* node) {
  require_value(node != nullptr && static_cast<GraphNode*>(node)->graph != nullptr);
  return *static_cast<GraphNode*>(node);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

CudaError cudaGraphAddEventRecordNode(void** out, void* graph, void* const* after, size_t count, void* event) {
  return add_node("cudaGraphAddEventRecordNode", out, graph, after, count, GraphNodeType::event_record, [&](Context& c) { return record_work(c, event); });
}
CudaError cudaGraphAddEventWaitNode(void** out, void* graph, void* const* after, size_t count, void* event) {
  return add_node("cudaGraphAddEventWaitNode", out, graph, after, count, GraphNodeType::wait_event, [&](Context& c) { return wait_work(c, event); });
}
CudaError cudaGraphAddMemAllocNode(void** out, void* graph, void* const* after, size_t count, MemAllocNodeParams* p) {
  return add_node("cudaGraphAddMemAllocNode", out, graph, after, count, GraphNodeType::mem_alloc, [&](Context& c, Graph& g, const std::vector<GraphNode*>& nodes) {
    require_value(p != nullptr);
    return alloc_work(c, p, freed_before(g, nodes, p->bytes));
  });
}
CudaError cudaGraphAddMemFreeNode(void** out, void* graph, void* const* after, size_t count, void* address) {
  return add_node("cudaGraphAddMemFreeNode", out, graph, after, count, GraphNodeType::mem_free, [&](Context& c) { return free_work(c, address); });
}
CudaError cudaGraphExecEventRecordNodeSetEvent(void* executable, void* node, void* event) {
  return set_step("cudaGraphExecEventRecordNodeSetEvent", executable, node, GraphNodeType::event_record, [&](Context& c) { return record_work(c, event); });
}
CudaError cudaGraphExecEventWaitNodeSetEvent(void* executable, void* node, void* event) {
  return set_step("cudaGraphExecEventWaitNodeSetEvent", executable, node, GraphNodeType::wait_event, [&](Context& c) { return wait_work(c, event); });
}
CudaError cudaGraphExecChildGraphNodeSetParams(void* executable, void* node, void* graph) {
  return set_step("cudaGraphExecChildGraphNodeSetParams", executable, node, GraphNodeType::graph, [&](Context& c) { return child_work(c, graph); });
}
CudaError cudaDeviceGraphMemTrim(int device) {
  return serve("cudaDeviceGraphMemTrim", [&](Context& c) {
    require(device == 0, CudaError::invalid_device);
    c.memory().graphs.trim();
  });
}
CudaError cudaDeviceGetGraphMemAttribute(int device, int attribute, void* out) {
  return serve("cudaDeviceGetGraphMemAttribute", [&](Context& c) {
    require(device == 0, CudaError::invalid_device);
    require_value(out != nullptr);
    const uint64_t bytes = c.memory().graphs.value(attribute);
    std::memcpy(out, &bytes, sizeof bytes);
  });
}
CudaError cudaDeviceSetGraphMemAttribute(int device, int attribute, const void* value) {
  return serve("cudaDeviceSetGraphMemAttribute", [&](Context& c) {
    require(device == 0, CudaError::invalid_device);
    uint64_t bytes = 0;
    require_value(value != nullptr);
    std::memcpy(&bytes, value, sizeof bytes);
    require_value(bytes == 0);  // "High watermark can only be reset to zero" (cuda.h)
    c.memory().graphs.reset(attribute);
  });
}

CudaError cudaGraphDestroyNode(void* node) {
  return serve("cudaGraphDestroyNode", [&](Context&) {
    GraphNode& n = existing(node);
    n.graph->remove(n);
  });
}
CudaError cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to, const GraphEdgeData*, size_t count) {
  return serve("cudaGraphRemoveDependencies", [&](Context& c) {
    Graph& g = c.streams.graphs.get(graph);
    for (size_t i = 0; i < count; ++i) require_value(std::erase(g.get(to[i]).after, &g.get(from[i])) != 0);
  });
}
CudaError cudaGraphNodeGetDependencies(void* node, void** out, GraphEdgeData* edges, size_t* count) {
  return serve("cudaGraphNodeGetDependencies", [&](Context&) { list_nodes(existing(node).after, out, edges, count); });
}
CudaError cudaGraphNodeGetDependentNodes(void* node, void** out, GraphEdgeData* edges, size_t* count) {
  return serve("cudaGraphNodeGetDependentNodes", [&](Context&) {
    GraphNode& n = existing(node);
    std::vector<GraphNode*> later;
    for (const auto& other : n.graph->nodes) {
      if (std::find(other->after.begin(), other->after.end(), &n) != other->after.end()) later.push_back(other.get());
    }
    list_nodes(later, out, edges, count);
  });
}

CudaError cudaGraphDebugDotPrint(void* graph, const char* path, unsigned) {
  return serve("cudaGraphDebugDotPrint", [&](Context& c) {
    require_value(path != nullptr);
    drywell::write_file_atomically(path, dot_text(c.streams.graphs.get(graph)));
  });
}

CudaError cudaUserObjectCreate(void** out, void* object, void (*destroy)(void*), unsigned count, unsigned flags) {
  return serve("cudaUserObjectCreate", [&](Context& c) {
    require_value(out != nullptr && destroy != nullptr && count != 0 && flags == 1);  // cudaUserObjectNoDestructorSync
    *out = &c.streams.user_objects.make(std::make_unique<UserObject>(UserObject{object, destroy, count}));
  });
}
CudaError cudaUserObjectRetain(void* object, unsigned count) {
  return serve("cudaUserObjectRetain", [&](Context& c) { c.streams.user_objects.get(object).count += count; });
}
CudaError cudaUserObjectRelease(void* object, unsigned count) {
  return serve("cudaUserObjectRelease", [&](Context& c) { c.streams.release(c.streams.user_objects.get(object), count); });
}
/// With cudaGraphUserObjectMove (1) the caller's references become the graph's.
CudaError cudaGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags) {
  return serve("cudaGraphRetainUserObject", [&](Context& c) {
    require_value(count != 0 && flags <= 1);
    UserObject& o = c.streams.user_objects.get(object);
    c.streams.graphs.get(graph).objects[&o] += count;
    if (flags == 0) o.count += count;
  });
}
CudaError cudaGraphReleaseUserObject(void* graph, void* object, unsigned count) {
  return serve("cudaGraphReleaseUserObject", [&](Context& c) {
    UserObject& o = c.streams.user_objects.get(object);
    auto& held = c.streams.graphs.get(graph).objects;
    require_value(held.contains(&o) && count <= held.at(&o));
    if ((held.at(&o) -= count) == 0) held.erase(&o);
    c.streams.release(o, count);
  });
}

#pragma GCC visibility pop
}
