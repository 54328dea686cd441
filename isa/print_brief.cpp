#include "drywell/isa/print.h"

namespace drywell::isa {

namespace {

/// `{a, b, c, d, e}` as `{a, b, ..., e}`.
std::string first_and_last(std::string_view vector) {
  const size_t second = vector.find(", ") + 2;
  return std::string(vector.substr(0, vector.find(", ", second) + 2)) + "..., " + std::string(vector.substr(vector.rfind(", ") + 2));
}

}  // namespace

std::string print_instruction_briefly(const Function& f, const Instruction& i) {
  constexpr size_t kWhole = 90;  // characters of a vector that still read well in a line of a report
  std::string text = print_instruction(f, i);
  for (size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
    const size_t close = text.find('}', open);
    if (close == std::string::npos) break;
    if (close - open < kWhole) continue;
    text.replace(open, close + 1 - open, first_and_last(std::string_view(text).substr(open, close + 1 - open)));
  }
  return text;
}

}  // namespace drywell::isa
