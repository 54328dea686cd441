#include "cudart/streams.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace drywell::cudart {
namespace {

// driver_types.h
constexpr uintptr_t kLegacy = 1;     // cudaStreamLegacy
constexpr uintptr_t kPerThread = 2;  // cudaStreamPerThread
bool is_default(const void* handle) { return reinterpret_cast<uintptr_t>(handle) <= kPerThread; }
constexpr unsigned kNonBlocking = 1;  // cudaStreamNonBlocking

constexpr int kGreatestPriority = -5, kLeastPriority = 0;  // cudaDeviceGetStreamPriorityRange: others are clamped

}  // namespace

bool Streams::is_legacy(const void* handle) { return reinterpret_cast<uintptr_t>(handle) <= kLegacy; }

GraphNode& Graph::add(GraphNodeType type, Work work, std::vector<GraphNode*> after) {
  for (const GraphNode* n : after) require_value(n != nullptr && n->graph == this);
  return *nodes.emplace_back(std::make_unique<GraphNode>(GraphNode{this, type, std::move(work), std::move(after)}));
}

GraphNode& Graph::get(const void* node) const {
  const auto it = std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.get() == node; });
  require_value(it != nodes.end());
  return **it;
}

void Graph::remove(const GraphNode& node) {
  for (const auto& n : nodes) std::erase(n->after, &node);
  std::erase_if(nodes, [&](const auto& n) { return n.get() == &node; });
}

std::vector<const GraphNode*> Graph::order() const {
  std::vector<const GraphNode*> out;
  std::set<const GraphNode*> done;
  while (out.size() < nodes.size()) {
    const size_t before = out.size();
    for (const auto& n : nodes) {
      const auto ready = [&](const GraphNode* d) { return done.contains(d); };
      if (done.contains(n.get()) || !std::all_of(n->after.begin(), n->after.end(), ready)) continue;
      out.push_back(n.get());
      done.insert(n.get());
    }
    require_value(out.size() > before);
  }
  return out;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> twins;
  for (const auto& n : nodes) {
    GraphNode& twin = copy->add(n->type, n->work, {});
    twin.original = n.get();
    twins.emplace(n.get(), &twin);
  }
  for (const auto& n : nodes) {
    for (const GraphNode* first : n->after) twins.at(n.get())->after.push_back(twins.at(first));
  }
  copy->objects = objects;
  copy->starts = starts;
  return copy;
}

std::unique_ptr<GraphExec> instantiate(const Graph& g) {
  auto e = std::make_unique<GraphExec>();
  for (const GraphNode* n : g.order()) {
    e->steps.push_back({n, n->type, n->work.make_run ? n->work.make_run() : n->work.run});
    if (n->type == GraphNodeType::mem_alloc) e->allocations.push_back(n->work.params->alloc.address);
  }
  e->objects = g.objects;
  e->starts = g.starts;
  return e;
}

GraphExec::Step& GraphExec::step(const void* node) {
  const auto it = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.node == node; });
  require_value(it != steps.end());
  return *it;
}

void GraphExec::run() const {
  for (const Action& start : starts) start();
  for (const Step& s : steps) {
    if (s.enabled && s.run) s.run();
  }
}

Streams::Streams() : default_(std::make_unique<Stream>()) {}

Stream& Streams::create(unsigned flags, int priority) {
  auto s = std::make_unique<Stream>();
  s->id = next_id_++;
  s->flags = flags;
  s->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  return streams_.make(std::move(s));
}

void Streams::destroy(void* handle) {
  require(!is_default(handle), CudaError::invalid_handle);
  std::unique_ptr<Stream> s = streams_.take(handle);
  if (!s->held.empty()) destroyed_.push_back(std::move(s));  // its work still runs
}

Stream& Streams::get(const void* handle) const { return is_default(handle) ? *default_ : streams_.get(handle); }

void Streams::submit(Stream& s, GraphNodeType type, Work work) {
  ++s.works;
  if (s.capture == nullptr) {
    if (in_front(s)) return hold(s, {}, std::move(work.run));
    if (work.run) work.run();
    return;
  }
  GraphNode& node = s.capture->add(type, std::move(work), s.last);
  s.last = {&node};
}

void Streams::record(Stream& s, Event& e) {
  e.capture = s.capture;
  e.capture_id = s.capture_id;
  e.nodes = s.last;
  if (s.capture != nullptr) return;
  if (!in_front(s)) return mark(e);
  e.moment = std::make_shared<Moment>();
  hold(s, {}, [this, m = e.moment] { *m = {true, now}; });
}

void Streams::mark(Event& e) const { e.moment = std::make_shared<Moment>(Moment{true, now}); }

void Streams::wait(Stream& s, Event& e) {
  ++s.works;
  if (e.capture == nullptr) {
    if (e.pending()) hold(s, [m = e.moment] { return m->happened; }, {});
    return;  // otherwise the recorded work has run
  }
  s.invalidated = s.invalidated || (s.capture != nullptr && s.capture != e.capture);
  require(s.capture == nullptr || s.capture == e.capture, CudaError::capture_merge);
  if (s.capture == nullptr) {
    s.capture = e.capture;
    s.capture_id = e.capture_id;
    s.last = e.nodes;
    return;
  }
  // The next node comes after both branches; the join itself is no node.
  for (GraphNode* n : e.nodes) {
    if (std::find(s.last.begin(), s.last.end(), n) == s.last.end()) s.last.push_back(n);
  }
}

void Streams::hold(Stream& s, std::function<bool()> ready, Action run) {
  s.held.push_back({next_held_++, std::move(ready), std::move(run)});
  ++held_;
}

void Streams::drop_held() {
  for_each([](Stream& s) { s.held.clear(); });
  destroyed_.clear();
  held_ = 0;
}

