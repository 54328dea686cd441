#include "sim/exec/shared_layout.h"

#include <algorithm>

#include "drywell/core/bits.h"
#include "sim/state/cta.h"

namespace drywell::sim {
namespace {

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
  uint32_t at = kSmemReserved;
  const auto add = [&](const isa::Variable& v, uint32_t function, uint32_t index) {
    if (v.space != isa::Mod::shared) return;
    if (is_dynamic(v)) {
      out.dynamic_align = std::max(out.dynamic_align, v.align);
      dynamic.push_back({&v, function, index, 0, true});
      return;
    }
    at = static_cast<uint32_t>(round_up(at, std::max(1u, v.align)));
    out.variables.push_back({&v, function, index, at, false});
    at += static_cast<uint32_t>(v.bytes());
  };
  const std::vector<bool> named = named_variables(m, functions);
  for (uint32_t i = 0; i < m.variables.size(); ++i) {
    if (named[i] || is_dynamic(m.variables[i])) add(m.variables[i], SharedVariable::kModule, i);
  }
  for (uint32_t k = 0; k < functions.size(); ++k) {
    const auto& variables = functions[k].function->variables;
    for (uint32_t i = 0; i < variables.size(); ++i) add(variables[i], k, i);
  }
  if (!dynamic.empty()) at = static_cast<uint32_t>(round_up(at, std::max(16u, out.dynamic_align)));
  for (SharedVariable& v : dynamic) {
    v.offset = at;
    out.variables.push_back(v);
  }
  out.static_bytes = at - kSmemReserved;
  return out;
}

}  // namespace drywell::sim
