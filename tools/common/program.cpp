#include "tools/common/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>
#include <vector>

#include "drywell/core/terminal.h"
#include "drywell/core/text.h"
#include "launch/unavailable.h"
#include "tools/common/build_description.h"
#include "tools/common/other_program.h"
#include "tools/common/processor.h"
#include "tools/common/terminal_width.h"

namespace drywell::tools {
namespace {

constexpr CommandRow kCommands[] = {
#define COMMAND(ID_, NAME_, PROGRAM_, SUMMARY_, ABOUT_, ...) {NAME_, #PROGRAM_, SUMMARY_, ABOUT_, {__VA_ARGS__}},
#include "tools/common/commands.inc"
#undef COMMAND
};

/// A row of subcommands.inc.
struct SubcommandRow {
  std::string_view command, name;
  const char* summary;
  Examples examples;
};
constexpr SubcommandRow kSubcommands[] = {
#define SUBCOMMAND(COMMAND_, NAME_, SUMMARY_, ...) {COMMAND_, NAME_, SUMMARY_, {__VA_ARGS__}},
#include "tools/common/subcommands.inc"
#undef SUBCOMMAND
};

/// A row has two examples at least.
template <class Row>
constexpr bool have_examples(std::span<const Row> rows) {
  return std::all_of(rows.begin(), rows.end(), [](const Row& r) { return r.examples[0] != nullptr && r.examples[1] != nullptr; });
}
static_assert(have_examples(std::span<const CommandRow>(kCommands)) && have_examples(std::span<const SubcommandRow>(kSubcommands)));

constexpr const char* kExitCodes =
    "Exit codes: 0 fine, 1 verification failed or a hazard was found, 2 usage,\n"
    "3 bad input, 4 not modelled, 5 the kernel faulted or deadlocked,\n"
    "6 no GPU or CUDA toolkit, 70 a bug in Drywell.";

void say(const CommandContext& c, std::string_view text) {
  print_error(fmt::format("{} {}\n", paint("drywell:", Colour::red, c.colour_err), text));
}

/// Codes E43xx are about the command line.
ExitCode code_of(const InputError& e) {
  if (code_kind(e.code()) == 'F') return ExitCode::guest_fault;  // a bound that ended a run
  return code_name(e.code()).starts_with("E43") ? ExitCode::usage : ExitCode::bad_input;
}

ExitCode out_of_memory(const CommandContext& c) {
  say(c, InputError(Code::E4105, "out of host memory", "smaller sizes need less: the buffers of a run, of --verify and of --save, and the records of --check for each CTA are held whole").what());
  return ExitCode::bad_input;
}

/// The command that the words choose, with the names of its options.
CommandText chosen(const Command& app, std::span<char*> words) {
  CommandText at = app.text();
  for (const char* word : words) {
    const auto sub = std::find_if(at.subcommands.begin(), at.subcommands.end(), [&](const CommandText& s) { return s.name == word; });
    if (sub == at.subcommands.end()) break;
    at = CommandText(*sub);
  }
  return at;
}

/// A kernel's parameters and a command's options look alike: the option that was meant by the word that an error quotes, as a hint, or "".
std::string misspelt_option(const Command& app, std::span<char*> words, std::string_view error) {
  const CommandText command = chosen(app, words);
  std::vector<std::string_view> names;
  for (const OptionText& o : command.options)
    for (const std::string& n : o.names)
      if (n.starts_with("--")) names.push_back(std::string_view(n).substr(2));
  for (const std::string_view word : words) {
    const std::string_view name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || error.find("'" + std::string(name)) == std::string_view::npos) continue;
    if (const std::string_view near = nearest(name.substr(2), names); !near.empty() && near != name.substr(2)) return fmt::format("\n    hint: did you mean the option '--{}'?", near);
  }
  return {};
}

ExitCode guarded(const CommandContext& c, const Command& app, std::span<char*> words, const std::function<ExitCode()>& action) {
  try {
    return action();
  } catch (const UsageError& e) {
    say(c, e.what() + misspelt_option(app, words, e.what()));
    return ExitCode::usage;
  } catch (const InputError& e) {
    say(c, e.what() + (code_of(e) == ExitCode::usage ? misspelt_option(app, words, e.what()) : ""));
    return code_of(e);
  } catch (const Unsupported& e) {
    say(c, e.what());
    return ExitCode::unsupported;
  } catch (const kernels::Unavailable& e) {
    say(c, e.what());
    return ExitCode::unavailable;
  } catch (const Error& e) {
    say(c, e.what());
    return ExitCode::internal;
  } catch (const std::bad_alloc&) {
    return out_of_memory(c);
  } catch (const std::length_error&) {  // more elements than memory can address
    return out_of_memory(c);
  } catch (const std::exception& e) {
    say(c, fmt::format("internal error (a bug in Drywell, please report it): {}", e.what()));
    return ExitCode::internal;
  }
}

/// The command lines of a row's examples.
std::vector<std::string> lines_of(const std::string& path, const Examples& examples) {
  std::vector<std::string> lines;
  for (const char* words : examples) {
    if (words != nullptr) lines.push_back(fmt::format("drywell {}{}{}", path, *words == 0 ? "" : " ", words));
  }
  return lines;
}

/// Prints the error of a command line, with the nearest command if one was misspelt.
/// CLI11's sentences about an option, in ours: "The following argument was not expected: --x", "Could not convert: --n = x".
std::string own_words(const std::string& error) {
  const size_t colon = error.find(": ");
  const std::string rest = colon == std::string::npos ? "" : error.substr(colon + 2);
  if (const size_t equals = rest.find(" = "); error.starts_with("Could not convert") && equals != std::string::npos)
    return fmt::format("{}: '{}' is not a number", rest.substr(0, equals), rest.substr(equals + 3));
  const size_t option = rest.find("--", rest.starts_with("-- ") ? 2 : 0);
  if (!error.starts_with("The following argument") || option == std::string::npos) return error;
  const std::string word = rest.substr(option, rest.find(' ', option) - option);
  return fmt::format("there is no option '{}'", word.substr(0, word.find('=')));
}

ExitCode usage(const Command& app, const CommandContext& c, const std::string& error, int argc, char** argv) {
  const std::vector<std::string> names = app.subcommands();
  const std::vector<std::string_view> views(names.begin(), names.end());
  const bool known = argc > 1 && std::find(views.begin(), views.end(), argv[1]) != views.end();
  if (argc > 1 && !known && argv[1][0] != '-') {
    const std::string guess = did_you_mean(argv[1], views);
    say(c, fmt::format("error E4300: no command '{}'\n    hint: {}commands: {}", argv[1], guess.empty() ? "" : guess + " ",
                       join(views)));
  } else {
    const std::string said = own_words(error), near = misspelt_option(app, {argv + 1, static_cast<size_t>(argc - 1)}, said);
    say(c, fmt::format("error E4300: {}{}\n    hint: drywell {}--help", said, near, known ? std::string(argv[1]) + " " : ""));
  }
  return ExitCode::usage;
}

const OwnCommand* find_own(const std::vector<OwnCommand>& own, std::string_view name) {
  const auto it = std::find_if(own.begin(), own.end(), [&](const OwnCommand& o) { return o.name == name; });
  return it == own.end() ? nullptr : &*it;
}

/// Adds every subcommand; of those in other programs only the line of --help.
void add_all(Command& app, CommandContext& context, const std::vector<OwnCommand>& own) {
  for (const CommandRow& row : kCommands) {
    const OwnCommand* mine = find_own(own, row.name);
    mine != nullptr ? mine->add(app, context) : void(add_command(app, row.name));
  }
}

/// The row of a subcommand in another program that the words begin with, or nothing.
const CommandRow* find_other(const std::vector<OwnCommand>& own, int argc, char** argv) {
  if (argc < 2 || find_own(own, argv[1]) != nullptr) return nullptr;
  return find_command(argv[1]);
}

ExitCode parse_and_act(Command& app, CommandContext& context, int argc, char** argv) {
  // Else `drywell fly --help` is the help of `drywell`.
  if (argv[1][0] != '-' && find_command(argv[1]) == nullptr) return usage(app, context, {}, argc, argv);
  const Command::Parsed parsed = app.parse(argc, argv);
  if (parsed.answered) return ExitCode::ok;
  if (!parsed.error.empty()) return usage(app, context, parsed.error, argc, argv);
  DRYWELL_CHECK(context.action != nullptr, "a subcommand set no action");
  return context.action();
}

/// An earlier write to standard output may have failed, too.
int flushed(const CommandContext& context, ExitCode code) {
  const bool full = std::fflush(stdout) != 0;
  const std::string why = full ? fmt::format(": {}", std::strerror(errno)) : "";
  if ((!full && std::ferror(stdout) == 0) || code != ExitCode::ok) return static_cast<int>(code);
  say(context, fmt::format("error E4008: standard output cannot be written{}", why));
  return static_cast<int>(ExitCode::bad_input);
}

}  // namespace

