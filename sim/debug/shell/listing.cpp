// Source and PTX side by side.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sim/debug/shell/shell.h"

namespace drywell::sim::shell {
namespace {

constexpr size_t kColumn = 74;  // of the source

std::string fit(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  if (text.size() > kColumn) text = text.substr(0, kColumn - 1) + "~";
  return text;
}

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

}  // namespace

std::string abbreviated(std::string_view ptx) {
  constexpr size_t kMost = 130, kTail = 40;
  return ptx.size() <= kMost ? std::string(ptx) : fmt::format("{} … {}", ptx.substr(0, kMost - kTail - 3), ptx.substr(ptx.size() - kTail));
}

std::vector<std::string> source_lines(std::string_view file) {
  std::ifstream in{std::string(file)};
  std::vector<std::string> lines;
  for (std::string line; lines.size() < 200'000 && std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string source_line(std::string_view file, uint32_t line) {
  const std::vector<std::string> lines = source_lines(file);
  return line == 0 || line > lines.size() ? std::string() : trimmed(lines[line - 1]);
}

std::string listing(Shell& s, uint32_t pc, uint32_t count) {
  const CodeMap& code = s.code();
  const CodeLine& here = code.at(pc);
  std::vector<std::pair<std::string, bool>> left, right;
  if (const std::vector<std::string> lines = here.file.empty() ? std::vector<std::string>() : source_lines(here.file); here.line <= lines.size() && here.line != 0) {
    const uint32_t first = here.line > count / 2 ? here.line - count / 2 : 1;
    for (uint32_t n = first; n < first + count && n <= lines.size(); ++n) left.emplace_back(fmt::format("{:>5} {}", n, lines[n - 1]), n == here.line);
  }
  const uint32_t first = pc > count / 2 ? pc - count / 2 : 0;
  for (uint32_t p = first; p < code.size() && right.size() < count; ++p) {
    for (const std::string& label : code.labels_at(p)) right.emplace_back(label + ":", false);
    right.emplace_back(fmt::format("{:>5} {}", p, code.at(p).text), p == pc);
  }
  std::string out;
  if (!left.empty()) out += s.paint(here.file, Colour::dim) + "\n";
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const auto cell = [&](const auto& side) { return i < side.size() ? (side[i].second ? "=> " : "   ") + fit(side[i].first) : std::string(); };
    const bool marked = (i < left.size() && left[i].second) || (i < right.size() && right[i].second);
    std::string row = left.empty() ? cell(right) : fmt::format("{:<{}} | {}", cell(left), kColumn + 3, cell(right));
    row.erase(row.find_last_not_of(' ') + 1);
    out += (marked ? s.paint(row, Colour::cyan) : row) + "\n";
  }
  return out;
}

}  // namespace drywell::sim::shell
