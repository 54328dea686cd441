// The wait-for graph of a deadlock as a picture: SVG, or DOT for Graphviz.
#pragma once

#include <string>

#include "drywell/sim/check.h"

namespace drywell::tools {

std::string hang_dot(const sim::WaitGraph& g);
/// Blocked warps on the left, barriers in the middle, warps that have exited on the right.
std::string hang_svg(const sim::WaitGraph& g);

}  // namespace drywell::tools
