// Asynchronous operations between their issue and their signal.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "sim/check/access.h"

namespace drywell::sim::check {

struct Flight {
  std::vector<AccessId> landings;  // writes of each CTA, in the order their mbarriers are signalled
  AccessId source = 0;             // what it reads, if an mbarrier tells that too
  size_t signalled = 0;
  bool commit = false;
  Message message;                 // what its arrival releases
  Access who;

  void reset() {
    landings.clear();
    message.clear();
    source = 0;
    signalled = 0;
    commit = false;
  }
};

/// By number. Few at a time; what one took up the next one uses again.
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
    for (const auto& [number, at] : open_) if (number == id) return &all_[at];
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
  std::deque<Flight> all_;  // do not move
  std::vector<uint32_t> free_;
  std::vector<std::pair<uint64_t, uint32_t>> open_;
};

}  // namespace drywell::sim::check
