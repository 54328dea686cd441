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

struct CommandText {
  std::string name, summary;
  std::string footer;  // the end of --help: notes, exit codes, examples
  std::vector<OptionText> options;
  std::vector<CommandText> subcommands;
};

}  // namespace drywell::tools
