// The history of shared memory as one self-contained HTML page (docs/inspect.md).
#pragma once

#include <string>
#include <vector>

#include "drywell/isa/inspect/tmem_blocks.h"
#include "drywell/sim/inspect/smem_history.h"
#include "tools/memory_page.h"

namespace drywell::tools {

/// A layout that the user expects.
struct SmemExpectation {
  std::string layout;                                  // empty: none
  std::vector<std::vector<isa::TmemCells>> differing;  // for each form of the history: words with other elements
};

std::string smem_page(const PageRun& run, const sim::SmemHistoryData& history, const SmemExpectation& expect);

}  // namespace drywell::tools
