// drywell explain: the rule behind a code, and a wrong and a right kernel: the section of docs/hazards.md or docs/hazards-faults.md.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>

#include "drywell/core/code.h"
#include "drywell/core/terminal.h"
#include "tools/common/command.h"

namespace drywell::tools {
namespace {

constexpr std::string_view kParts[] = {
#include "generated/hazard_pages.inc"
};

std::string pages() {
  std::string all;
  for (const std::string_view part : kParts) all += part;
  return all;
}

/// From the line `from` on, up to a line that starts with `to`; empty if there is no such line.
std::string between(const std::string& text, const std::string& from, std::string_view to) {
  const size_t begin = text.find("\n" + from);
  if (begin == std::string::npos) return {};
  return text.substr(begin + 1, text.find("\n" + std::string(to), begin + 1) - begin - 1);
}

/// The value of `setup=` among the words behind ```ptx.
std::string setup_of(const std::string& info) {
  const size_t at = info.find("setup=");
  return at == std::string::npos ? "none" : info.substr(at + 6, info.find(' ', at) - at - 6);
}

/// A line of a kernel of the page: its mark says in which of the two kernels it is.
std::string marked(const std::string& line) {
  const size_t comment = line.find("//");
  const std::string mark = comment == std::string::npos ? "" : line.substr(comment);
  const auto has = [&](const char* word) { return mark.find(word) != std::string::npos; };
  return fmt::format("  {}{} {}\n", has("fix") ? "+" : has("wrong") ? "-"
                                                                    : " ",
                     has("here") ? ">" : " ", line);
}

/// The section with its kernels drawn; adds the setups that they name.
std::string drawn(const std::string& section, std::vector<std::string>& setups) {
  std::istringstream lines(section);
  std::string out;
  bool kernel = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      kernel = !kernel;
      if (!kernel) continue;
      const std::string setup = setup_of(line);
      if (setup != "none" && std::find(setups.begin(), setups.end(), setup) == setups.end()) setups.push_back(setup);
      out += fmt::format("  {}{}\n", line.substr(std::min<size_t>(line.size(), 7)), setup == "none" ? "" : ", behind the lines below");
    } else {
      out += kernel ? marked(line) : line + "\n";
    }
  }
  return out;
}

std::string section_of(const std::string& all, const std::string& code) {
  const std::string section = between(all, "## " + code + ":", "## ");
  if (section.empty()) return {};
  std::vector<std::string> setups;
  std::string out = drawn(section.substr(3), setups) + "\n+ only in the right kernel, - only in the wrong one, > reported here (docs/hazards.md)\n";
  for (const std::string& name : setups) {
    const std::string block = between(all, "```ptx setup " + name + "\n", "```");
    out += fmt::format("\n{}:\n{}\n", name, block.substr(std::min(block.size(), block.find('\n') + 1)));
  }
  return out;
}

/// As the pages write it.
std::string in_capitals(std::string code) {
  std::transform(code.begin(), code.end(), code.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return code;
}

ExitCode explain(const std::vector<std::string>& codes) {
  const std::string all = pages();
  std::string out;
  for (const std::string& given : codes) {
    const std::string code = in_capitals(given), section = section_of(all, code);
    const auto row = find_code(code);
    if (section.empty() && !row.has_value()) throw UsageError(fmt::format("no code '{}': a letter and four digits, such as H7001, F3601 or E4305", given), "explain");
    out += section;
    if (section.empty()) {
      const auto rows = all_codes();
      const auto found = std::find_if(rows.begin(), rows.end(), [&](const CodeRow& r) { return r.name == code; });
      out += fmt::format("{}: {}\n{}", code, found->what, found->fix.empty() ? "" : fmt::format("fix: {}\n", found->fix));
    }
  }
  print(out);
  return ExitCode::ok;
}

}  // namespace

void register_explain(Command& app, CommandContext& context) {
  auto codes = std::make_shared<std::vector<std::string>>();
  Command* sub = add_command(app, "explain");
  sub->add_option("CODE", *codes, "codes of hazards, faults or errors, e.g. H7001")->required();
  sub->callback([codes, &context] { context.action = [codes] { return explain(*codes); }; });
}

}  // namespace drywell::tools
