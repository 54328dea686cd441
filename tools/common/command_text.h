// What --help of a command says, taken apart: for manual pages and completions of shells (tools/pages).
#pragma once

#include <string>
#include <vector>

namespace drywell::tools {

struct OptionText {
  std::vector<std::string> names;  // "-o", "--out"; of a positional word its one name
  std::string value;               // TEXT, UINT, …; empty: a flag
  std::string implied;             // the value of a flag that may have one: --check is --check=full
  std::string about;
  std::string default_value;
  std::string heading;              // of --help: "Options", …; empty: not shown
  std::vector<std::string> values;  // those a shell offers
  bool only_values = false;         // others are errors
  bool positional = false, required = false, repeated = false;
};

/// The end of --help, in this order.
struct Footer {
  std::string notes;                  // what the options do not say
  std::string exit_codes;             // of every command
  std::vector<std::string> examples;  // whole command lines

  /// As --help prints it.
  std::string text() const;
};

struct CommandText {
  std::string name, summary;
  std::string about;  // the description of the manual page; empty: the summary
  Footer footer;
  std::vector<OptionText> options;
  std::vector<CommandText> subcommands;
  bool extras = false;  // takes options that it does not declare: a kernel's parameters
};

}  // namespace drywell::tools
