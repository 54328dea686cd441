// Who wrote a value, and from what: the last step that wrote a place, equal values included, and where it took it from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/debug/debugger.h"
#include "sim/engine/footprint.h"

namespace drywell::sim {

/// A place of a launch: what stops.h can watch.
using Place = StopWhat;

/// Where a written value came from.
struct Origin {
  std::string what;         // "A row 5", "its value before"
  Place place;              // first bytes or cells
  std::string where;        // all of them, in words
};

struct Provenance {
  uint64_t position = 0;       // right after the write
  uint64_t read_position = 0;  // right after the operands were read: what the origins then held counts
  StepRecord step;
  std::string detail;          // "D[5, 3]", "lane 7 stored 4 bytes"; may be empty
  std::vector<Origin> origins;
  bool accumulates = false;    // it added to what was there
};

/// The last write of `place` in steps up to `position`; the session stays where it is.
std::optional<Provenance> find_write(Debugger& d, const Place& place, uint64_t position);

/// "SMEM 0x400..0x40f", "TMEM lane 5 column 3", "x+0x40"; CTAs are named if not `own`.
std::string describe_place(const Session& s, const Place& p, const WarpRef& own);

/// Where the bytes or cells of `place` come from, if `op` writes them. `op` is as it was when it wrote.
std::vector<Origin> origins_of(const Session& s, const Cluster& c, const AsyncOp& op, const Place& place, std::string& detail);

}  // namespace drywell::sim
