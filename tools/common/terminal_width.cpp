#include "tools/common/terminal_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "drywell/core/whole_number.h"

namespace drywell::tools {
namespace {

constexpr char kEscape = '\033';
constexpr size_t kDescriptions = 20;  // a line that begins here or behind is in the second column of a list

/// The columns of text in UTF-8, without colours.
size_t width_of(std::string_view text) {
  size_t columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kEscape)
      i = std::min(text.find('m', i), text.size());
    else
      columns += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 ? 1 : 0;
  }
  return columns;
}

/// Where the continuation of a line begins.
size_t hanging_column(std::string_view line, size_t columns) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const size_t gap = line.find("  ", begin);
  const size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  if (begin >= kDescriptions) return begin;  // the words that it describes are on the line before
  if (second == std::string_view::npos || width_of(line.substr(0, second)) > columns / 2) return begin + 2;
  return width_of(line.substr(0, second));
}

std::string fitted_line(std::string_view line, size_t columns) {
  if (width_of(line) <= columns) return std::string(line);
  const size_t indent = hanging_column(line, columns);
  std::string out;
  size_t used = 0;
  for (size_t at = 0; at < line.size();) {
    const size_t word = std::min(line.find_first_not_of(' ', at), line.size());
    const size_t end = std::min(line.find(' ', word), line.size());
    const size_t width = width_of(line.substr(word, end - word));
    if (used > indent && used + (word - at) + width > columns) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else {
      out.append(word - at, ' ');
      used += word - at;
    }
    out += line.substr(word, end - word);
    used += width;
    at = end;
  }
  return out;
}

}  // namespace

size_t terminal_columns() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
  const char* const columns = std::getenv("COLUMNS");
  return columns == nullptr ? 0 : whole_number<uint32_t>(columns).value_or(0);
}

std::string fitted(std::string_view text, size_t columns) {
  if (columns == 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += fitted_line(text.substr(0, end), columns);
    if (end != text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace drywell::tools
