#include "sim/debug/hazard_positions.h"

#include <algorithm>

#include "drywell/sim/driver_words.h"

namespace drywell::sim {

std::string HazardMap::Entry::to_string() const {
  std::string text = finding.to_string();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

bool HazardMap::cover(uint64_t position, const std::function<bool()>& interrupted) {
  if (generation_ != session_.generation()) {
    known_.clear();
    complete_ = false;
    generation_ = session_.generation();
  }
  const auto enough = [&] { return complete_ || (!known_.empty() && known_.back().position > position); };
  if (enough()) return true;
  if (parts_lanes(session_.options())) return complete_ = true;
  const uint64_t here = session_.position();
  HazardChecker checker;
  size_t reported = 0;
  bool go_on = true;
  known_.clear();
  session_.begin_with(*checker.listener());
  while (!enough() && go_on) {
    complete_ = !session_.step() || session_.over();
    for (; reported < checker.count(); ++reported) {
      Finding f = checker.finding(reported);
      if (f.level != HazardLevel::note) known_.push_back({session_.position(), std::move(f)});
    }
    go_on = session_.position() % 4096 != 0 || !interrupted || !interrupted();
  }
  session_.detach(*checker.listener());
  session_.seek(here);
  return go_on;
}

const HazardMap::Entry* HazardMap::at(uint64_t position) const {
  if (generation_ != session_.generation()) return nullptr;
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Entry& e) { return e.position == position; });
  return found == known_.end() ? nullptr : &*found;
}

}  // namespace drywell::sim
