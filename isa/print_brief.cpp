#include "drywell/isa/print.h"

namespace drywell::isa {

namespace {

/// `{a, b, c, d, e}` as `{a, b, ..., e}`; vectors of up to three stay.
std::string ends_of(std::string_view vector) {
  constexpr std::string_view kComma = ", ";
  const size_t second = vector.find(kComma, vector.find(kComma) + 1), last = vector.rfind(kComma);
  if (last <= second) return std::string(vector);
  return std::string(vector.substr(0, second)) + ", ..." + std::string(vector.substr(last));
}

}  // namespace

std::string print_instruction_briefly(const Function& f, const Instruction& i) {
  constexpr size_t kWhole = 90;  // characters of a vector that are printed in full
  std::string text = print_instruction(f, i);
  for (size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
    const size_t close = text.find('}', open);
    if (close == std::string::npos) break;
    if (close - open < kWhole) continue;
    text.replace(open, close + 1 - open, ends_of(std::string_view(text).substr(open, close + 1 - open)));
  }
  return text;
}

}  // namespace drywell::isa
