// One explained bit field of an architectural word: what descriptors print about themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drywell::isa {

/// Field in bits `high`..`low` with its raw value and what that value means.
struct FieldNote {
  unsigned high = 0, low = 0;
  std::string_view name;
  uint64_t raw = 0;
  std::string meaning;
};

/// "13..0  start address  0x40  byte address 0x400", one aligned line per field.
std::vector<std::string> to_lines(const std::vector<FieldNote>& notes);

}  // namespace drywell::isa
