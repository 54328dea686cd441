// The command line, as the commands see it: CLI11's vocabulary without its headers, which take longer to compile than any
// command. Names of types in --help (UINT, TEXT) are CLI11's.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace drywell::tools {

class Option {
 public:
  explicit Option(CLI::Option* inner) : inner_(inner) {}
  Option* required();
  /// --help shows the value the target has now.
  Option* capture_default_str();
  /// false: one value at a time, so that positional words may follow.
  Option* allow_extra_args(bool allowed);
  Option* group(const std::string& heading);
  Option* excludes(const std::string& other);
  Option* one_of(std::vector<std::string> values);
  Option* between(int least, int greatest);
  /// `test` gives a message for a value it refuses, else "".
  Option* check(std::function<std::string(const std::string&)> test);

 private:
  CLI::Option* inner_;
};


/// `drywell` or one of its subcommands. Options write to variables that must outlive the parse.
class Command {
 public:
  Command(const std::string& description, const std::string& name);
  explicit Command(CLI::App* inner);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& description);
  /// T: what command_line.cpp instantiates it for; a missing one is an error of the linker.
  template <class T>
  Option* add_option(const std::string& name, T& target, const std::string& description);
  template <class T>
  Option* add_flag(const std::string& name, T& target, const std::string& description);
  void callback(std::function<void()> action);
  void footer(const std::string& text);
  void require_subcommand(int count);
  /// Words that no option takes are kept: remaining().
  void allow_extras();
  /// The first word that is no option ends the options.
  void prefix_command();
  std::vector<std::string> remaining() const;
  /// No words: no such flag.
  void set_help_flag(const std::string& names = {}, const std::string& description = {});
  void set_version_flag(const std::string& names, const std::string& version);
  std::string help() const;
  std::vector<std::string> subcommands() const;

  /// What became of a command line.
  struct Parsed {
    bool answered = false;  // --help or --version: it has been printed
    std::string error;      // empty: it fits
  };
  Parsed parse(int argc, char** argv);
  /// Without the program's name. --help is no answer here but an error.
  Parsed parse(std::vector<std::string> words);

 private:
  std::unique_ptr<CLI::App> own_;  // of the root
  CLI::App* inner_;
  std::deque<Command> subcommands_;
  std::deque<Option> options_;
};

}  // namespace drywell::tools
