// Every --help ends with two examples, and they run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "drywell/core/files.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using test::Finished;
using testing::HasSubstr;

const std::vector<std::string> kCommands = {
#define COMMAND(ID_, NAME_, PROGRAM_, SUMMARY_, ...) NAME_,
#include "tools/common/commands.inc"
#undef COMMAND
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// Returns the last two lines of the command's --help.
std::vector<std::string> examples_of(const std::string& command) {
  const Finished help = test::drywell({command, "--help"});
  EXPECT_EQ(help.exit_code, 0) << help.err;
  const std::vector<std::string> lines = lines_of(help.out);
  return lines.size() < 3 ? std::vector<std::string>{} : std::vector<std::string>(lines.end() - 2, lines.end());
}

/// Runs a line that begins with "drywell" in the folder; nothing is on standard input.
Finished run_in(const std::string& folder, const std::string& line) {
  return test::run_process("/bin/sh", {"-c", "cd " + folder + " && " + test::binary_path() + line.substr(line.find("drywell") + 7) + " < /dev/null"});
}

TEST(LaunchFile, NamesItsModuleRelativeToItself) {
  const Finished f = run_in(test::source_path("."), "drywell run examples/ptx/axpy.toml");
  EXPECT_EQ(f.exit_code, 0) << f.err;
}

class Help : public testing::TestWithParam<std::string> {};

TEST_P(Help, EndsWithTwoExamplesThatRun) {
  const std::vector<std::string> examples = examples_of(GetParam());
  ASSERT_EQ(examples.size(), 2u);
  test::TemporaryDirectory folder;
  write_file_atomically(folder.file("gemm.cu"), std::string_view("__global__ void k() {}\nint main() { k<<<1, 32>>>(); return cudaDeviceSynchronize(); }\n"));
  write_file_atomically(folder.file("script.py"), std::string_view("print(1)\n"));
  for (const char* name : {"kernel.ptx", "fused_rht.ptx"}) {
    write_file_atomically(folder.file(name), std::string_view(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"));
  }
  for (const char* name : {"before.json", "after.json"}) write_file_atomically(folder.file(name), std::string_view(R"({"kernel": "k", "cycles": 100})"));
  const bool needs_program = GetParam() == "exec";
  if (needs_program && run_in(folder.path(), "drywell nvcc -o gemm gemm.cu").exit_code == 6) GTEST_SKIP() << "no nvcc";
  for (const std::string& line : examples) {
    ASSERT_THAT(line, testing::StartsWith("  drywell " + GetParam()));
    const Finished f = run_in(folder.path(), line);
    if (f.exit_code == 6) GTEST_SKIP() << line << ": " << f.err;
    EXPECT_EQ(f.exit_code, 0) << line << "\n" << f.out << f.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, Help, testing::ValuesIn(kCommands), [](const auto& i) {
  std::string name = i.param;
  std::erase(name, '-');
  return name;
});

TEST(Help, ListsEveryCommand) {
  const Finished f = test::drywell({"--help"});
  for (const std::string& command : kCommands) EXPECT_THAT(f.out, HasSubstr("\n  " + command + " "));
}

TEST(Help, OfNvccIsItsOwn) { EXPECT_THAT(test::drywell({"nvcc", "--help"}).out, HasSubstr("Usage: drywell nvcc")); }

TEST(Help, TheVersionSaysRevisionBuildTypeAndCompiler) {
  const Finished f = test::drywell({"--version"});
  EXPECT_THAT(f.out, testing::MatchesRegex("drywell [0-9.]+ \\(([0-9a-f]+\\+?|unknown revision), [A-Za-z]+, (g\\+\\+|clang) .*\\)\n"));
}

// A Core 2, as qemu makes one, has no SSE4.2: every program says so before it comes to an instruction of it.
TEST(Processor, AnOldOneGetsASentence) {
  const std::string qemu = "/usr/bin/qemu-x86_64";
  if (::access(qemu.c_str(), X_OK) != 0) GTEST_SKIP() << "no qemu-x86_64 (package qemu-user)";
  const std::string folder = test::binary_path().substr(0, test::binary_path().rfind('/') + 1);
  for (const char* program : {"drywell", "drywell-inspect", "drywell-cuda"}) {
    const Finished f = test::run_process(qemu, {"-cpu", "core2duo", folder + program, "--version"});
    EXPECT_EQ(f.exit_code, 6) << program;
    EXPECT_EQ(f.out, "");
    EXPECT_THAT(f.err, HasSubstr("drywell: this processor has no SSE4.1; Drywell's programs are compiled for x86-64-v2")) << program;
  }
  EXPECT_EQ(test::run_process(qemu, {"-cpu", "Nehalem", folder + "drywell", "--version"}).exit_code, 0);
}

TEST(Help, TheListOfKernelsFitsAScreen) {
  const Finished f = test::drywell({"list"});
  EXPECT_LE(lines_of(f.out).size(), 24u);
  for (const std::string& line : lines_of(f.out)) EXPECT_LE(line.size(), 80u) << line;
}

// What a list leaves out is said of one kernel.
TEST(Help, OfAKernelIsWhole) {
  EXPECT_THAT(test::drywell({"list"}).out, testing::Not(HasSubstr("TransformerEngine's fused kernel")));
  EXPECT_THAT(test::drywell({"list", "fused-rht"}).out, HasSubstr("TransformerEngine's fused kernel"));
}

}  // namespace
}  // namespace drywell
