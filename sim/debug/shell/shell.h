// The commands of `drywell step` for one debugger. A command is a row of a table. Its output is text, so that scripts, pipes,
// terminals and tests receive the same.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/core/terminal.h"
#include "sim/debug/debugger.h"

namespace drywell::sim::shell {

class Shell;

/// The words after a command's name.
class Words {
 public:
  explicit Words(std::string_view text);
  bool empty() const { return at_ == words_.size(); }
  /// The next word, or "".
  std::string_view peek() const { return empty() ? std::string_view() : words_[at_]; }
  std::string next() { return empty() ? std::string() : words_[at_++]; }
  /// Takes the next word if it is `word`.
  bool take(std::string_view word);
  /// The remaining words with single blanks; all() does not consume them.
  std::string rest();
  std::string all() const { return Words(*this).rest(); }
  /// Takes a number (decimal or 0x…); returns `otherwise` if no word is left. Throws InputError E4325.
  uint64_t number(uint64_t otherwise, std::string_view what);
  /// The same for numbers of warps, lanes, breakpoints and coordinates, which have 32 bits.
  uint32_t index(uint32_t otherwise, std::string_view what);
  /// Throws InputError E4325 if words are left.
  void finish(std::string_view command) const;

 private:
  std::vector<std::string> words_;
  size_t at_ = 0;
};

/// A wrong command: InputError E4325.
[[noreturn]] void refuse(std::string message, std::string hint = {});

struct StepCommand {
  std::string_view name, alias, arguments, help;
  void (*run)(Shell&, Words&);
  std::string_view group;
};
// One table per file.
std::span<const StepCommand> run_commands();    // commands_run.cpp
std::span<const StepCommand> stop_commands();   // commands_stop.cpp
std::span<const StepCommand> show_commands();   // commands_show.cpp
std::span<const StepCommand> value_commands();  // commands_value.cpp

class Shell {
 public:
  Shell(Debugger& d, bool colour);

  /// Runs one line and returns its output. Errors are in the output and are never thrown.
  std::string execute(std::string_view line);
  bool done() const { return done_; }
  /// Words that can complete the end of `line`.
  std::vector<std::string> complete(std::string_view line) const;
  /// The greeting: the kernel and its position.
  std::string greeting();

  // For commands.
  Debugger& debugger() { return debugger_; }
  Session& session() { return debugger_.session(); }
  const CodeMap& code() const { return debugger_.code(); }
  /// The focused warp. Throws InputError E4326 if it has not started or its cluster has finished.
  Warp& warp();
  Cta& cta() { return *warp().cta; }
  /// Current cycle of the focused CTA's SM. Throws InputError E4326 if the driver has no clock or the CTA is not resident.
  uint64_t clock();
  /// Throws InputError E4326 if the focused warp's cluster has finished: it has no further steps.
  void expect_focus_ahead();
  /// Evaluates an address expression for the focused warp and lane.
  uint64_t address(std::string_view text);
  std::string paint(std::string_view text, Colour c) const { return drywell::paint(text, c, colour_); }
  void quit() { done_ = true; }
  template <class... A>
  void say(fmt::format_string<A...> format, A&&... args) {
    out_ += fmt::format(format, std::forward<A>(args)...);
    out_ += '\n';
  }
  /// Prints the reason why a run ended and the place of the focused warp.
  void report(const StopReason& r);
  void show_place();
  /// The file for a LINE without a file: that of the focused warp's instruction.
  std::string current_file();
  const std::vector<const StepCommand*>& commands() const { return commands_; }
  /// Commands that are repeated after every command that goes to another position; none: off. Throws InputError E4325 if one does not exist.
  void set_panes(std::vector<std::string> panes);
  const std::vector<std::string>& panes() const { return panes_; }

 private:
  /// Throws InputError E4325 with the command that is meant.
  const StepCommand& named(const std::string& name) const;
  void show_panes();
  const StepCommand* find(std::string_view name) const;

  Debugger& debugger_;
  bool colour_;
  bool done_ = false;
  std::string out_, last_line_;
  std::vector<std::string> panes_;
  size_t printed_ = 0;  // of the kernel's output
  std::vector<const StepCommand*> commands_;
};

/// Shortens PTX that is longer than a line (lists of registers) by its middle.
std::string abbreviated(std::string_view ptx);
/// `count` lines of source and PTX around the focused warp's instruction, side by side.
std::string listing(Shell& s, uint32_t pc, uint32_t count);
/// Line of a readable source file, without blanks at the ends; "" if there is none.
std::string source_line(std::string_view file, uint32_t line);
std::vector<std::string> source_lines(std::string_view file);

/// "3", "0..7", "0x400": first and last.
struct Range {
  uint64_t first = 0, last = 0;
};
Range parse_range(std::string_view text, uint64_t end, std::string_view what);
/// `until` with a place or an event.
void run_until(Shell& s, Words& w);
/// Argument of `watch`, `who` and reverse-continue: smem ADDR[,BYTES] | gmem ADDR[,BYTES] | tmem LANES,COLUMNS | %REGISTER.
StopWhat parse_watched(Shell& s, Words& w);

}  // namespace drywell::sim::shell
