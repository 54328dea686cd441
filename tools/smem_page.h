// The history of shared memory as one self-contained HTML page (docs/inspect.md).
#pragma once

#include <string>

#include "drywell/sim/inspect/smem_history.h"
#include "tools/memory_page.h"

namespace drywell::tools {

std::string smem_page(const PageRun& run, const sim::SmemHistoryData& history);

}  // namespace drywell::tools
