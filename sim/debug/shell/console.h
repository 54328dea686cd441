// Sources of commands: a terminal with history and completion (libedit), a pipe, or a script.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace drywell::sim::shell {

class Console {
 public:
  virtual ~Console() = default;
  /// The next line without its end; nullopt at the end of the input.
  virtual std::optional<std::string> read_line() = 0;
  /// True if a person types: prompts are shown and an empty line repeats the last command.
  virtual bool interactive() const { return false; }
};

/// Returns the words that can complete the end of a line.
using Completer = std::function<std::vector<std::string>(std::string_view)>;

inline constexpr const char* kPrompt = "(drywell) ";

/// Uses libedit if it is built in and standard input is a terminal; otherwise plain lines. History is kept in
/// $XDG_STATE_HOME/drywell_history or ~/.drywell_history.
std::unique_ptr<Console> open_console(Completer complete);
/// Lines of a file. Throws InputError E4001.
std::unique_ptr<Console> open_script(const std::string& path);

}  // namespace drywell::sim::shell
