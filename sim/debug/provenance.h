// The last step that wrote a place (also if the value was equal), and the sources of the value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/debug/debugger.h"
#include "sim/engine/footprint.h"

namespace drywell::sim {

/// A place of a launch, of the kinds that stops.h can watch.
using Place = StopWhat;

/// One source of a written value.
struct Origin {
  std::string what;   // "A row 5", "its value before"
  Place place;        // first bytes or cells
  std::string where;  // all bytes or cells, in words
};

struct Provenance {
  uint64_t position = 0;       // after the write
  uint64_t read_position = 0;  // after the operand read: the values of the origins at this position were used
  StepRecord step;
  std::string detail;  // "D[5, 3]", "lane 7 stored 4 bytes"; may be empty
  std::vector<Origin> origins;
  bool accumulates = false;  // the write added to the old value
};

/// The last write of `place` in steps up to `position`. The session keeps its position.
std::optional<Provenance> find_write(Debugger& d, const Place& place, uint64_t position);

/// "SMEM 0x400..0x40f", "TMEM lane 5 column 3", "GMEM x+0x40"; names the CTA if it is not `own`.
std::string describe_place(const Session& s, const Place& p, const WarpRef& own);

/// Sources of the bytes or cells of `place` if `op` writes them. `op` has the state of its write moment.
std::vector<Origin> origins_of(const Session& s, const Cluster& c, const AsyncOp& op, const Place& place, std::string& detail);

}  // namespace drywell::sim