void Streams::hold_until(Stream& s, std::function<bool()> ready) {
  if (in_front(s) || !ready()) hold(s, std::move(ready), {});
}

void Streams::for_each(const std::function<void(Stream&)>& f) const {
  f(*default_);
  streams_.for_each(f);
  for (const auto& s : destroyed_) f(*s);
}

// The default stream and the streams that are not cudaStreamNonBlocking wait for each other.
bool Streams::in_front(const Stream& s, uint64_t number) const {
  if (held_ == 0) return false;
  const auto earlier = [&](const Stream& o) { return !o.held.empty() && o.held.front().number < number; };
  if (earlier(s) || ((s.flags & kNonBlocking) == 0 && earlier(*default_))) return true;
  bool others = false;
  if (&s == default_.get()) for_each([&](const Stream& o) { others = others || ((o.flags & kNonBlocking) == 0 && earlier(o)); });
  return others;
}

bool Streams::advance(Stream& s) {
  bool ran = false;
  while (!s.held.empty() && !in_front(s, s.held.front().number) && (!s.held.front().ready || s.held.front().ready())) {
    const HeldWork next = std::move(s.held.front());
    s.held.pop_front();
    --held_;
    if (next.run) next.run();
    ran = true;
  }
  return ran;
}

void Streams::advance() {
  if (advancing_ || !any_held()) return;
  advancing_ = true;
  const std::shared_ptr<void> done(nullptr, [this](void*) { advancing_ = false; });
  for (bool ran = true; ran;) {
    ran = false;
    for_each([&](Stream& s) { ran = advance(s) || ran; });
  }
  std::erase_if(destroyed_, [](const auto& s) { return s->held.empty(); });
}

void Streams::begin_capture(Stream& s, CaptureMode mode, Graph* graph, std::vector<GraphNode*> after) {
  require(s.capture == nullptr, CudaError::illegal_state);
  require(&s != default_.get(), CudaError::capture_unsupported);
  for (const GraphNode* n : after) require_value(n != nullptr && n->graph == graph);
  s.capture = graph != nullptr ? graph : &graphs.make(std::make_unique<Graph>());
  s.into_own_graph = graph != nullptr;
  s.capture_id = next_capture_++;
  s.origin = true;
  s.capture_mode = mode;
  s.capture_thread = std::this_thread::get_id();
  s.invalidated = false;
  s.last = std::move(after);
}

bool Streams::default_waits_for_capture() const {
  bool blocking = false;
  streams_.for_each([&](const Stream& s) { blocking = blocking || (s.capture != nullptr && (s.flags & kNonBlocking) == 0); });
  return blocking;
}

bool Streams::joined(const Stream& origin) const {
  std::set<const GraphNode*> seen;
  std::vector<const GraphNode*> next(origin.last.begin(), origin.last.end());
  while (!next.empty()) {
    const GraphNode* const n = next.back();
    next.pop_back();
    if (seen.insert(n).second) next.insert(next.end(), n->after.begin(), n->after.end());
  }
  bool all = true;
  streams_.for_each([&](const Stream& s) {
    if (s.capture == origin.capture) all = all && std::all_of(s.last.begin(), s.last.end(), [&](const GraphNode* n) { return seen.contains(n); });
  });
  return all;
}

Graph& Streams::end_capture(Stream& s) {
  require(s.capture != nullptr, CudaError::illegal_state);
  s.invalidated = s.invalidated || !s.origin;  // the capture's, which ends on the stream where it began
  require(s.origin, CudaError::capture_unmatched);
  Graph& g = *s.capture;
  const bool complete = joined(s);
  bool invalidated = false;
  const auto leave = [&](Stream& other) {
    if (other.capture != &g) return;
    invalidated = invalidated || other.invalidated;
    other.invalidated = false;
    other.capture = nullptr;
    other.last.clear();
    other.origin = false;
  };
  streams_.for_each(leave);
  leave(*default_);
  events.for_each([&](Event& e) {
    if (e.capture == &g) e.capture = nullptr;
  });
  require(!invalidated, CudaError::capture_invalidated);
  require(complete, CudaError::capture_unjoined);
  return g;
}

void Streams::retain(const std::map<UserObject*, unsigned>& objects) {
  for (const auto& [object, count] : objects) object->count += count;
}

void Streams::release(UserObject& object, unsigned count) {
  require_value(count <= object.count);
  object.count -= count;
  if (object.count != 0) return;
  const std::unique_ptr<UserObject> last = user_objects.take(&object);
  last->destroy(last->object);
}

void Streams::release(const std::map<UserObject*, unsigned>& objects) {
  for (const auto& [object, count] : objects) release(*object, count);
}

void Streams::refuse_captured(Stream& s) {
  if (s.capture == nullptr) return;
  s.invalidated = true;
  throw CallFailed{CudaError::capture_unsupported};
}

void Streams::refuse_while_capturing() {
  streams_.for_each([&](Stream& s) { refuse_captured(s); });
}

CaptureMode Streams::exchange_mode(CaptureMode mode) { return std::exchange(modes_[std::this_thread::get_id()], mode); }

// The rules are the words of cudaThreadExchangeStreamCaptureMode (cuda_runtime_api.h).
void Streams::refuse_unsafe() {
  const std::thread::id here = std::this_thread::get_id();
  const CaptureMode mine = modes_[here];
  if (mine == CaptureMode::relaxed) return;
  streams_.for_each([&](Stream& s) {
    if (s.capture == nullptr || !s.origin) return;
    const bool own = s.capture_thread == here && s.capture_mode != CaptureMode::relaxed;
    const bool others = s.capture_thread != here && s.capture_mode == CaptureMode::global && mine == CaptureMode::global;
    if (own || others) refuse_captured(s);
  });
}

}  // namespace drywell::cudart
