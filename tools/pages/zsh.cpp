// Completion for zsh: a function for each command.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "tools/pages/pages.h"

namespace drywell::tools {
namespace {

constexpr const char* kZshHead = R"zsh(#compdef drywell
# zsh completion of drywell, made by `drywell pages zsh`.
_drywell_kernel() {
  local -a kernels=(${(f)"$(drywell list --names 2>/dev/null)"})
  _describe kernel kernels
  _files
}
# Sets reply to the parameters of the kernel on the command line, as _arguments takes them: --rounding=:value:(nearest-even stochastic)
_drywell_kernel_words() {
  local -a names=(${(f)"$(drywell list --names 2>/dev/null)"})
  local -A values flags
  local word line name
  reply=()
  for word in $words[2,-1]; do
    (( $names[(Ie)$word] )) || continue
    for line in ${(f)"$(drywell list $word --names 2>/dev/null)"}; do
      name=${line%%=*}
      if [[ $line == $name ]]; then flags[$name]=1; else values[$name]+="${line#*=} "; fi
    done
    for name in ${(k)values}; do
      line=_files
      if [[ $values[$name] != " " ]]; then line="(${values[$name]% })"; fi
      reply+=("${name}=${flags[$name]:+-:}:value:$line")
    done
    return
  done
}
# Completes the words of a command with subcommands: $1 is its function, the rest are its subcommands.
_drywell_choose() {
  local at=$1 word=$words[2]
  local -a subcommands=("${@:2}")
  if (( CURRENT == 2 )); then
    _describe command subcommands
  elif (( $+functions[${at}_${word//-/_}] )); then
    shift words
    (( CURRENT-- ))
    ${at}_${word//-/_}
  fi
}
)zsh";

constexpr const char* kZshTail = "_drywell \"$@\"\n";

/// Quotes a text for the shell; a backslash goes before each character that its place treats specially.
std::string zsh_quoted(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::string zsh_function(std::string path) {
  for (char& c : path) c = c == ' ' || c == '-' ? '_' : c;
  return path;
}

std::string zsh_choose(const std::string& path, const CommandText& c) {
  std::string out = fmt::format("{}() {{\n  _drywell_choose {}", zsh_function(path), zsh_function(path));
  for (const CommandText& sub : c.subcommands)
    out += fmt::format(" \\\n    '{}:{}'", sub.name, zsh_quoted(sub.summary, ":\\"));
  return out + "\n}\n";
}

std::string zsh_head(const CommandText& root) { return kZshHead + zsh_choose("_drywell", root); }

std::string zsh_value(const OptionText& o) {
  if (o.value.empty()) return "";
  return fmt::format(":{}:{}", o.value,
                     o.values.empty() ? "_files" : fmt::format("({})", fmt::join(o.values, " ")));
}

std::string zsh_option(const OptionText& o) {
  if (o.positional && !o.values.empty()) return fmt::format(" \\\n    '{}'", zsh_value(o));
  if (o.positional || o.heading.empty()) return "";
  std::string out;
  for (const std::string& name : o.names) {
    std::string_view joins = name.starts_with("--") ? "=" : "+";
    if (o.value.empty()) joins = "";
    out += fmt::format(" \\\n    '{}{}{}[{}]{}'", o.repeated ? "*" : "", name, joins,
                       zsh_quoted(o.about, "[]:\\"), zsh_value(o));
  }
  return out;
}

std::string zsh_at(const std::string& path, const CommandText& c) {
  if (!c.subcommands.empty()) {
    std::string out = zsh_choose(path, c);
    for (const CommandText& sub : c.subcommands) out += zsh_at(path + " " + sub.name, sub);
    return out;
  }
  const bool parameters = takes_parameters(c);
  std::string out = fmt::format("{}() {{\n{}  _arguments", zsh_function(path), parameters ? "  local -a reply\n  _drywell_kernel_words\n" : "");
  for (const OptionText& o : c.options) out += zsh_option(o);
  if (parameters) out += " \\\n    $reply";
  return out + fmt::format(" \\\n    '*:{}'\n}}\n",
                           takes_kernel(c) ? "kernel or file:_drywell_kernel" : "file:_files");
}

std::string zsh_part(const CommandText& c) { return zsh_at("_drywell " + c.name, c); }
std::string zsh_tail() { return kZshTail; }

}  // namespace

const Completion kZsh{"zsh", zsh_head, zsh_part, zsh_tail};

}  // namespace drywell::tools
