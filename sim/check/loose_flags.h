// Flags between clusters that order nothing: what a race in global memory may come from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "sim/state/program.h"

namespace drywell::sim::check {

/// Strong stores to global memory that release nothing to another cluster, which has read the place; and loads of such places that acquire
/// nothing. One host thread runs launches that have them.
class LooseFlags {
 public:
  /// `reaches`: its scope includes other clusters. `releases`: by itself, or by a fence before it.
  void stored(uint64_t place, uint64_t cluster, uint32_t pc, bool reaches, bool releases) { last_[place] = {cluster, pc, reaches, reaches && releases}; }
  void loaded(uint64_t place, uint64_t cluster, uint32_t pc, bool reaches, bool acquires);
  /// "'red.relaxed…' (PLACE) stores a flag that other CTAs read, and releases nothing to them"; empty: there is none.
  std::string text(const Program& p) const;

 private:
  struct Store {
    uint64_t cluster = 0;
    uint32_t pc = 0;
    bool reaches = false, releases = false;
  };
  using Reaches = std::map<uint32_t, bool>;   // by pc
  std::unordered_map<uint64_t, Store> last_;  // by place
  Reaches stores_, loads_;
};

}  // namespace drywell::sim::check
