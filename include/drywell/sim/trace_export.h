// Traces for other programs and for the eye: timelines for Perfetto (ui.perfetto.dev, chrome://tracing), CSV, pictures.
#pragma once

#include <string>
#include <string_view>

#include "drywell/isa/layout/picture.h"

namespace drywell::sim {

/// One row per record: owner, cycle, kind, text, source. Any profile.
std::string trace_to_csv(std::string_view trace, const std::string& name);

/// Chrome's trace-event JSON, a cycle to the microsecond: a process per CTA, a thread per warp with its instructions and stalls,
/// operations as spans of their unit. Throws InputError E4202 for a trace without cycles.
std::string trace_to_perfetto(std::string_view trace, const std::string& name);

struct TimelineOptions {
  std::string cta = "0.0.0";
  uint64_t from = 0, to = 0;  // cycles; to == 0: the last
  size_t columns = 96;
};
/// Warps and their units down, time across; each cell is what filled most of its cycles. Throws as above.
layout::Grid trace_timeline(std::string_view trace, const std::string& name, const TimelineOptions& options);

}  // namespace drywell::sim
