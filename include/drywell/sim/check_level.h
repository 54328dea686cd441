// How much a HazardChecker follows, and what it knows about a deadlock (docs/hazards.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace drywell::sim {

class HazardChecker;

/// basic: everything but the bytes of shared and global memory, at little cost. full: those, too.
enum class CheckLevel : uint8_t { basic, full };

/// Before the first launch; a new checker is at the full level.
void set_level(HazardChecker& checker, CheckLevel level);

/// Who waits for whom in a deadlock: blocked warps, the barriers they wait on, and the warps that should have come.
struct WaitGraph {
  struct Node {
    enum class Kind : uint8_t { blocked, barrier, other } kind = Kind::blocked;
    std::vector<std::string> lines;  // the first is its name
  };
  struct Edge {
    size_t from = 0, to = 0;         // indices of nodes
    std::string label;
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

/// Of the last deadlock `checker` was told of; without nodes if there was none.
WaitGraph wait_graph(HazardChecker& checker);

}  // namespace drywell::sim
