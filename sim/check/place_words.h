// Names of places in deadlock reports: in words (hang.cpp) and in graphs (wait_graph.cpp).
#pragma once

#include <fmt/format.h>

#include <string>

#include "drywell/core/source_path.h"
#include "drywell/sim/fault.h"
#include "sim/state/cta.h"

namespace drywell::sim::check {

inline std::string warp_name(const Cluster& c, uint32_t cta, uint32_t warp) {
  return c.ctas.size() == 1 ? fmt::format("warp {}", warp) : fmt::format("warp {} of CTA rank {}", warp, cta);
}

/// " (ptx.cuh:34, inlined at tma_copy.cu:20)": follows an instruction; empty if its source is unknown.
inline std::string source_of(const GuestPlace& p) {
  if (p.source.file.empty()) return "";
  const auto line = [](const SourcePos& s) { return fmt::format("{}:{}", base_name(s.file), s.line); };
  return fmt::format(" ({}{})", line(p.source), p.called_from.empty() ? "" : ", inlined at " + line(p.called_from.back()));
}

}  // namespace drywell::sim::check
