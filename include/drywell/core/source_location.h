// Where a call stands in the source: std::source_location, or the same where the standard library has none for the compiler
// (clang before 16 with libstdc++).
#pragma once

#include <version>

#ifdef __cpp_lib_source_location
#include <source_location>

namespace drywell {
/// File, line and column of a call.
using SourceLocation = std::source_location;
}  // namespace drywell
#else
#include <cstdint>

namespace drywell {
/// A value: any threads may read one at the same time.
class SourceLocation {
 public:
  /// The place of the call.
  static constexpr SourceLocation current(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE(), uint32_t column = __builtin_COLUMN()) {
    SourceLocation here;
    here.file_ = file;
    here.line_ = line;
    here.column_ = column;
    return here;
  }
  /// As the compiler was given it.
  constexpr const char* file_name() const { return file_; }
  /// From 1.
  constexpr uint32_t line() const { return line_; }
  /// From 1.
  constexpr uint32_t column() const { return column_; }

 private:
  const char* file_ = "";
  uint32_t line_ = 0, column_ = 0;
};
}  // namespace drywell
#endif
