// Streams, events and graphs. Work runs when it is submitted: CUDA allows this order, and it makes runs repeatable. The
// work that a capturing stream records runs when its graph is launched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "cudart/abi.h"
#include "cudart/call.h"

namespace drywell::cudart {

using Action = std::function<void()>;

struct Graph;
struct GraphNode {
  Graph* graph = nullptr;
  GraphNodeType type = GraphNodeType::empty;
  Action run;
  std::vector<GraphNode*> after;  // nodes that must run before this one
  const GraphNode* original = nullptr;  // a clone's original node: used for comparison, never dereferenced
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  GraphNode& add(GraphNodeType type, Action run, std::vector<GraphNode*> after);
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
  GraphNode* last = nullptr;  // the latest recorded node
};

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  double seconds = 0;        // simulated time
  Graph* capture = nullptr;  // graph of the capturing stream that recorded the event
  GraphNode* node = nullptr;
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
  double now = 0;  // simulated seconds since the program began

  Streams();
  Stream& create(unsigned flags, int priority);
  void destroy(void* handle);
  /// nullptr, cudaStreamLegacy and cudaStreamPerThread are one stream here.
  Stream& get(const void* handle) const;

  /// Runs `action`, or records it if the stream captures.
  void submit(Stream& s, GraphNodeType type, Action action);
  void record(Stream& s, Event& e);
  void wait(Stream& s, Event& e);

  void begin_capture(Stream& s);
  Graph& end_capture(Stream& s);
  /// Throws CallFailed if any stream captures, for calls that cannot be captured.
  void refuse_while_capturing() const;

 private:
  Handles<Stream> streams_;
  std::unique_ptr<Stream> default_;
  uint64_t next_id_ = 1, next_capture_ = 1;
};

}  // namespace drywell::cudart
