// Rows that a short name of an instruction may stand for: "ldmatrix.x4", "wgmma.m64n64k16.f32.bf16".
#pragma once

#include <algorithm>
#include <string_view>

#include "drywell/isa/spec.h"

namespace drywell::sim {

/// The text before the first dot.
inline std::string_view first_word(std::string_view name) { return name.substr(0, name.find('.')); }

/// Whether some row begins with the name's first word and meets the condition.
template <class Condition>
bool some_row(std::string_view name, Condition meets) {
  const auto all = isa::all_specs();
  return std::any_of(all.begin(), all.end(), [&](const isa::InstrSpec& row) { return first_word(row.mnemonic) == first_word(name) && meets(row); });
}

}  // namespace drywell::sim
