// Traces in other formats: timelines for Perfetto (ui.perfetto.dev, chrome://tracing), CSV, pictures.
#pragma once

#include <string>
#include <string_view>

#include "drywell/isa/inspect/scale_picture.h"
#include "drywell/isa/layout/picture.h"

namespace drywell::sim {

/// One row per record: owner, cycle, kind, text, source. Any profile.
std::string trace_to_csv(std::string_view trace, const std::string& name);

/// Chrome's trace-event JSON, one cycle per microsecond: a process per CTA, a thread per warp with its instructions and stalls,
/// operations as spans of their unit. Throws InputError E4202 for a trace without cycles.
std::string trace_to_perfetto(std::string_view trace, const std::string& name);

/// What a timeline shows.
struct TimelineOptions {
  std::string cta = "0.0.0";  // the CTA
  uint64_t from = 0, to = 0;  // cycles; to == 0: the last
  size_t columns = 96;        // intervals of time
};
/// Rows are warps and their units, columns are intervals of time; each cell shows the state with the most cycles in it. Throws
/// InputError E4202 for a trace without cycles. As letters, for terminals.
layout::Grid trace_timeline(std::string_view trace, const std::string& name, const TimelineOptions& options);
/// The same to scale, in the colours of the run report; without rows if the trace has no such CTA. `options.columns` is not used.
isa::ScalePicture trace_picture(std::string_view trace, const std::string& name, const TimelineOptions& options);

}  // namespace drywell::sim
