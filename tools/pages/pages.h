// Writers of manual pages and completions. Each takes the tree of commands that the command line itself is
// made of (tools/common/command_text.h), so that the two cannot differ. Programs write the parts of their own
// commands, and `drywell` puts them together (cmd_pages.cpp).
#pragma once

#include <string>

#include "tools/common/command_text.h"

namespace drywell::tools {

/// Returns the page drywell(1) in the language of man: all commands.
std::string manual_of_all(const CommandText& root);
/// Returns the page drywell-NAME(1).
std::string manual_of(const CommandText& command);

/// Completions for one shell: `head` of all commands, a `part` for each, and the end.
struct Completion {
  const char* shell;
  std::string (*head)(const CommandText& root);
  std::string (*part)(const CommandText& command);
  std::string (*tail)();
};
extern const Completion kBash, kZsh, kFish;

/// True if a positional word of the command is a kernel's name.
bool takes_kernel(const CommandText& command);
/// True if the command also takes the kernel's parameters.
bool takes_parameters(const CommandText& command);

}  // namespace drywell::tools
