// Splits trace text into its owners' records (format: traces/README.md). The results point into the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "drywell/sim/trace.h"

namespace drywell::sim {

/// Removes the next word from `rest` and returns it; empty at the end.
std::string_view next_token(std::string_view& rest);
/// The decimal number after a token's first `prefix` characters.
uint64_t number_after(std::string_view token, size_t prefix);
/// The text after `name=` in a record; empty if the record lacks the field.
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

/// A trace by owner, in the order of their first records.
struct Trace {
  TraceHeader header;
  std::vector<TraceOwner> owners;
  std::unordered_map<std::string, size_t> index;
  std::unordered_map<std::string, std::string_view> code;   // per launch and pc ("1:17"): "file:line instruction"
  std::unordered_map<std::string, std::string_view> roles;  // per launch and warp ("1:4"): the name that the author gave it
  std::unordered_map<std::string, TraceRecord> issuers;     // per operation: the instruction that issued it
  // Causes of mbarrier events by line: the operation whose write caused them, or the instruction.
  std::unordered_map<uint32_t, std::string> by_operation;
  std::unordered_map<uint32_t, TraceRecord> by_instruction;
  uint64_t records = 0;

  const TraceOwner* find(const std::string& name) const;
  /// "mov.u32 … at kernels/tma_copy/kernel.cpp:61" of an instruction record of `owner` or of its warp; empty for other records.
  std::string source_of(const TraceOwner& owner, const TraceRecord& r) const;
  /// The same for any record: the instruction that issued an operation, the cause of an mbarrier event.
  std::string explain(const TraceOwner& owner, const TraceRecord& r) const;
};

/// Throws InputError E4202, which names `name`, if `text` is not a trace.
Trace read_trace_text(std::string_view text, const std::string& name);

}  // namespace drywell::sim
