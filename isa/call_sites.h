// Call sites of .loc directives with `inlined_at` (PTX ISA 11.5.2): each such directive names one call. If the line of that call
// was itself inlined, an earlier .loc names that line.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

class CallSites {
 public:
  /// Returns the SourceRef of the next .loc of the text. `at` is its line, `inlined_at` is the call that it
  /// was inlined at (file 0: none).
  SourceRef line(SourceRef at, const SourceRef& inlined_at) {
    if (inlined_at.file != 0) at.call_site = site(inlined_at);
    latest_[place(at)] = at.call_site;
    return at;
  }
  const std::vector<SourceRef>& all() const { return sites_; }

 private:
  using Place = std::tuple<uint32_t, uint32_t, uint32_t>;
  static Place place(const SourceRef& at) { return {at.file, at.line, at.column}; }

  // Returns 1 + the index of the call. The latest .loc with the call's line gives the call that contains it.
  uint32_t site(SourceRef call) {
    const auto outer = latest_.find(place(call));
    call.call_site = outer == latest_.end() ? 0 : outer->second;
    const auto [known, fresh] = numbers_.try_emplace({place(call), call.call_site}, static_cast<uint32_t>(sites_.size()) + 1);
    if (fresh) sites_.push_back(call);
    return known->second;
  }

  std::vector<SourceRef> sites_;  // a call_site refers only to earlier elements, so chains end
  std::map<std::pair<Place, uint32_t>, uint32_t> numbers_;
  std::map<Place, uint32_t> latest_;
};

}  // namespace drywell::isa
