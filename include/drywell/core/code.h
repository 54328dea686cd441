// The codes of everything that goes wrong, one enumerator each: what they mean stands in codes.inc and docs/errors.md.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

namespace drywell {

/// E1xxx instruction set, E2xxx configuration and kernels, E4xxx files, memory, launches and command line, U5xxx unsupported,
/// F3xxx guest faults, X9xxx bugs. Hazards (H7xxx) are Findings (drywell/sim/check.h).
enum class Code : uint16_t {
#define CODE_SECTION(heading)
#define CODE(code, what, fix) code,
#include "drywell/core/codes.inc"
};

/// A row of the table.
struct CodeRow {
  Code code;                 // the enumerator
  std::string_view name;     // "E4305"
  std::string_view what;     // what is wrong, in a line
  std::string_view fix;      // where that is always the same; may be empty
  std::string_view heading;  // of docs/errors.md that it stands under
};
/// Every code, in the order of the table.
std::span<const CodeRow> all_codes();
/// "E4305"
std::string_view code_name(Code c);
/// E, F, U or X.
inline char code_kind(Code c) { return code_name(c).front(); }
/// The code of that name.
std::optional<Code> find_code(std::string_view name);
/// Writes the name.
std::ostream& operator<<(std::ostream& out, Code c);

}  // namespace drywell
