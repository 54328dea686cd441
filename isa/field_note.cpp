#include "drywell/isa/field_note.h"

#include <algorithm>

#include "fmt/format.h"

namespace drywell::isa {

std::vector<std::string> to_lines(const std::vector<FieldNote>& notes) {
  size_t name_width = 0;
  for (const FieldNote& n : notes) {
    name_width = std::max(name_width, n.name.size());
  }
  std::vector<std::string> lines;
  lines.reserve(notes.size());
  for (const FieldNote& n : notes) {
    const std::string bits =
        n.high == n.low ? fmt::format("{}", n.low) : fmt::format("{}..{}", n.high, n.low);
    lines.push_back(fmt::format("{:>7}  {:<{}}  {:#6x}  {}", bits, n.name, name_width, n.raw, n.meaning));
  }
  return lines;
}

}  // namespace drywell::isa
