// The wait-for graph of a deadlock as a picture: SVG, or DOT for Graphviz.
#pragma once

#include <string>

#include "drywell/sim/check.h"

namespace drywell::sim {

/// The graph as DOT.
std::string hang_dot(const WaitGraph& g);
/// The graph as SVG: blocked warps on the left, barriers in the middle, warps that have exited on the right.
std::string hang_svg(const WaitGraph& g);

}  // namespace drywell::sim
