// What a cp.async of 16 bytes a lane asks of the L2. The sectors of a line come with one request if their bytes go to shared memory in the same
// place of a row, whole or swizzled; others are asked for by themselves. A sector whose halves go to different sectors of shared memory is asked for
// twice: rows 80 or 144 bytes apart make a copy 1.5 to 2 times as long (tiles_* of tests/corpus/timing/mechanisms/copies.toml,
// traces/hw/h200-2026-11-27-crossings.csv).
#pragma once

#include "sim/state/async_op.h"

namespace drywell::sim {

/// Bytes whose time the copy's requests take at the L2 beside one request a line.
double more_of_requests(const AsyncCopy& copy);

}  // namespace drywell::sim
