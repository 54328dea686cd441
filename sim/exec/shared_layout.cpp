#include "sim/exec/shared_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/error.h"
#include "drywell/core/sizes.h"
#include "sim/state/cta.h"

namespace drywell::sim {
namespace {

/// Addresses in shared memory have 24 bits below the CTA's rank (docs/facts/tma-mbarrier.md §5).
constexpr uint64_t kAddressable = uint64_t{1} << 24;

uint32_t checked_offset(uint64_t end) {
  if (end > kAddressable)
    throw InputError(Code::E4124,
                     fmt::format("{} bytes of shared variables per CTA; shared memory has addresses for {}",
                                 end - kSmemReserved, kAddressable - kSmemReserved),
                     "fewer pipeline stages");
  return static_cast<uint32_t>(end);
}

bool is_dynamic(const isa::Variable& v) { return v.elements == 0; }

std::vector<bool> named_variables(const isa::Module& m, const std::vector<FunctionCode>& functions) {
  std::vector<bool> named(m.variables.size(), false);
  for (const FunctionCode& c : functions) {
    for (const isa::SymbolRef& s : c.function->symbols) {
      if (s.kind == isa::SymbolRef::Kind::variable) named[s.index] = true;
    }
  }
  return named;
}

}  // namespace

SharedLayout lay_out_shared(const isa::Module& m, const std::vector<FunctionCode>& functions) {
  SharedLayout out;
  std::vector<SharedVariable> dynamic;
  SizeCursor at(kSmemReserved);
  const auto add = [&](const isa::Variable& v, uint32_t function, uint32_t index) {
    if (v.space != isa::Mod::shared) return;
    if (is_dynamic(v)) {
      out.dynamic_align = std::max(out.dynamic_align, v.align);
      dynamic.push_back({&v, function, index, 0, true});
      return;
    }
    out.variables.push_back({&v, function, index, checked_offset(at.place(v.bytes(), v.align)), false});
  };
  const std::vector<bool> named = named_variables(m, functions);
  for (uint32_t i = 0; i < m.variables.size(); ++i) {
    if (named[i] || is_dynamic(m.variables[i])) add(m.variables[i], SharedVariable::kModule, i);
  }
  for (uint32_t k = 0; k < functions.size(); ++k) {
    const auto& variables = functions[k].function->variables;
    for (uint32_t i = 0; i < variables.size(); ++i) add(variables[i], k, i);
  }
  if (!dynamic.empty()) at.align_to(std::max(16u, out.dynamic_align));
  const uint32_t end = checked_offset(at.end());
  for (SharedVariable& v : dynamic) {
    v.offset = end;
    out.variables.push_back(v);
  }
  out.static_bytes = end - kSmemReserved;
  return out;
}

}  // namespace drywell::sim
