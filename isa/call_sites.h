// The `inlined_at` of .loc directives (PTX ISA 11.5.2): each names one call, and the line of that call, if it was inlined itself,
// has a .loc of its own before it.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

class CallSites {
 public:
  /// The next .loc of the text: its line, and the call that it was inlined for (file 0: none).
  SourceRef line(SourceRef at, const SourceRef& inlined_at) {
    if (inlined_at.file != 0) at.call_site = site(inlined_at);
    latest_[place(at)] = at.call_site;
    return at;
  }
  const std::vector<SourceRef>& all() const { return sites_; }

 private:
  using Place = std::tuple<uint32_t, uint32_t, uint32_t>;
  static Place place(const SourceRef& at) { return {at.file, at.line, at.column}; }

  // 1 + index of the call. What it was inlined for is what the latest .loc with its line said.
  uint32_t site(SourceRef call) {
    const auto outer = latest_.find(place(call));
    call.call_site = outer == latest_.end() ? 0 : outer->second;
    const auto [known, fresh] = numbers_.try_emplace({place(call), call.call_site}, static_cast<uint32_t>(sites_.size()) + 1);
    if (fresh) sites_.push_back(call);
    return known->second;
  }

  std::vector<SourceRef> sites_;  // each leads only to earlier ones: chains end
  std::map<std::pair<Place, uint32_t>, uint32_t> numbers_;
  std::map<Place, uint32_t> latest_;
};

}  // namespace drywell::isa
