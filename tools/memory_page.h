// What the pages of tensor and of shared memory share (docs/inspect.md): one self-contained page, whose script draws a grid of cells of 32
// bits over time.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/isa/inspect/tmem_blocks.h"

namespace drywell::tools {

/// The page around the data: the text before and after it. The script between has two parts: the model, which
/// needs no browser (a test runs it), and the view.
extern const char* const kMemoryPageHead;
extern const char* const kMemoryPageTail;

/// The run that a page shows.
struct PageRun {
  std::string title;  // "gemm-bf16 --m=256"
  std::string arch;
  std::string clock;  // "cycle" or "instruction"
};

std::string base64(const std::vector<uint32_t>& words);
nlohmann::json blocks_json(const std::vector<isa::TmemBlock>& blocks);
nlohmann::json cells_json(const std::vector<isa::TmemCells>& cells);

/// What the pages of both memories have: the run, its CTAs, warps and instructions; no forms, steps, values and barriers yet.
template <class History>
nlohmann::json page_data(const PageRun& run, const History& h, nlohmann::json grid) {
  nlohmann::json j = {{"title", run.title}, {"arch", run.arch}, {"clock", run.clock}, {"version", DRYWELL_VERSION}, {"from", h.from}, {"to", h.to}, {"first", h.first_rank}, {"warps", h.warps}, {"roles", h.roles}, {"places", h.places}, {"truncated", h.truncated}, {"dropped", h.values_dropped}, {"grid", std::move(grid)}};
  for (uint32_t r = 0; r < h.ranks; ++r) {
    const Dim3 c = h.ctas[h.first_rank + r];
    j["ctas"].push_back(fmt::format("{}, {}, {}", c.x, c.y, c.z));
  }
  j["forms"] = j["held"] = j["steps"] = j["values"] = j["barriers"] = nlohmann::json::array();
  return j;
}

}  // namespace drywell::tools
