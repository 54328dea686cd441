// Manual pages in the language of man (roff).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

#include "tools/pages/pages.h"

namespace drywell::tools {
namespace {

/// Returns a character beyond ASCII, whose UTF-8 begins at `at`, as \\[uXXXX], and moves `at` to its last
/// byte.
std::string roff_letter(const std::string& text, size_t& at) {
  const unsigned char first = static_cast<unsigned char>(text[at]);
  unsigned more = 1;  // bytes after the first
  if (first >= 0xe0) more = 2;
  if (first >= 0xf0) more = 3;
  unsigned code = first & (0x3fu >> more);
  for (unsigned i = 0; i < more && at + 1 < text.size(); ++i)
    code = code << 6 | (static_cast<unsigned char>(text[++at]) & 0x3fu);
  return fmt::format("\\[u{:04X}]", code);
}

/// Escapes a line of text. A line that begins with a dot or an apostrophe would be a request.
std::string roff(const std::string& line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      out += roff_letter(line, i);
    } else {
      if (c == '-') out += '\\';
      out += c == '\\' ? "\\e" : std::string(1, c);
    }
  }
  return line.starts_with('.') || line.starts_with('\'') ? "\\&" + out : out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string lines(const std::string& text) {
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out += roff(line) + "\n";
  return out;
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : fmt::format(".SH {}\n{}", roff(title), body);
}

/// "-o, --out TEXT", "--check[=full]".
std::string tag(const OptionText& o) {
  if (o.positional) return italic(o.names.front());
  std::vector<std::string> names;
  std::transform(o.names.begin(), o.names.end(), std::back_inserter(names), bold);
  std::string out = fmt::format("{}", fmt::join(names, ", "));
  if (!o.implied.empty()) out += "[=" + italic(o.implied) + "]";
  return out + (o.value.empty() ? "" : " " + italic(o.value)) + (o.repeated ? " ..." : "");
}

std::string about(const OptionText& o) {
  std::string out = roff(o.about);
  if (o.only_values) out += roff(fmt::format(" ({})", fmt::join(o.values, ", ")));
  return out + (o.default_value.empty() ? "" : roff(fmt::format(" (default {})", o.default_value))) +
         (o.required ? " (required)" : "") + "\n";
}

std::string option(const OptionText& o) { return fmt::format(".TP\n{}\n{}", tag(o), about(o)); }

/// The options by their headings, in the order in which they were added.
std::string options(const CommandText& c) {
  std::vector<std::string> headings;
  std::string out;
  for (const OptionText& o : c.options) {
    if (std::find(headings.begin(), headings.end(), o.heading) == headings.end() && !o.heading.empty())
      headings.push_back(o.heading);
  }
  for (const std::string& heading : headings) {
    if (heading != "Options" && heading != "Positionals") out += fmt::format(".SS {}\n", roff(heading));
    for (const OptionText& o : c.options) out += o.heading == heading ? option(o) : "";
  }
  return out;
}

std::string synopsis(const std::string& path, const CommandText& c) {
  std::string out = bold(path) + " [" + italic("OPTIONS") + "]";
  for (const OptionText& o : c.options) {
    if (o.positional)
      out += o.required ? " " + italic(o.names.front()) : " [" + italic(o.names.front()) + "]";
  }
  return out + (c.subcommands.empty() ? "" : " " + italic("SUBCOMMAND")) + "\n";
}

/// What is behind it begins a paragraph of its own.
std::string paragraph(const std::string& text) { return text.empty() ? "" : ".PP\n" + text; }

std::string examples(const CommandText& c) {
  std::string out;
  for (const std::string& line : c.footer.examples) out += roff(line) + "\n";
  return out.empty() ? "" : fmt::format(".nf\n{}.fi\n", out);
}

/// A line for each subcommand.
std::string choices(const CommandText& c) {
  std::string out;
  for (const CommandText& sub : c.subcommands) out += fmt::format(".TP 14\n{}\n{}\n", bold(sub.name), roff(sub.summary));
  return out.empty() ? "" : ".PD 0\n" + out + ".PD\n";
}

/// Without --help, which the command has.
CommandText without_help(CommandText c) {
  std::erase_if(c.options, [](const OptionText& o) { return o.names.back() == "--help"; });
  return c;
}

std::string subcommands(const std::string& path, const CommandText& c) {
  std::string out;
  for (const CommandText& sub : c.subcommands) {
    const std::string name = path + " " + sub.name;
    out += section(name, roff(sub.summary) + ".\n" + paragraph(synopsis(name, sub)) + options(without_help(sub)) + paragraph("Examples:\n" + examples(sub)));
  }
  return out;
}

std::string description(const CommandText& c) { return lines(c.about) + paragraph(lines(c.footer.notes)); }

std::string title(const std::string& name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".\\\" Made by `drywell pages man`.\n.TH {} 1 \"\" \"drywell {}\" \"Drywell\"\n.ad l\n.nh\n",
                     roff(upper), DRYWELL_VERSION);
}

std::string name_line(const std::string& name, const std::string& summary) {
  return section("NAME", fmt::format("{} \\- {}\n", roff(name), roff(summary)));
}

std::string command_list(const CommandText& root) {
  std::string out;
  for (const CommandText& c : root.subcommands)
    out += fmt::format(".TP 24\n{}(1)\n{}\n", bold("drywell-" + c.name), roff(c.summary));
  return ".PD 0\n" + out + ".PD\n";
}

}  // namespace

std::string manual_of_all(const CommandText& root) {
  return title("drywell") + name_line("drywell", root.summary) + section("SYNOPSIS", synopsis("drywell", root)) +
         section("DESCRIPTION", lines(root.about)) + section("EXAMPLES", examples(root)) + section("COMMANDS", command_list(root)) +
         section("OPTIONS", options(root)) + section("EXIT STATUS", lines(root.footer.exit_codes));
}

std::string manual_of(const CommandText& c) {
  const std::string path = "drywell " + c.name;
  return title("drywell-" + c.name) + name_line("drywell-" + c.name, c.summary) + section("SYNOPSIS", synopsis(path, c)) +
         section("DESCRIPTION", description(c)) + section("SUBCOMMANDS", choices(c)) + section("EXAMPLES", examples(c)) +
         section("OPTIONS", options(c)) + subcommands(path, c) + section("EXIT STATUS", lines(c.footer.exit_codes)) +
         section("SEE ALSO", bold("drywell") + "(1)\n");
}

}  // namespace drywell::tools
