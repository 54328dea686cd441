// Completion for bash: tables of words, and one function that looks in them.
#include <fmt/format.h>

#include <string>

#include "tools/pages/pages.h"

namespace drywell::tools {
namespace {

constexpr const char* kFunction = R"bash(
# The words that set parameters of the kernel on the command line, one a line.
_drywell_kernel_words() {
  local word names
  names=" $("${COMP_WORDS[0]}" list --names 2>/dev/null | tr '\n' ' ')"
  for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    [[ $names == *" $word "* ]] || continue
    "${COMP_WORDS[0]}" list "$word" --names 2>/dev/null
    return
  done
}
_drywell() {
  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path=${COMP_WORDS[1]} option="" joined="" words=""
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    mapfile -t COMPREPLY < <(compgen -W "$_drywell_commands --help --version" -- "$cur")
    return
  fi
  # "=" is a word of its own: --driver = timed.
  if [[ $cur == "=" ]]; then option=$before cur="" joined=1
  elif [[ $before == "=" ]]; then option=${COMP_WORDS[COMP_CWORD-2]} joined=1
  else option=$before; fi
  if (( COMP_CWORD > 2 )) && [[ -n ${_drywell_words["$path ${COMP_WORDS[2]}"]+x} ]]; then path+=" ${COMP_WORDS[2]}"; fi
  if [[ -n ${_drywell_values["$path $option"]+x} ]]; then words=${_drywell_values["$path $option"]}
  elif [[ $joined ]]; then
    [[ -n ${_drywell_parameters["$path"]+x} ]] && words=$(_drywell_kernel_words | sed -n "s/^$option=//p")
  elif [[ $cur == -* ]]; then
    words=${_drywell_words["$path"]}
    if [[ -n ${_drywell_parameters["$path"]+x} ]]; then words+=" $(_drywell_kernel_words | sed 's/=.*/=/' | sort -u)"; fi
  elif [[ -n ${_drywell_subcommands["$path"]+x} ]]; then words=${_drywell_subcommands["$path"]}
  elif [[ -n ${_drywell_kernels["$path"]+x} ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" list --names 2>/dev/null)" -- "$cur"; compgen -f -- "$cur")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _drywell drywell
)bash";

std::string bash_head(const CommandText& root) {
  std::string out =
      "# bash completion of drywell, made by `drywell pages bash`.\ndeclare -gA _drywell_words=() "
      "_drywell_values=() _drywell_subcommands=() _drywell_kernels=() _drywell_parameters=()\n";
  out += "_drywell_commands='";
  for (const CommandText& c : root.subcommands) out += c.name + " ";
  out.back() = '\'';
  return out + "\n";
}

std::string bash_options(const std::string& path, const CommandText& c) {
  std::string words, values;
  for (const OptionText& o : c.options) {
    if (o.positional || o.heading.empty()) continue;
    words += fmt::format("{}{}", words.empty() ? "" : " ", fmt::join(o.names, " "));
    if (o.values.empty()) continue;
    for (const std::string& name : o.names)
      values += fmt::format("_drywell_values['{} {}']='{}'\n", path, name, fmt::join(o.values, " "));
  }
  return fmt::format("_drywell_words['{}']='{}'\n{}", path, words, values);
}

std::string bash_at(const std::string& path, const CommandText& c) {
  std::string out = bash_options(path, c), names;
  if (takes_kernel(c)) out += fmt::format("_drywell_kernels['{}']=1\n", path);
  if (takes_parameters(c)) out += fmt::format("_drywell_parameters['{}']=1\n", path);
  for (const OptionText& o : c.options) {
    if (o.positional) names += fmt::format("{}", fmt::join(o.values, " "));
  }
  for (const CommandText& sub : c.subcommands) {
    names += (names.empty() ? "" : " ") + sub.name;
    out += bash_at(path + " " + sub.name, sub);
  }
  return out + (names.empty() ? "" : fmt::format("_drywell_subcommands['{}']='{}'\n", path, names));
}

std::string bash_part(const CommandText& c) { return bash_at(c.name, c); }
std::string bash_tail() { return kFunction; }

}  // namespace

const Completion kBash{"bash", bash_head, bash_part, bash_tail};

}  // namespace drywell::tools
