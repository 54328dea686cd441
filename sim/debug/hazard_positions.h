// Where in a stepped launch the hazard checker (docs/hazards.md) finds something. The checker's knowledge is no part of the machine's
// state: it is told the launch from its beginning, once, and the positions are kept.
#pragma once

#include <functional>
#include <vector>

#include "drywell/sim/check.h"
#include "sim/debug/session.h"

namespace drywell::sim {

class HazardMap {
 public:
  struct Entry {
    uint64_t position = 0;  // right after the step that showed it
    Finding finding;
    /// Without the end of its last line.
    std::string to_string() const;
  };

  explicit HazardMap(Session& s) : session_(s) {}

  /// Finds every hazard up to the first after `position`, or up to the end. False if `interrupted` ended it; the session is left
  /// where it was.
  bool cover(uint64_t position, const std::function<bool()>& interrupted);
  /// By position; notes are left out.
  const std::vector<Entry>& known() const { return known_; }
  /// The first found by the step that led to `position`.
  const Entry* at(uint64_t position) const;

 private:
  Session& session_;
  uint64_t generation_ = 0;
  bool complete_ = false;  // the end among them
  std::vector<Entry> known_;
};

}  // namespace drywell::sim
