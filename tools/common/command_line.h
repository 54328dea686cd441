// The command line for the commands: CLI11's vocabulary without its headers, which take longer to compile than any
// command. Names of types in --help (UINT, TEXT) are CLI11's.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/common/command_text.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace drywell::tools {

class Option {
 public:
  explicit Option(CLI::Option* inner) : inner_(inner) {}
  Option* required();
  /// --help shows the target's current value.
  Option* capture_default_str();
  /// false: one value at a time, so that positional words may follow.
  Option* allow_extra_args(bool allowed);
  Option* group(const std::string& heading);
  Option* excludes(const std::string& other);
  Option* one_of(std::vector<std::string> values);
  /// Values that shells offer; others are taken, too.
  Option* suggest(std::vector<std::string> values);
  Option* between(int least, int greatest);
  /// `test` returns a message for a value that it rejects, else "".
  Option* check(std::function<std::string(const std::string&)> test);
  OptionText text() const;

 private:
  CLI::Option* inner_;
  std::vector<std::string> values_;  // what shells offer
  bool only_values_ = false;
};

/// `drywell` or one of its subcommands. Options write to variables that must outlive the parse.
class Command {
 public:
  Command(const std::string& description, const std::string& name);
  /// `footer`: what a subcommand takes from its command.
  Command(CLI::App* inner, Footer footer);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& description);
  /// T: a type of the explicit instantiations in command_line.cpp; another type is a linker error.
  template <class T>
  Option* add_option(const std::string& name, T& target, const std::string& description);
  template <class T>
  Option* add_flag(const std::string& name, T& target, const std::string& description);
  void callback(std::function<void()> action);
  /// Notes behind the options of --help. Subcommands added later have them, too.
  void notes(const std::string& text);
  /// Subcommands added later have them, too.
  void exit_codes(const std::string& text);
  /// Command lines, which are the end of --help. A subcommand has none until it is given its own.
  void examples(std::vector<std::string> lines);
  /// The description of the manual page.
  void about(const std::string& text);
  void require_subcommand(int count);
  /// Keeps words that no option takes: remaining().
  void allow_extras();
  /// The first word that is not an option ends the options.
  void prefix_command();
  std::vector<std::string> remaining() const;
  /// Empty `names`: no such flag.
  void set_help_flag(const std::string& names = {}, const std::string& description = {});
  void set_version_flag(const std::string& names, const std::string& version);
  std::string help() const;
  std::string name() const;
  std::vector<std::string> subcommands() const;
  /// What --help says, taken apart: with the subcommands and theirs.
  CommandText text() const;

  /// Result of parsing a command line.
  struct Parsed {
    bool answered = false;  // --help or --version, which have been printed
    std::string error;      // empty: the command line is correct
  };
  Parsed parse(int argc, char** argv);
  /// Parses words without the program's name. --help is an error here.
  Parsed parse(std::vector<std::string> words);

 private:
  /// Gives CLI11 the end of --help.
  void show_footer();

  std::unique_ptr<CLI::App> own_;  // of the root
  CLI::App* inner_;
  std::string about_;
  Footer footer_;
  std::deque<Command> subcommands_;
  std::deque<Option> options_;
};

}  // namespace drywell::tools
