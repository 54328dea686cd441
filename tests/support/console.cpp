#include "support/console.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "drywell/core/files.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell::test {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& l : lines) text += l + "\n";
  return text;
}

/// `…` in `pattern` matches any text.
bool line_matches(std::string_view pattern, std::string_view line) {
  constexpr std::string_view kAny = "…";
  const size_t at = pattern.find(kAny);
  if (at == std::string_view::npos) return pattern == line;
  if (!line.starts_with(pattern.substr(0, at))) return false;
  const std::string_view rest = pattern.substr(at + kAny.size());
  for (size_t i = at; i <= line.size(); ++i)
    if (line_matches(rest, line.substr(i))) return true;
  return false;
}

bool matches_from(const std::vector<std::string>& e, size_t i, const std::vector<std::string>& a, size_t j) {
  for (; i < e.size(); ++i, ++j) {
    if (e[i] == "...") {
      for (; j <= a.size(); ++j)
        if (matches_from(e, i + 1, a, j)) return true;
      return false;
    }
    if (j >= a.size() || !line_matches(e[i], a[j])) return false;
  }
  return j == a.size();
}

/// A fresh directory with the parts of the source tree that sessions name, and drywell on the PATH.
class Workplace {
 public:
  Workplace() {
    for (const char* part : {"examples", "kernels", "tests", "traces"})
      std::filesystem::create_directory_symlink(source_path(part), directory_.file(part));
  }
  std::vector<std::string> run(const ConsoleCommand& c) const {
    write_file_atomically(directory_.file(".typed"), c.input);
    const std::string bin = std::filesystem::path(binary_path()).parent_path();
    const Finished f =
        run_process("/bin/sh", {"-c", "cd '" + directory_.path() + "'; PATH='" + bin + "':$PATH; exec <.typed 2>&1\n" + c.shell});
    std::vector<std::string> lines = lines_of(f.out);
    if (f.exit_code != 0) lines.push_back("[exit " + std::to_string(f.exit_code) + "]");
    return lines;
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace

std::vector<ConsoleCommand> parse_console(std::string_view markdown) {
  std::vector<ConsoleCommand> commands;
  bool inside = false, fresh = false;
  size_t number = 0;
  for (const std::string& line : lines_of(markdown)) {
    ++number;
    if (line.starts_with("```")) {
      inside = line == "```console";
      fresh = false;
    } else if (inside && line.starts_with("$ ")) {
      commands.push_back({number, line.substr(2) + "\n", {}, {}});
      fresh = true;
    } else if (inside && fresh && commands.back().expected.empty() && line.starts_with("> ")) {
      commands.back().shell += line.substr(2) + "\n";
    } else if (inside && fresh) {
      if (line.starts_with(kTypedPrompt)) commands.back().input += line.substr(kTypedPrompt.size()) + "\n";
      commands.back().expected.push_back(line);
    }
  }
  return commands;
}

bool console_matches(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  return matches_from(expected, 0, actual, 0);
}

void replay_console(const std::string& page) {
  const std::string markdown = read_text_file(page);
  std::vector<std::string> lines = lines_of(markdown);
  const bool rewrite = std::getenv("DRYWELL_REWRITE_SESSIONS") != nullptr;
  const Workplace place;
  ptrdiff_t moved = 0;
  for (const ConsoleCommand& c : parse_console(markdown)) {
    const std::vector<std::string> actual = place.run(c);
    if (console_matches(c.expected, actual)) continue;
    if (!rewrite) {
      ADD_FAILURE() << page << ":" << c.line << ": $ " << c.shell << "the page says\n"
                    << text_of(c.expected) << "it prints\n"
                    << text_of(actual);
      continue;
    }
    const auto shell_lines = std::count(c.shell.begin(), c.shell.end(), '\n');
    const auto first = lines.begin() + static_cast<ptrdiff_t>(c.line) - 1 + shell_lines + moved;
    const auto at = lines.erase(first, first + static_cast<ptrdiff_t>(c.expected.size()));
    lines.insert(at, actual.begin(), actual.end());
    moved += static_cast<ptrdiff_t>(actual.size()) - static_cast<ptrdiff_t>(c.expected.size());
  }
  if (rewrite) write_file_atomically(page, text_of(lines));
}

}  // namespace drywell::test
