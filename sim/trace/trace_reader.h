// Trace text cut into its owners' records (format: traces/README.md). What is returned points into the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "drywell/sim/trace.h"

namespace drywell::sim {

/// The next word of `rest`, which loses it; empty at the end.
std::string_view next_token(std::string_view& rest);
/// The decimal number after a token's first `prefix` characters.
uint64_t number_after(std::string_view token, size_t prefix);
/// What follows `name=` in a record; empty if it is not there.
std::string_view field_of(std::string_view record, std::string_view name);

struct TraceRecord {
  std::string_view text;  // from the kind letter on
  uint64_t cycle = 0;
  uint32_t line = 0;  // in the file, from 1
};

struct TraceOwner {
  std::string name;
  std::vector<TraceRecord> records;
};

/// A trace cut into owners, in the order they appear.
struct Trace {
  TraceHeader header;
  std::vector<TraceOwner> owners;
  std::unordered_map<std::string, size_t> index;
  std::unordered_map<std::string, std::string_view> code;   // per launch and pc ("1:17"): "file:line instruction"
  std::unordered_map<std::string, TraceRecord> issuers;     // per operation: the instruction that issued it
  // Mbarrier events by their line: the operation whose write made them, or the instruction.
  std::unordered_map<uint32_t, std::string> by_operation;
  std::unordered_map<uint32_t, TraceRecord> by_instruction;
  uint64_t records = 0;

  const TraceOwner* find(const std::string& name) const;
  /// "mov.u32 … at kernels/tma_copy/kernel.cpp:61" of an instruction record of `owner` or of its warp; empty for other records.
  std::string source_of(const TraceOwner& owner, const TraceRecord& r) const;
  /// The same for any record: what an operation was issued by, what made an mbarrier event.
  std::string explain(const TraceOwner& owner, const TraceRecord& r) const;
};

/// Throws InputError E4202, naming `name`, if `text` is no trace.
Trace read_trace_text(std::string_view text, const std::string& name);

}  // namespace drywell::sim
