// Events at known cycles, earliest first; equal cycles in the order of push().
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "sim/timing/server.h"

namespace drywell::sim {

struct Event {
  enum class Kind : uint8_t {
    start,  // of a cluster
    read,   // moments of an asynchronous operation
    write,
    finish,
    tma_start,  // the copy engine starts a copy
    tma_data,   // memory has answered a copy's request
    load_data,  // memory has answered a warp's load
    wake,
    time_out  // of a suspended wait
  };
  Time time;
  uint64_t order;
  Kind kind;
  uint32_t a;  // resident, warp or request
  uint64_t b;  // operation or serial
  bool operator>(const Event& o) const { return time != o.time ? time > o.time : order > o.order; }
};

class EventQueue {
 public:
  void push(Time t, Event::Kind kind, uint32_t a, uint64_t b = 0) {
    if (kind == Event::Kind::time_out) ++time_outs_;
    heap_.push_back({t, pushed_++, kind, a, b});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Event e = heap_.back();
    heap_.pop_back();
    if (e.kind == Event::Kind::time_out) --time_outs_;
    return e;
  }
  const Event& next() const { return heap_.front(); }
  /// kNever: the queue is empty.
  Time next_time() const { return heap_.empty() ? kNever : heap_.front().time; }
  /// Whether all events in the queue are time-outs of waits.
  bool only_time_outs() const { return heap_.size() == time_outs_; }

 private:
  std::vector<Event> heap_;
  uint64_t pushed_ = 0;
  size_t time_outs_ = 0;
};

}  // namespace drywell::sim
