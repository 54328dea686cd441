#include "tools/common/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

#include "drywell/core/terminal.h"
#include "tools/common/terminal_width.h"

namespace drywell::tools {
namespace {

template <class T>
constexpr bool kCounts = std::is_same_v<T, unsigned> || std::is_same_v<T, uint64_t> || std::is_same_v<T, std::optional<uint64_t>>;

template <class T>
constexpr bool kIsSigned = std::is_same_v<T, int64_t> || std::is_same_v<T, std::optional<int64_t>>;

/// Rejects a sign: CLI11 reads -1 as the largest number; and a number beyond 64 bits, which CLI11 reads as the largest too.
std::string no_sign(const std::string& value) {
  if (value.starts_with('-')) return fmt::format("{} is not a number from 0 up", value);
  errno = 0;
  std::strtoull(value.c_str(), nullptr, 0);
  return errno == ERANGE ? fmt::format("{} does not fit in 64 bits", value) : "";
}

std::string fits_signed(const std::string& value) {
  errno = 0;
  std::strtoll(value.c_str(), nullptr, 0);
  return errno == ERANGE ? fmt::format("{} does not fit in 64 bits", value) : "";
}

/// Splits CLI11's list of names: "-o,--out", "--check{full}".
void set_names(OptionText& text, const CLI::Option& o) {
  std::istringstream in(o.get_positional() ? o.get_name(true) : o.get_name(false, true));
  for (std::string name; std::getline(in, name, ',');) {
    const size_t brace = name.find('{');
    if (brace != std::string::npos) text.implied = name.substr(brace + 1, name.size() - brace - 2);
    text.names.push_back(name.substr(0, brace));
  }
}

OptionText text_of(const CLI::Option& o) {
  OptionText text;
  text.positional = o.get_positional();
  set_names(text, o);
  if (text.positional || o.get_type_size() != 0) text.value = o.get_type_name().substr(0, o.get_type_name().find_first_of(": "));
  text.about = o.get_description();
  text.default_value = text.value.empty() ? "" : o.get_default_str();
  text.heading = o.get_group();
  text.required = o.get_required();
  text.repeated = o.get_expected_max() > 1;
  return text;
}

}  // namespace

std::string Footer::text() const {
  std::string out;
  for (const std::string& part : {notes, exit_codes}) {
    if (!part.empty()) out += fmt::format("{}{}", out.empty() ? "" : "\n\n", part);
  }
  if (!examples.empty()) out += fmt::format("\n\nExamples:\n  {}", fmt::join(examples, "\n  "));
  return out;
}

Option* Option::required() {
  inner_->required();
  return this;
}
Option* Option::capture_default_str() {
  inner_->capture_default_str();
  return this;
}
Option* Option::allow_extra_args(bool allowed) {
  inner_->allow_extra_args(allowed);
  return this;
}
Option* Option::group(const std::string& heading) {
  inner_->group(heading);
  return this;
}
Option* Option::excludes(const std::string& other) {
  inner_->excludes(other);
  return this;
}
Option* Option::one_of(std::vector<std::string> values) {
  inner_->check(CLI::IsMember(values));
  only_values_ = true;
  return suggest(std::move(values));
}
Option* Option::suggest(std::vector<std::string> values) {
  values_ = std::move(values);
  return this;
}
Option* Option::between(int least, int greatest) {
  inner_->check(CLI::Range(least, greatest));
  return this;
}
Option* Option::check(std::function<std::string(const std::string&)> test) {
  inner_->check(std::move(test));
  return this;
}

OptionText Option::text() const {
  OptionText text = text_of(*inner_);
  text.values = values_;
  text.only_values = only_values_;
  return text;
}

Command::Command(const std::string& description, const std::string& name)
    : own_(std::make_unique<CLI::App>(description, name)), inner_(own_.get()) {}
Command::Command(CLI::App* inner, Footer footer) : inner_(inner), footer_(std::move(footer)) { show_footer(); }
Command::~Command() = default;

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  return &subcommands_.emplace_back(inner_->add_subcommand(name, description), Footer{footer_.notes, footer_.exit_codes, {}});
}

template <class T>
Option* Command::add_option(const std::string& name, T& target, const std::string& description) {
  CLI::Option* o = inner_->add_option(name, target, description);
  if constexpr (kCounts<T>) o->check(CLI::Validator(no_sign, ""));
  if constexpr (kIsSigned<T>) o->check(CLI::Validator(fits_signed, ""));
  return &options_.emplace_back(o);
}
template Option* Command::add_option(const std::string&, std::string&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option* Command::add_option(const std::string&, unsigned&, const std::string&);
template Option* Command::add_option(const std::string&, int64_t&, const std::string&);
template Option* Command::add_option(const std::string&, uint64_t&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<int64_t>&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<uint64_t>&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<double>&, const std::string&);

template <class T>
Option* Command::add_flag(const std::string& name, T& target, const std::string& description) {
  return &options_.emplace_back(inner_->add_flag(name, target, description));
}
template Option* Command::add_flag(const std::string&, bool&, const std::string&);
template Option* Command::add_flag(const std::string&, std::string&, const std::string&);

void Command::callback(std::function<void()> action) { inner_->callback(std::move(action)); }
void Command::about(const std::string& text) { about_ = text; }
void Command::notes(const std::string& text) {
  footer_.notes = text;
  show_footer();
}
void Command::exit_codes(const std::string& text) {
  footer_.exit_codes = text;
  show_footer();
}
void Command::examples(std::vector<std::string> lines) {
  footer_.examples = std::move(lines);
  show_footer();
}
void Command::show_footer() { inner_->footer(footer_.text()); }
void Command::require_subcommand(int count) { inner_->require_subcommand(count); }
void Command::allow_extras() { inner_->allow_extras(); }
void Command::prefix_command() { inner_->prefix_command(); }
std::vector<std::string> Command::remaining() const { return inner_->remaining(); }
void Command::set_help_flag(const std::string& names, const std::string& description) { inner_->set_help_flag(names, description); }
void Command::set_version_flag(const std::string& names, const std::string& version) { inner_->set_version_flag(names, version); }
std::string Command::help() const {
  const CLI::App* parent = inner_->get_parent();
  return inner_->help(parent == nullptr ? "" : parent->get_name());
}

std::string Command::name() const { return inner_->get_name(); }

std::vector<std::string> Command::subcommands() const {
  std::vector<std::string> names;
  for (const CLI::App* s : inner_->get_subcommands([](const CLI::App*) { return true; })) names.push_back(s->get_name());
  return names;
}

CommandText Command::text() const {
  CommandText text{inner_->get_name(), inner_->get_description(), about_, footer_, {}, {}, inner_->get_allow_extras()};
  if (const CLI::Option* help = inner_->get_help_ptr()) text.options.push_back(text_of(*help));
  for (const Option& o : options_) text.options.push_back(o.text());
  for (const Command& c : subcommands_) text.subcommands.push_back(c.text());
  return text;
}

Command::Parsed Command::parse(int argc, char** argv) {
  try {
    inner_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) return {false, e.what()};
    std::ostringstream out;
    inner_->exit(e, out, out);  // writes --help and --version
    print(fitted(out.str(), terminal_columns()));
    return {true, {}};
  }
  return {};
}

Command::Parsed Command::parse(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // CLI11 reads the words from the back
  try {
    inner_->parse(words);
  } catch (const CLI::ParseError& e) {
    return {false, e.what()};
  }
  return {};
}

}  // namespace drywell::tools