std::span<const CommandRow> command_rows() { return kCommands; }

const CommandRow* find_command(std::string_view name) {
  const auto* it = std::find_if(std::begin(kCommands), std::end(kCommands), [&](const CommandRow& r) { return r.name == name; });
  return it == std::end(kCommands) ? nullptr : it;
}

std::vector<std::string> driver_names() { return {"eager", "lazy", "shuffled:", "parted:", "timed"}; }

Command* add_command(Command& app, std::string_view name) {
  const CommandRow* row = find_command(name);
  DRYWELL_CHECK(row != nullptr, "a subcommand that the table does not have");
  Command* sub = app.add_subcommand(std::string(name), row->summary);
  sub->about(row->about);
  sub->examples(lines_of(sub->name(), row->examples));
  return sub;
}

Command* add_subcommand(Command& command, std::string_view name) {
  const std::string of = command.name();
  const auto* row = std::find_if(std::begin(kSubcommands), std::end(kSubcommands), [&](const SubcommandRow& r) { return r.command == of && r.name == name; });
  DRYWELL_CHECK(row != std::end(kSubcommands), "a subcommand that the table does not have");
  Command* sub = command.add_subcommand(std::string(name), row->summary);
  sub->examples(lines_of(of + " " + sub->name(), row->examples));
  return sub;
}

