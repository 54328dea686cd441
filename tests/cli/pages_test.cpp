// Manual pages and completions say what --help says, and the shells take them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <regex>
#include <sstream>

#include "drywell/core/files.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using test::Finished;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kCommands = {
#define COMMAND(ID_, NAME_, PROGRAM_, SUMMARY_, ...) NAME_,
#include "tools/common/commands.inc"
#undef COMMAND
};

std::string page(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"pages"};
  all.insert(all.end(), words.begin(), words.end());
  const Finished f = test::drywell(all);
  EXPECT_EQ(f.exit_code, 0) << f.err;
  return f.out;
}

/// Returns the program's path, or nothing.
std::string installed(const std::string& program) {
  std::istringstream path(std::getenv("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return folder + "/" + program;
  }
  return {};
}

/// The long options that --help of the command lists, one at the beginning of a line.
std::vector<std::string> options_of_help(const std::string& command) {
  const Finished help = test::drywell({command, "--help"});
  const std::regex option("\n  (?:-[a-zA-Z],)?(--[a-z-]+)");
  std::vector<std::string> names;
  for (std::sregex_iterator i(help.out.begin(), help.out.end(), option), end; i != end; ++i)
    names.push_back((*i)[1]);
  return names;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// True if each text stands behind the one before it.
bool in_order(const std::string& text, const std::vector<std::string>& parts) {
  size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    if (at == std::string::npos) return false;
    at += part.size();
  }
  return true;
}

TEST(Pages, AManualPageHasEveryOptionOfHelp) {
  size_t options = 0;
  for (const std::string& command : kCommands) {
    const std::string text = replaced(page({"man", command}), "\\-", "-");
    EXPECT_TRUE(in_order(text, {".SH NAME\ndrywell-" + command + " -", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH EXAMPLES", ".SH OPTIONS", ".SH EXIT STATUS"})) << text;
    for (const std::string& name : options_of_help(command)) {
      EXPECT_THAT(text, HasSubstr("\\fB" + name + "\\fR")) << command;
      ++options;
    }
  }
  EXPECT_GT(options, 150u);
}

TEST(Pages, AManualPageDescribesTheCommandBeforeItsSubcommandsOptions) {
  const std::string text = replaced(page({"man", "device"}), "\\-", "-");
  EXPECT_TRUE(in_order(text, {".SH SYNOPSIS", ".SH DESCRIPTION", ".SH SUBCOMMANDS", "\n\\fBrun\\fR\nRun on the GPU", "\n\\fBsurvey\\fR\n", ".SH EXAMPLES\n", "drywell device run tma-copy",
                              ".SH OPTIONS\n", ".SH drywell device run\n", "\\fB--clock\\fR", "Examples:\n", "drywell device run tma-copy", ".SH drywell device survey\n", "Examples:\n",
                              "drywell device survey b200.survey"}))
      << text;
}

TEST(Pages, ThePageOfAllNamesEveryCommand) {
  const std::string text = replaced(page({"man"}), "\\-", "-");
  for (const std::string& command : kCommands)
    EXPECT_THAT(text, HasSubstr("\\fBdrywell-" + command + "\\fR(1)"));
}

TEST(Pages, TheFormatterOfManualPagesWarnsOfNothing) {
  const std::string groff = installed("groff");
  if (groff.empty()) GTEST_SKIP() << "no groff";
  const test::TemporaryDirectory folder;
  for (const std::string& command : kCommands) {
    write_file_atomically(folder.file("page.1"), std::string_view(page({"man", command})));
    const Finished f = test::run_process(groff, {"-man", "-Tutf8", "-ww", "-z", folder.file("page.1")});
    EXPECT_EQ(f.exit_code, 0);
    EXPECT_EQ(f.err, "") << command;
  }
}

TEST(Pages, OfACommandThatIsNot) {
  EXPECT_EQ(test::drywell({"pages", "man", "fly"}).exit_code, 2);
  EXPECT_EQ(test::drywell({"pages", "csh"}).exit_code, 2);
  EXPECT_EQ(test::drywell({"pages", "bash", "run"}).exit_code, 2);
}

/// Runs a script of a shell that has the shell's completion in $1 and the command's folder in its PATH.
Finished in_shell(const std::string& shell, const std::vector<std::string>& flags,
                  const std::string& script) {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder.file("completion"), std::string_view(page({shell})));
  write_file_atomically(folder.file("script"), std::string_view(script));
  const std::string tools = test::binary_path().substr(0, test::binary_path().rfind('/'));
  std::vector<std::string> words = {"PATH=" + tools + ":" + std::getenv("PATH"), "HOME=" + folder.path(),
                                    installed(shell)};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {folder.file("script"), folder.file("completion")});
  return test::run_process("/usr/bin/env", words);
}

/// What bash offers for the last of the words; "=" is a word of its own there.
std::string bash_offers(const std::string& words) {
  const Finished f =
      in_shell("bash", {"--norc"},
               "source \"$1\"\nCOMP_WORDS=(" + words +
                   ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_drywell\nprintf '%s ' \"${COMPREPLY[@]}\"\n");
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(f.err, "");
  return " " + f.out;
}

TEST(Pages, BashCompletes) {
  if (installed("bash").empty()) GTEST_SKIP() << "no bash";
  EXPECT_EQ(bash_offers("drywell conf"), " conformance ");
  EXPECT_EQ(bash_offers("drywell run --veri"), " --verify ");
  EXPECT_EQ(bash_offers("drywell run --driver = ti"), " timed ");
  EXPECT_EQ(bash_offers("drywell run fused-rht --trace-profile ''"), " arch cycle ");
  EXPECT_THAT(bash_offers("drywell run gemm-bl"),
              AllOf(HasSubstr(" gemm-blockscaled "), HasSubstr(" gemm-blockwise "), Not(HasSubstr("fused"))));
  EXPECT_EQ(bash_offers("drywell desc z"), " zero-mask ");
  EXPECT_EQ(bash_offers("drywell desc instr --cta"), " --cta-group ");
  EXPECT_EQ(bash_offers("drywell pages f"), " fish ");
  EXPECT_EQ(bash_offers("drywell device su"), " survey ");
  EXPECT_EQ(bash_offers("drywell device survey --sim"), " --simulate ");
  EXPECT_EQ(bash_offers("drywell run fused-rht --rou"), " --rounding= ");
  EXPECT_EQ(bash_offers("drywell run fused-rht --rounding = st"), " stochastic ");
  EXPECT_EQ(bash_offers("drywell ptx emit tma-copy --sw"), " --swizzle= ");
  EXPECT_EQ(bash_offers("drywell list fused-rht --rou").find("rounding"), std::string::npos);
}

TEST(Pages, FishCompletes) {
  if (installed("fish").empty()) GTEST_SKIP() << "no fish";
  const auto offers = [](const std::string& line) {
    const Finished f = in_shell("fish", {"--no-config"}, "source $argv[1]\ncomplete -C '" + line + "'\n");
    EXPECT_EQ(f.exit_code, 0) << f.err;
    return f.out;
  };
  EXPECT_THAT(offers("drywell conf"), testing::StartsWith("conformance\t"));
  EXPECT_THAT(offers("drywell run --veri"), testing::StartsWith("--verify\t"));
  EXPECT_THAT(offers("drywell run --driver=ti"), HasSubstr("timed"));
  EXPECT_THAT(offers("drywell run fused"), HasSubstr("fused-rht"));
  EXPECT_THAT(offers("drywell desc instr --cta"), HasSubstr("--cta-group"));
  EXPECT_THAT(offers("drywell device survey --sim"), HasSubstr("--simulate"));
  EXPECT_THAT(offers("drywell run fused-rht --rounding=st"), HasSubstr("--rounding=stochastic"));
}

// What the completion gives zsh's own functions, which stand-ins print.
TEST(Pages, ZshIsGivenTheOptions) {
  if (installed("zsh").empty()) GTEST_SKIP() << "no zsh";
  const auto given = [](const std::string& words, int current) {
    const Finished f = in_shell("zsh", {"-f"},
                                "_arguments() { print -rl -- \"$@\" }\n_describe() { print -rl -- ${(P)2} "
                                "}\n_files() { : }\nwords=(" +
                                    words + ")\nCURRENT=" + std::to_string(current) + "\nsource $1\n");
    EXPECT_EQ(f.exit_code, 0) << f.err;
    EXPECT_EQ(f.err, "");
    return f.out;
  };
  EXPECT_THAT(given("drywell ''", 2), HasSubstr("\nconformance:"));
  EXPECT_THAT(given("drywell run ''", 3),
              AllOf(HasSubstr("--verify[compare every value"), HasSubstr(":(eager lazy shuffled: parted: timed)")));
  EXPECT_THAT(given("drywell desc zero-mask ''", 4), HasSubstr("--help["));
  EXPECT_THAT(given("drywell run fused-rht ''", 4), AllOf(HasSubstr("\n--rounding=:value:(nearest-even stochastic)\n"), HasSubstr("\n--m=:value:_files\n"),
                                                          HasSubstr("\n--fences=-::value:(false)\n")));
  EXPECT_THAT(given("drywell device survey ''", 4), HasSubstr("--simulate=["));
  EXPECT_THAT(given("drywell pages ''", 3), HasSubstr(":TEXT:(man bash zsh fish)"));
  EXPECT_THAT(given("drywell bench-hw ''", 3), HasSubstr("--filter=["));
}

}  // namespace
}  // namespace drywell
