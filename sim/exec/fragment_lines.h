// The lines of memory that a wmma load or store moves: rows of a row-major matrix, columns of a column-major one.
#pragma once

#include <cstdint>

#include "sim/state/warp.h"

namespace drywell::sim {

struct FragmentLines {
  uint64_t address = 0, stride = 0;  // of the first line; bytes from one to the next
  uint32_t count = 0, bytes = 0;     // at most 32; of each
};
FragmentLines fragment_lines(const Warp& w, const DecodedOp& op);

}  // namespace drywell::sim
