// One bit field of an architectural word with its meaning; explain() of a descriptor returns a list of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drywell::isa {

/// Field in bits `high`..`low`, its raw value and the meaning of that value.
struct FieldNote {
  unsigned high = 0, low = 0;  // bits, both included
  std::string_view name;       // of the field
  uint64_t raw = 0;            // the field's bits as a number
  std::string meaning;         // "byte address 0x400"
};

/// Returns "13..0 start address 0x40 byte address 0x400", one aligned line per field.
std::vector<std::string> to_lines(const std::vector<FieldNote>& notes);

}  // namespace drywell::isa
