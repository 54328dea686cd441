// Traces with cycles as pieces of time, for pictures and timelines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/trace_reader.h"

namespace drywell::sim {

/// Throws InputError E4202 for a trace without cycles.
Trace read_timed(std::string_view text, const std::string& name);

/// The n-th word, from 0.
std::string_view word(std::string_view text, size_t n);

/// Parts of an owner's name such as "cta=0.0.0 w=1 q=tma:5".
struct OwnerName {
  std::string launch = "1", cta, warp, unit;
  explicit OwnerName(std::string_view name);
};

struct Piece {
  std::string name, source;
  uint64_t from = 0, to = 0;  // [from, to)
};

/// An owner's pieces: an instruction takes one cycle, a stall its recorded length, an operation the time from its first to its
/// last record.
std::vector<Piece> pieces_of(const Trace& t, const TraceOwner& o);

}  // namespace drywell::sim