/// An output would take the number of a standard descriptor that the caller has closed, and messages would go into it. In its place
/// is one that cannot be used either.
static void occupy_closed_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int run_commands(const std::vector<OwnCommand>& own, int argc, char** argv) {
  require_processor();
  occupy_closed_descriptors();
  CommandContext context;
  context.program = find_command(own.front().name)->program;
  context.colour_out = wants_colour(STDOUT_FILENO);
  context.colour_err = wants_colour(STDERR_FILENO);
  Command app("Dry-runs Blackwell tensor-core kernels on a CPU: values, cycles and hazards.", "drywell");
  app.set_version_flag("--version", fmt::format("drywell {} ({})", DRYWELL_VERSION, build_description()));
  app.require_subcommand(1);
  app.about(
      "Executes PTX kernels for Hopper and Blackwell GPUs on a CPU, instruction by instruction: their values bit for bit, predicted cycles, and "
      "reports of missing waits and fences. No GPU is needed.");
  app.exit_codes(kExitCodes);
  add_all(app, context, own);
  app.examples({"drywell list", "drywell run fused-rht --m=512 --n=256 --verify"});
  if (argc < 2) {
    fmt::print(stderr, "{}", fitted(app.help(), terminal_columns()));
    return static_cast<int>(ExitCode::usage);
  }
  return flushed(context, guarded(context, app, std::span(argv, static_cast<size_t>(argc)).subspan(1), [&] {
                   if (const CommandRow* row = find_other(own, argc, argv)) start_other_program(row->program, row->name, argv);
                   return parse_and_act(app, context, argc, argv);
                 }));
}

UsageError::UsageError(std::string message, std::string_view help) : Error(Code::E4300, std::move(message)) {
  what_ = "error E4300: " + what_;
  if (!help.empty()) what_ += fmt::format("\n    hint: drywell {} --help", help);
}

}  // namespace drywell::tools
