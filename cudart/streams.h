// Streams, events and graphs. Work runs when it is submitted: CUDA allows this order, and it makes runs repeatable. The
// work that a capturing stream records runs when its graph is launched. Behind a wait for a value that is not in memory yet
// (cuStreamWaitValue) the work of a stream is held until the value is there.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
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
  ConditionalNodeParams conditional{};
  std::vector<BatchMemOp> memory_operations;
  std::vector<void*> bodies;  // its graphs: conditional.bodies
};

/// The work of a node: what runs, and its parameters if it has any.
struct Work {
  Action run;
  std::shared_ptr<const NodeParams> params;
  std::function<Action()> make_run;  // what runs, made when the graph is instantiated: the bodies of a condition are filled by then
};

struct Graph;
struct GraphNode {
  Graph* graph = nullptr;
  GraphNodeType type = GraphNodeType::empty;
  Work work;
  std::vector<GraphNode*> after;        // nodes that must run before this one
  const GraphNode* original = nullptr;  // a clone's original node: used for comparison, never dereferenced
};

/// An object of the program that lives as long as something refers to it (cudaUserObject_t).
struct UserObject {
  void* object = nullptr;
  void (*destroy)(void*) = nullptr;
  unsigned count = 0;
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::map<UserObject*, unsigned> objects;  // references that the graph holds
  std::vector<Action> starts;               // run first, in each launch: values of conditions
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
  std::vector<Action> starts;
  std::vector<Step> steps;
  std::map<UserObject*, unsigned> objects;
  std::vector<void*> allocations;  // what its nodes allocate
  unsigned long long flags = 0;
  Step& step(const void* node);
  void run() const;
};
std::unique_ptr<GraphExec> instantiate(const Graph& g);

/// Work of a stream that cannot run yet.
struct HeldWork {
  uint64_t number = 0;          // of all streams' held work, in order of submission
  std::function<bool()> ready;  // no function: as soon as what is in front of it has run
  Action run;
};

/// cudaStreamCaptureMode
enum class CaptureMode : int {
  global = 0,
  thread_local_ = 1,
  relaxed = 2
};

struct Stream {
  uint64_t id = 0;
  std::deque<HeldWork> held;
  GuestContext* context = nullptr;  // in which the program made it
  unsigned flags = 0;
  int priority = 0;
  Graph* capture = nullptr;                        // the graph it records into
  bool origin = false;                             // the stream on which the capture began
  bool into_own_graph = false;                     // the capture adds to a graph of the program
  CaptureMode capture_mode = CaptureMode::global;  // of the origin, and its thread
  std::thread::id capture_thread;
  bool invalidated = false;  // a call that cannot be captured was made
  uint64_t capture_id = 0;
  std::vector<GraphNode*> last;      // the nodes that the next one comes after
  uint64_t works = 0;                // submitted so far, waits for events among them
  std::vector<GraphEdgeData> edges;  // for cudaStreamGetCaptureInfo: as many as `last`, all zero
};

/// A record of an event: of which held work is in front, it has not happened yet.
struct Moment {
  bool happened = false;
  double seconds = 0;  // simulated time
};

struct Event {
  unsigned flags = 0;
  std::shared_ptr<Moment> moment;  // of the latest record
  bool pending() const { return moment != nullptr && !moment->happened; }
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
  /// nullptr and cudaStreamLegacy.
  static bool is_legacy(const void* handle);

  /// Runs the work, or records it if the stream captures, or holds it behind work that is held.
  void submit(Stream& s, GraphNodeType type, Work work);
  void submit(Stream& s, GraphNodeType type, Action action) { submit(s, type, Work{std::move(action), nullptr}); }
  void record(Stream& s, Event& e);
  /// The event has happened now.
  void mark(Event& e) const;
  void wait(Stream& s, Event& e);
  /// Nothing of the stream runs before `ready`, a condition on memory.
  void hold_until(Stream& s, std::function<bool()> ready);
  /// True if work of any stream is held.
  bool any_held() const { return held_ != 0; }
  /// Forgets held work: the device is reset.
  void drop_held();
  /// True if held work is in front of what is submitted to the stream now: its own, and between the default stream and those that wait for it, theirs.
  bool in_front(const Stream& s) const { return in_front(s, next_held_); }
  /// Runs held work that has become ready. Every call of the program ends with this.
  void advance();

  /// Records into `graph` after `after`; without a graph, into a new one.
  void begin_capture(Stream& s, CaptureMode mode, Graph* graph = nullptr, std::vector<GraphNode*> after = {});
  Graph& end_capture(Stream& s);
  /// True while a stream that is not cudaStreamNonBlocking captures: the legacy default stream waits for such streams.
  bool default_waits_for_capture() const;
  void retain(const std::map<UserObject*, unsigned>& objects);
  void release(UserObject& object, unsigned count);
  void release(const std::map<UserObject*, unsigned>& objects);
  /// For calls that wait for streams: throws CallFailed if the stream, or any stream, captures, and invalidates the capture.
  void refuse_captured(Stream& s);
  void refuse_while_capturing();
  /// For calls like cudaMalloc, which no graph can record: the same if a capture forbids them to this thread (cudaStreamCaptureMode).
  void refuse_unsafe();
  /// Sets the calling thread's mode and returns the one before.
  CaptureMode exchange_mode(CaptureMode mode);

 private:
  bool in_front(const Stream& s, uint64_t number) const;
  bool advance(Stream& s);
  void hold(Stream& s, std::function<bool()> ready, Action run);
  /// Every stream of the capture but its origin has been waited for there: no node of theirs is behind the origin's last ones.
  bool joined(const Stream& origin) const;
  /// All streams with work, also those that the program has destroyed.
  void for_each(const std::function<void(Stream&)>& f) const;

  Handles<Stream> streams_;
  std::unique_ptr<Stream> default_;
  std::vector<std::unique_ptr<Stream>> destroyed_;  // with held work
  uint64_t next_id_ = 1, next_capture_ = 1, next_held_ = 1;
  std::map<std::thread::id, CaptureMode> modes_;  // of threads that have set one
  size_t held_ = 0;
  bool advancing_ = false;
};

}  // namespace drywell::cudart
