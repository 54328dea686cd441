// Positions of a stepped launch at which the hazard checker (docs/hazards.md) reports a hazard. The checker's state is not part
// of the machine's state: the checker observes the launch once from its beginning, and the positions are kept.
#pragma once

#include <functional>
#include <vector>

#include "drywell/sim/check.h"
#include "sim/debug/session.h"

namespace drywell::sim {

class HazardMap {
 public:
  struct Entry {
    uint64_t position = 0;  // after the step that caused the report
    Finding finding;
    /// Without the end of its last line.
    std::string to_string() const;
  };

  explicit HazardMap(Session& s) : session_(s) {}

  /// Finds all hazards up to the first one after `position`, or up to the end. Returns false if `interrupted` ended the search.
  /// The session keeps its position.
  bool cover(uint64_t position, const std::function<bool()>& interrupted);
  /// In order of position, without notes.
  const std::vector<Entry>& known() const { return known_; }
  /// The first hazard reported by the step that ends at `position`, or nullptr.
  const Entry* at(uint64_t position) const;

 private:
  Session& session_;
  uint64_t generation_ = 0;
  bool complete_ = false;  // known_ has all hazards up to the end of the launch
  std::vector<Entry> known_;
};

}  // namespace drywell::sim
