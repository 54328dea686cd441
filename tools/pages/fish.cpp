// Completion for fish: a line for each word.
#include <fmt/format.h>

#include <string>

#include "tools/pages/pages.h"

namespace drywell::tools {
namespace {

constexpr const char* kFishHead = R"fish(# fish completion of drywell, made by `drywell pages fish`.
# True if the words after `drywell` begin with these.
function __drywell_at
    set -l words (commandline -opc)
    test (count $words) -gt (count $argv); or return 1
    set -l last (math (count $argv) + 1)
    test "$words[2..$last]" = "$argv"
end
# The words that set parameters of the kernel on the command line.
function __drywell_kernel_words
    set -l names (drywell list --names 2>/dev/null)
    for word in (commandline -opc)
        if contains -- $word $names
            drywell list $word --names
            return
        end
    end
end
)fish";

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

std::string fish_word(const std::string& path, const CommandText& c) {
  const std::string here =
      path.empty() ? "test (count (commandline -opc)) -eq 1"
                   : fmt::format("__drywell_at {0}; and test (count (commandline -opc)) -eq 2", path);
  return fmt::format("complete -c drywell -f -n {} -a {} -d {}\n", fish_quoted(here), c.name,
                     fish_quoted(c.summary));
}

std::string fish_head(const CommandText& root) {
  std::string out = kFishHead;
  for (const CommandText& c : root.subcommands) out += fish_word("", c);
  return out;
}

std::string fish_option(const std::string& path, const OptionText& o) {
  std::string out = fmt::format("complete -c drywell -n {}", fish_quoted("__drywell_at " + path));
  for (const std::string& name : o.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!o.values.empty())
    out += fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(o.values, " "))));
  if (o.values.empty() && !o.value.empty()) out += " -r";
  return out + " -d " + fish_quoted(o.about) + "\n";
}

std::string fish_at(const std::string& path, const CommandText& c) {
  std::string out;
  for (const OptionText& o : c.options) {
    if (!o.positional && !o.heading.empty()) out += fish_option(path, o);
    if (o.positional && !o.values.empty())
      out += fmt::format("complete -c drywell -f -n {} -a '{}'\n", fish_quoted("__drywell_at " + path),
                         fmt::join(o.values, " "));
  }
  if (takes_kernel(c))
    out += fmt::format("complete -c drywell -n {} -a '(drywell list --names)'\n",
                       fish_quoted("__drywell_at " + path));
  if (takes_parameters(c))
    out += fmt::format("complete -c drywell -f -n {} -a '(__drywell_kernel_words)'\n", fish_quoted("__drywell_at " + path));
  for (const CommandText& sub : c.subcommands)
    out += fish_word(path, sub) + fish_at(path + " " + sub.name, sub);
  return out;
}

std::string fish_part(const CommandText& c) { return fish_at(c.name, c); }
std::string fish_tail() { return ""; }

}  // namespace

const Completion kFish{"fish", fish_head, fish_part, fish_tail};

}  // namespace drywell::tools
