// Every --help ends with two examples, and they run: of all commands, of their subcommands, and of `run` with each kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "drywell/core/files.h"
#include "kernels/registry.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using test::Finished;
using testing::HasSubstr;

/// What stands before --help, and the examples of its row without "drywell"; no examples: they are made of a kernel's parameters.
struct Page {
  std::vector<std::string> path;
  std::vector<std::string> examples;
};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

void PrintTo(const Page& page, std::ostream* out) { *out << joined(page.path); }

const std::vector<std::string> kCommands = {
#define COMMAND(ID_, NAME_, PROGRAM_, SUMMARY_, ABOUT_, ...) NAME_,
#include "tools/common/commands.inc"
#undef COMMAND
};

const std::vector<Page> kRows = {
#define COMMAND(ID_, NAME_, PROGRAM_, SUMMARY_, ABOUT_, ...) {{NAME_}, {__VA_ARGS__}},
#include "tools/common/commands.inc"
#undef COMMAND
#define SUBCOMMAND(COMMAND_, NAME_, SUMMARY_, ...) {{COMMAND_, NAME_}, {__VA_ARGS__}},
#include "tools/common/subcommands.inc"
#undef SUBCOMMAND
};

/// The pages of --help: of `drywell`, of each row, and of `run` with each kernel.
std::vector<Page> all_pages() {
  std::vector<Page> pages = {{{}, {"list", "run fused-rht --m=512 --n=256 --verify"}}};
  pages.insert(pages.end(), kRows.begin(), kRows.end());
  for (const kernels::Kernel& k : kernels::all_kernels()) pages.push_back({{"run", std::string(k.name)}, {}});
  return pages;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string help_of(std::vector<std::string> path) {
  path.push_back("--help");
  const Finished help = test::drywell(path);
  EXPECT_EQ(help.exit_code, 0) << help.err;
  return help.out;
}

/// Returns the command lines at the end of --help.
std::vector<std::string> examples_of(const std::string& help) {
  const std::vector<std::string> lines = lines_of(help);
  const auto heading = std::find(lines.begin(), lines.end(), "Examples:");
  std::vector<std::string> examples(heading == lines.end() ? heading : heading + 1, lines.end());
  for (std::string& e : examples) e = e.substr(std::min<size_t>(2, e.size()));
  return examples;
}

/// Runs a line of the shell in the folder, where `drywell` is the command; nothing is on standard input.
Finished run_in(const std::string& folder, const std::string& line) {
  const std::string tools = test::binary_path().substr(0, test::binary_path().rfind('/'));
  return test::run_process("/bin/sh", {"-c", "cd " + folder + " && PATH=" + tools + ":$PATH\n{ " + line + "\n} < /dev/null"});
}

TEST(LaunchFile, NamesItsModuleRelativeToItself) {
  const Finished f = run_in(test::source_path("."), "drywell run examples/ptx/axpy.toml");
  EXPECT_EQ(f.exit_code, 0) << f.err;
}

/// How the shell makes a file that an example reads, if the example has `word`.
struct Made {
  std::string_view word, commands;
};
constexpr Made kFiles[] = {
    {"gemm.cu", "echo '__global__ void k() {} int main() { k<<<1, 32>>>(); return cudaDeviceSynchronize(); }' > gemm.cu"},
    {"./gemm", "echo '__global__ void k() {} int main() { k<<<1, 32>>>(); return cudaDeviceSynchronize(); }' > gemm.cu && drywell nvcc -o gemm gemm.cu"},
    {"script.py", "echo 'print(1)' > script.py"},
    {"kernel.ptx", "drywell ptx emit tma-copy -o kernel.ptx"},
    {"fused_rht.ptx", "drywell ptx emit fused-rht -o fused_rht.ptx"},
    {"before.json", "for f in before after; do echo '{\"kernel\": \"k\", \"cycles\": 100}' > $f.json; done"},
    {"fused_rht.trace", "drywell trace record fused-rht --m=128 --n=128 -o fused_rht.trace > record.txt"},
    {"before.trace", "for f in before after; do drywell trace record tma-copy --rows=64 --columns=64 --driver=timed --profile=cycle -o $f.trace; done"},
    {"golden", "mkdir golden && drywell trace record tma-copy --rows=64 --columns=64 -o golden/tma_copy.trace"},
    {"axpy.toml", "cp $SOURCE/examples/ptx/axpy.* ."},
    {"axpy.csv", "printf 'file,launch,warm_ns,cold_ns,GHz\\naxpy.toml,,2000,3000,1.98\\n' > axpy.csv"},
    {"h200.survey", "drywell device survey h200.survey --simulate=sm_90a --only=probes --filter=mbarrier"},
    {"h200.record", "git init -q . && git -c user.name=t -c user.email=t@t commit -q --allow-empty -m t"},
    {"clocks.txt", "printf '== --rows=256 --columns=256\\n  clock, GPU    3000 cycles, 1.64 us at 1.827 GHz\\n  clock, timed  2900 cycles, -3.3 %%\\n' > clocks.txt"},
    {"map.bin", "drywell desc tensor-map --make type=bf16,dims=256x64,box=64x8,swizzle=128B -o map.bin"},
    {"scales.npy", "drywell run swizzle-sf --rows=256 --columns=16 --save=made && mv made/swizzled.npy scales.npy && drywell sf to-blocked scales.npy blocked.npy"},
};

/// What an example needs that a machine may lack: exit code 6 says so.
constexpr Made kNeeds[] = {
    {"drywell device run", "a GPU"},
    {"drywell device survey b200.survey", "a GPU"},
    {"drywell device record", "a GPU"},
    {"--save=axpy.csv", "a GPU"},
    {"drywell build", "ptxas"},
    {"drywell nvcc", "nvcc"},
    {"drywell exec", "nvcc"},
    {"--filter=wgmma --save=h200.txt", "a GPU"},
};

std::string_view need_of(const std::string& line) {
  const auto* it = std::find_if(std::begin(kNeeds), std::end(kNeeds), [&](const Made& m) { return line.find(m.word) != std::string::npos; });
  return it == std::end(kNeeds) ? "" : it->commands;
}

/// The commands that make the files of an example.
std::string preparation(const std::string& line) {
  std::string out = "SOURCE=" + test::source_path(".") + "\n";
  for (const Made& m : kFiles) {
    if (line.find(m.word) != std::string::npos) out += std::string(m.commands) + " || exit $?\n";
  }
  return out;
}

/// A debugger that waits for an editor at a free port: connects to it, and goes.
std::string with_client(const std::string& line) {
  if (line.find("--port=0") == std::string::npos) return line;
  return line + " > port.txt & bash -c 'until grep -q : port.txt; do sleep 0.05; done; exec 3<>/dev/tcp/127.0.0.1/$(sed s/.*:// port.txt)'; wait $!";
}

void expect_runs(const std::string& line) {
  SCOPED_TRACE(line);
  const test::TemporaryDirectory folder;
  const Finished made = run_in(folder.path(), preparation(line));
  const Finished f = made.exit_code == 0 ? run_in(folder.path(), with_client(line)) : made;
  if (f.exit_code == 6 && !need_of(line).empty()) GTEST_SKIP() << line << ": needs " << need_of(line);
  EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
}

std::string test_name(const std::vector<std::string>& path) {
  std::string name = path.empty() ? "drywell" : joined(path);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class Help : public testing::TestWithParam<Page> {};

TEST_P(Help, EndsWithTheExamples) {
  const std::vector<std::string> examples = examples_of(help_of(GetParam().path));
  EXPECT_GE(examples.size(), 2u);
  for (const std::string& line : examples) {
    EXPECT_THAT(line + " ", testing::StartsWith(joined({"drywell", joined(GetParam().path)}) + (GetParam().path.empty() ? "" : " ")));
    EXPECT_THAT(line, testing::Not(HasSubstr("--help")));
    if (!GetParam().examples.empty()) {
      EXPECT_LE(line.size(), 73u) << line;  // 80 columns of a manual page
    }
  }
  std::vector<std::string> expected;
  for (const std::string& words : GetParam().examples) {
    std::vector<std::string> line = {"drywell"};
    line.insert(line.end(), GetParam().path.begin(), GetParam().path.end());
    if (!words.empty()) line.push_back(words);
    expected.push_back(joined(line));
  }
  if (!expected.empty()) {
    EXPECT_EQ(examples, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Help, testing::ValuesIn(all_pages()), [](const auto& i) { return test_name(i.param.path); });

/// The first, second or third example of a page.
class Example : public testing::TestWithParam<std::pair<Page, size_t>> {};

TEST_P(Example, Runs) {
  const auto& [page, number] = GetParam();
  const std::vector<std::string> examples = examples_of(help_of(page.path));
  ASSERT_LT(number, examples.size());
  expect_runs(examples[number]);
}

std::vector<std::pair<Page, size_t>> all_examples() {
  std::vector<std::pair<Page, size_t>> out;
  for (const Page& page : all_pages()) {
    for (size_t i = 0; i < std::max<size_t>(2, page.examples.size()); ++i) out.emplace_back(page, i);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Of, Example, testing::ValuesIn(all_examples()), [](const auto& i) { return test_name(i.param.first.path) + "_" + std::to_string(i.param.second + 1); });

/// The subcommands that --help of a command lists.
std::vector<std::string> listed(const std::string& help) {
  std::vector<std::string> names;
  const std::vector<std::string> lines = lines_of(help);
  for (auto i = std::find(lines.begin(), lines.end(), "Subcommands:"); i != lines.end() && !i->empty(); ++i) {
    if (i->starts_with("  ") && (*i)[2] != ' ') names.push_back(i->substr(2, i->find(' ', 2) - 2));
  }
  return names;
}

// A subcommand that CLI11 has and the tables do not would have no examples, and the other way round nobody could call it.
TEST(Help, ListsTheRowsOfTheTables) {
  EXPECT_EQ(listed(help_of({})), kCommands);
  for (const std::string& command : kCommands) {
    std::vector<std::string> expected;
    for (const Page& row : kRows) {
      if (row.path.size() == 2 && row.path[0] == command) expected.push_back(row.path[1]);
    }
    EXPECT_EQ(listed(help_of({command})), expected) << command;
  }
}

TEST(Help, OfAKernelHasItsParametersBeforeTheExamples) {
  const std::string help = help_of({"run", "gemm-sm90-blockwise"});
  EXPECT_LT(help.find("--scale-m=integer"), help.find("Exit codes:"));
  EXPECT_EQ(examples_of(help), (std::vector<std::string>{"drywell run gemm-sm90-blockwise --arch=sm_90a --m=512 --n=512 --k=512 --verify",
                                                         "drywell run gemm-sm90-blockwise --arch=sm_90a --driver=timed --check"}));
}

TEST(Help, OfNoCommandIsAnError) {
  const Finished f = test::drywell({"fly", "--help"});
  EXPECT_EQ(f.exit_code, 2);
  EXPECT_EQ(f.out, "");
  EXPECT_THAT(f.err, HasSubstr("no command 'fly'"));
}

TEST(Help, OfNvccIsItsOwn) { EXPECT_THAT(test::drywell({"nvcc", "--help"}).out, HasSubstr("Usage: drywell nvcc")); }

TEST(Help, TheVersionSaysRevisionBuildTypeAndCompiler) {
  const Finished f = test::drywell({"--version"});
  EXPECT_THAT(f.out, testing::MatchesRegex("drywell [0-9.]+ \\((revision [0-9a-f]+( with local changes)?|unknown revision), [A-Za-z]+ build, (g\\+\\+|clang) .*\\)\n"));
}

// A Core 2, as qemu makes one, has no SSE4.2: every program says so before it comes to an instruction of it.
TEST(Processor, AnOldOneGetsASentence) {
  const std::string qemu = "/usr/bin/qemu-x86_64";
  if (::access(qemu.c_str(), X_OK) != 0) GTEST_SKIP() << "no qemu-x86_64 (package qemu-user)";
  const std::string folder = test::binary_path().substr(0, test::binary_path().rfind('/') + 1);
  for (const char* program : {"drywell", "drywell-lab", "drywell-inspect", "drywell-debug", "drywell-cuda"}) {
    const Finished f = test::run_process(qemu, {"-cpu", "core2duo", folder + program, "--version"});
    EXPECT_EQ(f.exit_code, 6) << program;
    EXPECT_EQ(f.out, "");
    EXPECT_THAT(f.err, HasSubstr("drywell: this processor has no SSE4.1; Drywell's programs are compiled for x86-64-v2")) << program;
  }
  EXPECT_EQ(test::run_process(qemu, {"-cpu", "Nehalem", folder + "drywell", "--version"}).exit_code, 0);
}

TEST(Help, TheListOfKernelsFitsAScreen) {
  const Finished f = test::drywell({"list"});
  EXPECT_LE(lines_of(f.out).size(), 23u);  // and the prompt
  EXPECT_THAT(f.out, HasSubstr("\ndrywell run KERNEL --verify  "));
  for (const std::string& line : lines_of(f.out)) EXPECT_LE(line.size(), 80u) << line;
}

// What a list leaves out is said of one kernel.
TEST(Help, OfAKernelIsWhole) {
  EXPECT_THAT(test::drywell({"list"}).out, testing::Not(HasSubstr("TransformerEngine's fused kernel")));
  EXPECT_THAT(test::drywell({"list", "fused-rht"}).out, HasSubstr("TransformerEngine's fused kernel"));
}

}  // namespace
}  // namespace drywell
