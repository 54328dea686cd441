#include "cudart/streams.h"

#include <algorithm>
#include <map>
#include <set>

namespace drywell::cudart {
namespace {

// cudaStreamLegacy and cudaStreamPerThread (driver_types.h).
bool is_default(const void* handle) { return reinterpret_cast<uintptr_t>(handle) <= 2; }

}  // namespace

GraphNode& Graph::add(GraphNodeType type, Action run, std::vector<GraphNode*> after) {
  for (const GraphNode* n : after) require_value(n != nullptr && n->graph == this);
  return *nodes.emplace_back(std::make_unique<GraphNode>(GraphNode{this, type, std::move(run), std::move(after)}));
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
    GraphNode& twin = copy->add(n->type, n->run, {});
    twin.original = n.get();
    twins.emplace(n.get(), &twin);
  }
  for (const auto& n : nodes) {
    for (const GraphNode* first : n->after) twins.at(n.get())->after.push_back(twins.at(first));
  }
  return copy;
}

std::unique_ptr<GraphExec> instantiate(const Graph& g) {
  auto e = std::make_unique<GraphExec>();
  for (const GraphNode* n : g.order()) e->steps.push_back({n, n->type, n->run});
  return e;
}

GraphExec::Step& GraphExec::step(const void* node) {
  const auto it = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.node == node; });
  require_value(it != steps.end());
  return *it;
}

void GraphExec::run() const {
  for (const Step& s : steps) {
    if (s.enabled && s.run) s.run();
  }
}

Streams::Streams() : default_(std::make_unique<Stream>()) {}

Stream& Streams::create(unsigned flags, int priority) {
  auto s = std::make_unique<Stream>();
  s->id = next_id_++;
  s->flags = flags;
  s->priority = priority;
  return streams_.make(std::move(s));
}

void Streams::destroy(void* handle) {
  require(!is_default(handle), CudaError::invalid_handle);
  streams_.take(handle);
}

Stream& Streams::get(const void* handle) const { return is_default(handle) ? *default_ : streams_.get(handle); }

void Streams::submit(Stream& s, GraphNodeType type, Action action) {
  if (s.capture == nullptr) {
    action();
    return;
  }
  std::vector<GraphNode*> after;
  if (s.last != nullptr) after.push_back(s.last);
  s.last = &s.capture->add(type, std::move(action), std::move(after));
}

void Streams::record(Stream& s, Event& e) {
  e.capture = s.capture;
  e.capture_id = s.capture_id;
  e.node = s.last;
  if (s.capture != nullptr) return;
  e.recorded = true;
  e.seconds = now;
}

void Streams::wait(Stream& s, Event& e) {
  if (e.capture == nullptr) return;  // the recorded work has run
  require(s.capture == nullptr || s.capture == e.capture, CudaError::capture_unmatched);
  if (s.capture == nullptr) {
    s.capture = e.capture;
    s.capture_id = e.capture_id;
    s.last = e.node;
    return;
  }
  // An empty node joins two branches: it runs after both.
  std::vector<GraphNode*> after;
  for (GraphNode* n : {s.last, e.node}) {
    if (n != nullptr) after.push_back(n);
  }
  s.last = &s.capture->add(GraphNodeType::empty, {}, std::move(after));
}

void Streams::begin_capture(Stream& s) {
  require(s.capture == nullptr, CudaError::illegal_state);
  require(&s != default_.get(), CudaError::capture_unsupported);
  s.capture = &graphs.make(std::make_unique<Graph>());
  s.capture_id = next_capture_++;
  s.origin = true;
  s.last = nullptr;
}

Graph& Streams::end_capture(Stream& s) {
  require(s.capture != nullptr, CudaError::illegal_state);
  require(s.origin, CudaError::capture_unmatched);
  Graph& g = *s.capture;
  const auto leave = [&](Stream& other) {
    if (other.capture != &g) return;
    other.capture = nullptr;
    other.last = nullptr;
    other.origin = false;
  };
  streams_.for_each(leave);
  leave(*default_);
  events.for_each([&](Event& e) {
    if (e.capture == &g) e.capture = nullptr;
  });
  return g;
}

void Streams::refuse_while_capturing() const {
  streams_.for_each([](const Stream& s) { require(s.capture == nullptr, CudaError::capture_unsupported); });
}

}  // namespace drywell::cudart
