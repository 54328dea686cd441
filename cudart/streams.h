// Streams, events and graphs. Work runs when it is submitted: CUDA allows this order, and it makes runs repeatable. The
// work that a capturing stream records runs when its graph is launched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cudart/abi.h"
#include "cudart/call.h"

namespace drywell::cudart {

using Action = std::function<void()>;

/// What a node was made of, as the program reads and changes it.
struct NodeParams {
  KernelNodeParams kernel{};  // its arguments are `pointers`, to copies
  std::vector<std::vector<uint8_t>> values;
  std::vector<void*> pointers;
  std::vector<LaunchAttribute> attributes;
  std::string name;  // of the kernel, for people
  Memcpy3DParms memcpy{};
  MemsetParams memset{};
  HostNodeParams host{};
  MemAllocNodeParams alloc{};
  void* handle = nullptr;  // an event, a child graph, or the address of a mem_free node
};

/// The work of a node: what runs, and its parameters if it has any.
struct Work {
  Action run;
  std::shared_ptr<const NodeParams> params;
};

struct Graph;
struct GraphNode {
  Graph* graph = nullptr;
  GraphNodeType type = GraphNodeType::empty;
  Work work;
  std::vector<GraphNode*> after;  // nodes that must run before this one
  const GraphNode* original = nullptr;  // a clone's original node: used for comparison, never dereferenced
};

/// An object of the program that lives as long as somebody holds it (cudaUserObject_t).
struct UserObject {
  void* object = nullptr;
  void (*destroy)(void*) = nullptr;
  unsigned count = 0;
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::map<UserObject*, unsigned> objects;  // references that the graph holds
  GraphNode& add(GraphNodeType type, Work work, std::vector<GraphNode*> after);
  /// The node of that handle. Throws CallFailed.
  GraphNode& get(const void* node) const;
  /// Takes a node and its edges away.
  void remove(const GraphNode& node);
  /// Returns the nodes such that each comes after its dependencies, otherwise in order of addition. Throws CallFailed
  /// if there is a cycle.
  std::vector<const GraphNode*> order() const;
  std::unique_ptr<Graph> clone() const;
};

/// An executable graph: a copy, so that the graph may change or be destroyed.
struct GraphExec {
  struct Step {
    const GraphNode* node;  // the graph's node: used for comparison, never dereferenced
    GraphNodeType type;
    Action run;
    bool enabled = true;
  };
  std::vector<Step> steps;
  std::map<UserObject*, unsigned> objects;
  unsigned long long flags = 0;
  Step& step(const void* node);
  void run() const;
};
std::unique_ptr<GraphExec> instantiate(const Graph& g);

struct Stream {
  uint64_t id = 0;
  unsigned flags = 0;
  int priority = 0;
  Graph* capture = nullptr;  // the graph it records into
  bool origin = false;       // the stream on which the capture began
  uint64_t capture_id = 0;
  std::vector<GraphNode*> last;  // the nodes that the next one comes after
  std::vector<GraphEdgeData> edges;  // for cudaStreamGetCaptureInfo: as many as `last`, all zero
};

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  double seconds = 0;        // simulated time
  Graph* capture = nullptr;  // graph of the capturing stream that recorded the event
  std::vector<GraphNode*> nodes;
  uint64_t capture_id = 0;
};

/// The objects behind the opaque handles of one kind.
template <class T>
class Handles {
 public:
  T& make(std::unique_ptr<T> object) {
    T& made = *object;
    objects_.emplace(&made, std::move(object));
    return made;
  }
  T& get(const void* handle) const {
    const auto it = objects_.find(handle);
    require(it != objects_.end(), CudaError::invalid_handle);
    return *it->second;
  }
  std::unique_ptr<T> take(const void* handle) {
    const auto it = objects_.find(handle);
    require(it != objects_.end(), CudaError::invalid_handle);
    std::unique_ptr<T> out = std::move(it->second);
    objects_.erase(it);
    return out;
  }
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [handle, object] : objects_) f(*object);
  }

 private:
  std::map<const void*, std::unique_ptr<T>> objects_;
};

class Streams {
 public:
  Handles<Event> events;
  Handles<Graph> graphs;
  Handles<GraphExec> executables;
  Handles<UserObject> user_objects;
  double now = 0;  // simulated seconds since the program began

  Streams();
  Stream& create(unsigned flags, int priority);
  void destroy(void* handle);
  /// nullptr, cudaStreamLegacy and cudaStreamPerThread are one stream here.
  Stream& get(const void* handle) const;

  /// Runs the work, or records it if the stream captures.
  void submit(Stream& s, GraphNodeType type, Work work);
  void submit(Stream& s, GraphNodeType type, Action action) { submit(s, type, Work{std::move(action), nullptr}); }
  void record(Stream& s, Event& e);
  /// The event has happened now.
  void mark(Event& e) const;
  void wait(Stream& s, Event& e);

  /// Records into `graph` after `after`; without a graph, into a new one.
  void begin_capture(Stream& s, Graph* graph = nullptr, std::vector<GraphNode*> after = {});
  Graph& end_capture(Stream& s);
  void retain(const std::map<UserObject*, unsigned>& objects);
  void release(UserObject& object, unsigned count);
  void release(const std::map<UserObject*, unsigned>& objects);
  /// Throws CallFailed if any stream captures, for calls that cannot be captured.
  void refuse_while_capturing() const;

 private:
  Handles<Stream> streams_;
  std::unique_ptr<Stream> default_;
  uint64_t next_id_ = 1, next_capture_ = 1;
};

}  // namespace drywell::cudart
