#include "drywell/core/code.h"

#include <algorithm>
#include <array>
#include <ostream>

namespace drywell {
namespace {

/// The enumerators count the rows, headings left out.
constexpr CodeRow kEntries[] = {
#define CODE_SECTION(heading) {Code{}, {}, {}, {}, heading},
#define CODE(code, what, fix) {Code::code, #code, what, fix, {}},
#include "drywell/core/codes.inc"
};

constexpr size_t kCount = std::count_if(std::begin(kEntries), std::end(kEntries), [](const CodeRow& r) { return !r.name.empty(); });

/// Rows with the heading before them.
constexpr std::array<CodeRow, kCount> rows() {
  std::array<CodeRow, kCount> all{};
  std::string_view heading;
  size_t n = 0;
  for (const CodeRow& e : kEntries) {
    if (e.name.empty()) heading = e.heading;
    else all[n++] = {e.code, e.name, e.what, e.fix, heading};
  }
  return all;
}

constexpr std::array<CodeRow, kCount> kRows = rows();

}  // namespace

std::span<const CodeRow> all_codes() { return kRows; }

std::string_view code_name(Code c) { return kRows[static_cast<size_t>(c)].name; }

std::optional<Code> find_code(std::string_view name) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const CodeRow& r) { return r.name == name; });
  return row == kRows.end() ? std::nullopt : std::optional(row->code);
}

std::ostream& operator<<(std::ostream& out, Code c) { return out << code_name(c); }

}  // namespace drywell
