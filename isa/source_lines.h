// .loc directives of printed text (PTX ISA 11.5.2). An inlined line names its call, whose line needs an earlier .loc; a reader
// takes the call site of that line's latest .loc (call_sites.h).
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

class SourceLines {
 public:
  explicit SourceLines(const Module& m) : module_(m) {}

  /// Prints the .loc of an instruction, after the .loc of each enclosing call whose latest printed .loc has
  /// another call site.
  void put(std::string& out, const SourceRef& at) {
    std::vector<SourceRef> untold{at};
    while (const SourceRef* call = call_of(untold.back())) {
      if (const auto reported = reported_.find(place(*call)); reported != reported_.end() && reported->second == call->call_site) break;
      untold.push_back(*call);
    }
    for (; !untold.empty(); untold.pop_back()) put_line(out, untold.back());
  }
  /// Prints the label that inlined lines refer to: ptxas requires a label for the inlined function's name,
  /// and the module does not keep these names.
  void put_names(std::string& out) const {
    if (any_call_) out += fmt::format(".section .debug_str {{ {}: .b8 0 }}\n", kName);
  }

 private:
  using Place = std::tuple<uint32_t, uint32_t, uint32_t>;
  static constexpr const char* kName = "$L__inlined";

  static Place place(const SourceRef& at) { return {at.file, at.line, at.column}; }
  const SourceRef* call_of(const SourceRef& at) const { return at.call_site == 0 ? nullptr : &module_.call_sites[at.call_site - 1]; }

  void put_line(std::string& out, const SourceRef& at) {
    fmt::format_to(std::back_inserter(out), "\t.loc\t{} {} {}", at.file, at.line, at.column);
    if (const SourceRef* call = call_of(at)) {
      fmt::format_to(std::back_inserter(out), ", function_name {}, inlined_at {} {} {}", kName, call->file, call->line, call->column);
      any_call_ = true;
    }
    out += '\n';
    reported_[place(at)] = at.call_site;
  }

  const Module& module_;
  std::map<Place, uint32_t> reported_;
  bool any_call_ = false;
};

}  // namespace drywell::isa
