// Asynchronous operations between their issue and their signal.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "sim/check/access.h"

namespace drywell::sim::check {

struct Flight {
  std::vector<AccessId> landings;  // writes of each CTA, in the order their mbarriers are signalled
  AccessId source = 0;             // its read operands, if an mbarrier also signals that they were read
  AccessId map = 0;                // its read of a tensor map in global memory; ends with its last landing
  size_t signalled = 0;
  bool commit = false;
  bool arrives = false;  // an arrival on a peer's mbarrier
  Message message;       // released by its arrival
  Access who;

  void reset() {
    landings.clear();
    message.clear();
    source = map = 0;
    signalled = 0;
    commit = arrives = false;
  }
};

/// Flights by number. Few exist at a time; the number of a finished one is used again.
class Flights {
 public:
  Flight& open(uint64_t id) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(all_.size()));
      all_.emplace_back();
    }
    open_.emplace_back(id, free_.back());
    free_.pop_back();
    Flight& f = all_[open_.back().second];
    f.reset();
    return f;
  }
  Flight* find(uint64_t id) {
    for (const auto& [number, at] : open_)
      if (number == id) return &all_[at];
    return nullptr;
  }
  void close(uint64_t id) {
    for (auto& o : open_) {
      if (o.first != id) continue;
      free_.push_back(o.second);
      o = open_.back();
      return open_.pop_back();
    }
  }
  void clear() { *this = {}; }

 private:
  std::deque<Flight> all_;  // a deque: its elements do not move
  std::vector<uint32_t> free_;
  std::vector<std::pair<uint64_t, uint32_t>> open_;
};

}  // namespace drywell::sim::check
