// The text form of device records: a first line with the format's name, provenance in '#' lines, then one line of words for
// each recorded result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/error.h"

namespace drywell::kernels {

struct RecordText {
  struct Line {
    uint32_t number;  // of the file, from 1
    std::string_view text;
    std::vector<std::string_view> words;
  };
  std::string name;                     // of the file, for messages
  std::vector<std::string> provenance;  // "device: …"
  std::vector<Line> lines;

  /// Throws InputError E4506 at `line`.
  [[noreturn]] void fail(uint32_t line, std::string what) const;
};

/// `text` must outlive the result. Throws InputError E4506 if the first line is not `first_line`.
RecordText read_record_text(std::string_view text, std::string name, std::string_view first_line);

/// Returns the origin of a record: the device, the day (UTC), the program that made it, and the user's note if there is
/// one.
std::vector<std::string> provenance(const std::string& device, std::string_view made_by, const std::string& note);

}  // namespace drywell::kernels
