#include "kernels/support/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "launch/words.h"

namespace drywell::kernels {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

}  // namespace

void RecordText::fail(uint32_t line, std::string what) const {
  Diagnostics d;
  d.error(Code::E4506, {name, line, 1}, std::move(what));
  throw InputError(std::move(d));
}

RecordText read_record_text(std::string_view text, std::string name, std::string_view first_line) {
  RecordText out;
  out.name = std::move(name);
  uint32_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (number == 1) {
      if (line != first_line) out.fail(1, fmt::format("the first line must be '{}'", first_line));
    } else if (line.starts_with('#')) {
      out.provenance.emplace_back(line.substr(std::min<size_t>(2, line.size())));
    } else if (!line.empty()) {
      out.lines.push_back({number, line, split(line, ' ')});
    }
  }
  return out;
}

std::vector<std::string> provenance(const std::string& device, std::string_view made_by, const std::string& note) {
  std::vector<std::string> out = {"device: " + device, "date: " + today(), fmt::format("made by: {}", made_by)};
  if (!note.empty()) out.push_back("note: " + note);
  return out;
}

}  // namespace drywell::kernels
