// The history of tensor memory as one self-contained HTML page (docs/inspect.md).
#pragma once

#include <string>
#include <vector>

#include "drywell/isa/inspect/tmem_blocks.h"
#include "drywell/sim/inspect/tmem_history.h"

namespace drywell::tools {

struct TmemPage {
  std::string title;  // "gemm-bf16 --m=256"
  std::string arch;
  std::string clock;  // "cycle" or "instruction"
  const sim::TmemHistoryData& history;
  std::string expect = {};                                  // a layout of D, or empty
  std::vector<std::vector<isa::TmemCells>> differing = {};  // for each form of the history: cells, relative to its address, with other elements
};

std::string tmem_page(const TmemPage& p);

}  // namespace drywell::tools
