// The history of tensor memory as one self-contained HTML page (docs/inspect.md).
#pragma once

#include <string>

#include "drywell/sim/inspect/tmem_history.h"

namespace drywell::tools {

struct TmemPage {
  std::string title;  // "gemm-bf16 --m=256"
  std::string arch;
  std::string clock;  // "cycle" or "instruction"
  const sim::TmemHistoryData& history;
};

std::string tmem_page(const TmemPage& p);

}  // namespace drywell::tools
