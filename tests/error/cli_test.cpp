// The command line: correct commands, and one clear message with the right exit code for every error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "drywell/core/npy.h"
#include "support/mistake.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using test::drywell;
using test::Finished;
using test::Mistake;
using test::TemporaryDirectory;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class CliMistake : public testing::TestWithParam<Mistake> {};

TEST_P(CliMistake, GetsOneMessageAndItsExitCode) { EXPECT_THAT(test::expect_one_message(GetParam()).out, IsEmpty()); }

INSTANTIATE_TEST_SUITE_P(
    Each, CliMistake,
    testing::Values(
        Mistake{"MisspeltCommand", {"rum"}, 2, "did you mean 'run'?"},
        Mistake{"UnknownOption", {"arch", "--frobnicate"}, 2, "--frobnicate"},
        Mistake{"NoKernel", {"run"}, 2, "which kernel"},
        Mistake{"UnknownKernel", {"run", "fused-rth"}, 2, "did you mean 'fused-rht'?"},
        Mistake{"UnknownParameter",
                {"run", "tma-copy", "--row=4"},
                2,
                "did you mean 'rows'? its parameters: rows, columns"},
        Mistake{"MisspeltOption", {"run", "tma-copy", "--veryfy"}, 2, "did you mean the option '--verify'?"},
        Mistake{"MisspeltOptionOfAFile", {"run", "x.toml", "--expekt=d=d.npy"}, 2, "did you mean the option '--expect'?"},
        Mistake{"ParameterOfAFile", {"run", "x.toml", "--m=4"}, 2, "a file has no parameters"},
        Mistake{"BeginOfSeveralKernels", {"run", "quantize"}, 2, "did you mean 'quantize-fp8', 'quantize-nvfp4' or 'quantize-nvfp4-2d'?"},
        Mistake{"ValueByMeaning", {"run", "gemm-blockscaled", "--format=mxfp8"}, 2, "did you mean 'mxf8-e4m3' or 'mxf8-e5m2'?"},
        Mistake{"AFolder", {"run", "examples/cuda"}, 2, "ends in .ptx, .toml"},
        Mistake{"SaveOfAFile", {"run", "x.ptx", "--save=folder"}, 2, "--save d=d.npy"},
        Mistake{"MalformedInteger", {"run", "tma-copy", "--rows=4k"}, 2, "'--rows=4k'"},
        Mistake{"ValueOutOfRange", {"run", "tma-copy", "--rows=0"}, 2, "from 1 to"},
        Mistake{"UnknownChoice", {"run", "tma-copy", "--swizzle=256"}, 2, "one of none, 32, 64, 128"},
        Mistake{"ParameterTwice", {"run", "tma-copy", "--rows=4", "--rows=8"}, 2, "given twice"},
        Mistake{"StrayArgument", {"run", "tma-copy", "64"}, 2, "unexpected argument '64'"},
        Mistake{"UnknownDriver", {"run", "tma-copy", "--driver=lasy"}, 2, "did you mean 'lazy'?"},
        Mistake{"BadSeed", {"run", "tma-copy", "--driver=shuffled:x"}, 2, "driver 'shuffled:x': the seed is not a number"},
        Mistake{"SeedOfADriverWithout", {"run", "tma-copy", "--driver=lazy:3"}, 2, "driver 'lazy' takes no seed"},
        Mistake{"MemoryOfARun", {"run", "tma-copy", "--memory=1"}, 3, "at most\n    hint: the most is"},
        Mistake{"ExecDumpUnwritable", {"exec", "--dump=/dev/null/x", "--", "/bin/true"}, 3, "--dump: /dev/null/x: cannot be made"},
        Mistake{"ExecOfAPtxFile", {"exec", "--", test::source_path("examples/ptx/axpy.ptx")}, 3, "axpy.ptx: cannot be run: Permission denied\n    hint: drywell run launches a PTX file"},
        Mistake{"ExecCorruptMalformed", {"exec", "--corrupt=x", "--", "/bin/true"}, 2, "--corrupt: 'x' is not a number\n    hint: N+BYTE"},
        Mistake{"UnknownArch", {"run", "tma-copy", "--arch=sm_100b"}, 3, "sm_100"},
        Mistake{"BadShape", {"run", "fused-rht", "--m=8", "--n=128"}, 3, "multiple of 64"},
        Mistake{"MissingPtxFile", {"run", "/nonexistent.ptx"}, 3, "/nonexistent.ptx"},
        Mistake{"MissingPlan", {"run", "/nonexistent.toml"}, 3, "/nonexistent.toml"},
        Mistake{"PlanFlagsForAKernel", {"run", "tma-copy", "--grid=4"}, 2, "are for PTX files"},
        Mistake{"PlanFlagsForAPlan", {"run", "x.toml", "--grid=4"}, 2, "names its own"},
        Mistake{"BadGrid", {"run", "x.ptx", "--grid=4,0"}, 2, "positive numbers"},
        Mistake{"UnnamedBuffer", {"run", "x.ptx", "--buffer", "f32[4]"}, 2, "not NAME="},
        Mistake{"BadBuffer", {"run", "x.ptx", "--buffer", "x=f33[4]"}, 3, "E4401"},
        Mistake{"BadArgument", {"run", "x.ptx", "--arg", "u8:300"}, 3, "E4404"},
        Mistake{"BadMap", {"run", "x.ptx", "--map", "a=x,mode=im3col"}, 3, "E4403"},
        Mistake{"BadExpectation", {"run", "x.ptx", "--expect", "x=y.npy,abs=much"}, 3, "E4405"},
        Mistake{"NothingToVerify", {"run", "x.ptx", "--verify"}, 2, "no expected result"},
        Mistake{"InputOfAPtxFile", {"run", "x.ptx", "--input=x.npy"}, 2, "--buffer"},
        Mistake{"MissingInput", {"run", "tma-copy", "--input=/nonexistent/x.npy"}, 3, "/nonexistent/x.npy"},
        Mistake{"UnwritableJson", {"run", "tma-copy", "--json=/nonexistent/x.json"}, 3, "cannot be written"},
        Mistake{
            "UnwritableTrace", {"run", "tma-copy", "--trace=/nonexistent/x.trace"}, 3, "cannot be written"},
        Mistake{"UnwritableSave", {"run", "tma-copy", "--save=/nonexistent/x/y"}, 3, "cannot be made"},
        Mistake{"CycleTraceWithoutClock",
                {"run", "tma-copy", "--trace=/tmp/drywell-refused", "--trace-profile=cycle"},
                2,
                "--driver=timed"},
        Mistake{"UnknownOptionOfExec", {"exec", "--summry", "--", "/bin/true"}, 2, "there is no option '--summry'\n    hint: did you mean the option '--summary'?"},
        Mistake{"CountThatIsNone", {"run", "tma-copy", "--threads=abc"}, 2, "--threads: 'abc' is not a number"},
        Mistake{"SaveIntoAFile", {"run", "tma-copy", "--save=" + test::source_path("LICENSE")}, 3, "LICENSE: error E4008: cannot be written: Not a directory"},
        Mistake{"ViewOfNoLayout", {"layout", "(4,2):(1,4)", "--view=foo"}, 2, "no view 'foo': index"},
        Mistake{"CodeWithoutItsLetter", {"explain", "7101"}, 2, "no code '7101': a letter and four digits"},
        Mistake{"NegativeCount", {"run", "tma-copy", "--explore=-1"}, 2, "E4300: --explore: -1 is not a number from 0 up"},
        Mistake{"NegativeLimit", {"exec", "--max-instructions=-1", "--", "/bin/true"}, 2, "-1 is not a number"},
        Mistake{"NegativeMaximum", {"run", "fused-rht", "--amax=-1"}, 2, "a number, at least 0"},
        Mistake{"OneFileTwice", {"run", "tma-copy", "--json=/tmp/x", "--trace=/tmp/x"}, 2, "--json and --trace would write the same file, /tmp/x"},
        Mistake{"OneFileByTwoNames", {"run", "tma-copy", "--json=/tmp/x", "--trace=/tmp/./x"}, 2, "--json and --trace would write the same file, /tmp/./x"},
        Mistake{"ExecOneFileTwice", {"exec", "--report=x", "--trace=./x", "--", "/bin/true"}, 2, "--report and --trace would write the same file"},
        Mistake{"TraceCheckOneFileTwice", {"trace", "check", test::source_path("LICENSE"), "--junit=/tmp/x", "--json=/tmp/x"}, 2, "--junit and --json would write"},
        Mistake{"SarifToStandardOutput", {"run", "tma-copy", "--sarif=-"}, 2, "only --json"},
        Mistake{"UnwritableHangPicture", {"run", "tma-copy", "--hang-picture=/nonexistent/x.svg"}, 3, "cannot be written"},
        Mistake{"HangPictureUnchecked", {"run", "tma-copy", "--check=off", "--hang-picture=/tmp/x.svg"}, 2, "--check=off"},
        Mistake{"ReportOfACtaBeyond32Bits", {"run", "tma-copy", "--driver=timed", "--report=/tmp/drywell-refused", "--report-cta=4294967296,0,0"}, 2, "not a CTA"},
        Mistake{"ReportOfNoCta", {"run", "tma-copy", "--driver=timed", "--report=/tmp/drywell-refused", "--report-cta=-1,0,0"}, 2, "not a CTA"},
        Mistake{"ExecReportUnwritable", {"exec", "--report=/nonexistent/x", "--", "/bin/true"}, 3, "cannot be written"},
        Mistake{"ExecTraceUnwritable", {"exec", "--trace=/nonexistent/x", "--", "/bin/true"}, 3, "cannot be written"},
        Mistake{"ConformanceUnwritable", {"conformance", "--filter=^add.u16$", "--json=/nonexistent/x"}, 3, "cannot be written"},
        Mistake{"MutateUnwritable", {"mutate", "tma-copy", "--json=/nonexistent/x"}, 3, "cannot be written"},
        Mistake{"TraceCheckUnwritable", {"trace", "check", test::source_path("LICENSE"), "--junit=/nonexistent/x"}, 3, "cannot be written"},
        Mistake{"ExecKernelMalformed", {"exec", "--kernel=[", "--", "/bin/true"}, 2, "E4306"},
        Mistake{"ExecScriptMissing", {"exec", "--break", "--script=/nonexistent/x", "--", "/bin/true"}, 3, "E4001"},
        Mistake{"MarkdownWithoutArch", {"arch", "--assumed"}, 2, "need an architecture"},
        Mistake{"MissingPtx", {"ptx", "check", "/nonexistent.ptx"}, 3, "/nonexistent.ptx"},
        Mistake{"EmitUnknownKernel", {"ptx", "emit", "nothing-like-it"}, 2, "kernels: "},
        Mistake{"NotATrace", {"trace", "show", test::source_path("LICENSE")}, 3, "not a Drywell trace"}),
    [](const auto& i) { return std::string(i.param.name); });

TEST(Cli, SaysThatTheHostHasNotEnoughMemory) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer ends a process that asks for so much";
#endif
  test::expect_one_message({"", {"run", "tma-copy", "--rows=16777216", "--columns=16777216"}, 3, "error E4105: out of host memory\n    hint: "});
}

TEST(Cli, PrintsItsVersion) {
  const Finished f = drywell({"--version"});
  EXPECT_EQ(f.exit_code, 0);
  EXPECT_THAT(f.out, testing::MatchesRegex("drywell [0-9.]+ \\(.+, [A-Za-z]+ build, .+ [0-9.]+\\)\n")) << "revision, build and compiler";
}

// docs/coverage.md equals the table: run `drywell isa --coverage > docs/coverage.md` after changing rows or programs.
TEST(Cli, CoveragePageIsCurrent) {
  std::ifstream in(test::source_path("docs/coverage.md"));
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(drywell({"isa", "--coverage"}).out, page);
}

// The compiler's table of opcodes equals the table: `drywell isa --grammar > include/drywell/isa/table/opcode_grammar.inc` after changing rows.
TEST(Cli, TheCompilersGrammarIsCurrent) {
  std::ifstream in(test::source_path("include/drywell/isa/table/opcode_grammar.inc"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(drywell({"isa", "--grammar"}).out, text);
}

// `drywell isa --typed > include/drywell/isa/table/typed_forms.inc` after changing rows.
TEST(Cli, TheTypedFormsAreCurrent) {
  std::ifstream in(test::source_path("include/drywell/isa/table/typed_forms.inc"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(drywell({"isa", "--typed"}).out, text);
}

// docs/errors.md has the tables of include/drywell/core/codes.inc: `drywell errors --page docs/errors.md` after changing a row, its
// output put in the place of the page.
TEST(Cli, ErrorsPageIsCurrent) {
  const std::string path = test::source_path("docs/errors.md");
  std::ifstream in(path);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(drywell({"errors", "--page", path}).out, page);
}

TEST(Cli, ErrorsExplainsACode) {
  EXPECT_EQ(drywell({"errors", "E4305"}).out, "E4305  no such kernel\n");
  const Finished wrong = drywell({"errors", "H7001"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("no code 'H7001': hazards are in docs/hazards.md"));
}

TEST(Cli, IsaShowsOneInstruction) {
  const Finished f = drywell({"isa", "tcgen05.mma"});
  EXPECT_EQ(f.exit_code, 0);
  EXPECT_THAT(f.out, HasSubstr("kind::mxf4nvf4"));
  EXPECT_THAT(drywell({"isa", "tcgen05.mna"}).err, HasSubstr("did you mean"));
}

TEST(Cli, ConformanceRunsOneFamily) {
  const Finished f = drywell({"conformance", "--family=warp"});
  EXPECT_EQ(f.exit_code, 0);
  EXPECT_THAT(f.out, HasSubstr(" 0 failed"));
  EXPECT_EQ(drywell({"conformance", "--filter=nothing-like-it"}).exit_code, 2);
  EXPECT_EQ(drywell({"conformance", "--filter=("}).exit_code, 2);
}

TEST(Cli, PartsOfConformanceAreTheWholeOnce) {
  std::multiset<std::string> whole, parts;
  const auto lines = [](const std::string& part, std::multiset<std::string>& to) {
    std::istringstream in(drywell({"conformance", "--family=float", "--list", "--part=" + part}).out);
    for (std::string line; std::getline(in, line);) to.insert(line);
  };
  lines("1/1", whole);
  for (const char* part : {"1/3", "2/3", "3/3"}) lines(part, parts);
  EXPECT_GT(whole.size(), 100u);
  EXPECT_EQ(parts, whole);
  for (const char* wrong : {"0/3", "4/3", "1", "1/", "/1", "1/0", "-1/3", "1/3/5", "1/99999999999999999999"}) EXPECT_EQ(drywell({"conformance", "--list", std::string("--part=") + wrong}).exit_code, 2) << wrong;
}

TEST(Cli, HelpsOnEveryLevel) {
  EXPECT_THAT(drywell({"--help"}).out, HasSubstr("Exit codes"));
  EXPECT_THAT(drywell({"run", "--help"}).out, HasSubstr("--driver"));
  EXPECT_THAT(drywell({"run", "--help"}).out, HasSubstr("Usage: drywell run "));
  EXPECT_THAT(drywell({"run", "tma-copy", "--help"}).out, HasSubstr("--swizzle=none|32|64|128"));
  EXPECT_EQ(drywell({}).exit_code, 2);
}

TEST(Cli, ListsKernelsAndParameters) {
  const Finished f = drywell({"list"});
  EXPECT_EQ(f.exit_code, 0);
  EXPECT_THAT(f.out, HasSubstr("fused-rht"));
  EXPECT_THAT(drywell({"list", "fused-rht"}).out, HasSubstr("--rounding=nearest-even|stochastic"));
  EXPECT_THAT(f.out, Not(HasSubstr("\033["))) << "no colours into a pipe";
}

TEST(CliRun, VerifiesAndSaysSo) {
  const Finished f = drywell({"run", "tma-copy", "--rows", "100", "--columns=40", "--verify"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_THAT(f.out, HasSubstr("verified: 4,000 values"));
  EXPECT_THAT(f.err, IsEmpty());
}

TEST(CliRun, WritesJsonWithWhatMachinesNeed) {
  const Finished f = drywell(
      {"run", "tma-copy", "--rows=64", "--columns=32", "--verify", "--json=-", "--driver=shuffled:7"});
  ASSERT_EQ(f.exit_code, 0) << f.err;
  const auto j = nlohmann::json::parse(f.out);
  EXPECT_EQ(j.at("kernel"), "tma-copy");
  EXPECT_EQ(j.at("params").at("rows"), 64);
  EXPECT_EQ(j.at("params").at("swizzle"), "128");
  EXPECT_EQ(j.at("arch"), "sm_100a");
  EXPECT_EQ(j.at("driver"), "shuffled:7");
  EXPECT_TRUE(j.at("cycles").is_null());
  EXPECT_GT(j.at("warp_instructions").get<uint64_t>(), 100u);
  EXPECT_GE(j.at("host").at("seconds").get<double>(), 0.0);
  EXPECT_EQ(j.at("verify").at("status"), "passed");
  EXPECT_EQ(j.at("verify").at("compared"), 2048);
  EXPECT_EQ(j.at("verify").at("mismatches"), 0);
  EXPECT_TRUE(j.at("units").is_object());
  EXPECT_TRUE(j.at("stalls").is_object());
}

TEST(CliRun, SavesOutputsAndTakesThemAsInput) {
  const TemporaryDirectory d;
  ASSERT_EQ(drywell({"run", "tma-copy", "--rows=8", "--columns=12", "--scale=2", "--save", d.file("out")})
                .exit_code,
            0);
  const NpyArray y = read_npy(d.file("out/y.npy"));
  EXPECT_EQ(y.describe(), "float32[8, 12]");
  const Finished again = drywell(
      {"run", "tma-copy", "--scale=0.5", "--verify", "--input", d.file("out/y.npy"), "--save", d.path()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("8 x 12"));
}

TEST(CliRun, RefusesATruncatedInputAndOverwritesNothing) {
  const TemporaryDirectory d;
  const std::vector<float> x(64, 1.0f);
  auto bytes = format_npy(NpyArray::of<float>(x, {8, 8}));
  bytes.resize(bytes.size() - 4);
  write_file_atomically(d.file("x.npy"), bytes);
  for (const char* name : {"r.json", "r.trace", "y.npy"})
    write_file_atomically(d.file(name), std::string_view("precious"));
  const Finished f = drywell({"run", "tma-copy", "--input", d.file("x.npy"), "--json", d.file("r.json"),
                              "--trace", d.file("r.trace"), "--save", d.path()});
  EXPECT_EQ(f.exit_code, 3);
  EXPECT_THAT(f.err, HasSubstr("x.npy"));
  for (const char* name : {"r.json", "r.trace", "y.npy"}) EXPECT_EQ(read_text_file(d.file(name)), "precious");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(d.path()), {}), 4)
      << "temporary files were left";
}

TEST(CliRun, RefusesAnInputOfAnotherType) {
  const TemporaryDirectory d;
  const std::vector<int32_t> x(64, 1);
  write_npy(d.file("x.npy"), NpyArray::of<int32_t>(x, {8, 8}));
  const Finished f = drywell({"run", "fused-rht", "--input", d.file("x.npy")});
  EXPECT_EQ(f.exit_code, 3);
}

TEST(CliRun, OneMistakeIsToldOnce) {
  const std::string err = drywell({"run", "gemm-bf16", "--k=1"}).err;  // of A and of B
  EXPECT_THAT(err, HasSubstr("k = 1: must be a positive multiple of 8"));
  EXPECT_EQ(err.find("k = 1"), err.rfind("k = 1")) << err;
}

TEST(CliRun, StopsARunawayKernelAsAGuestFault) {
  for (const char* driver : {"--driver=eager", "--driver=timed"}) {
    const Finished f = drywell({"run", "tma-copy", "--max-instructions=100", driver});
    EXPECT_EQ(f.exit_code, 5) << f.out;
    EXPECT_THAT(f.out, HasSubstr("F3602"));
    EXPECT_THAT(f.out, HasSubstr("kernel.cpp:")) << driver;  // where it was then
  }
}

// Output longer than the buffer fails before the end.
TEST(Cli, SaysThatStandardOutputIsFull) {
  const Finished f = test::run_process("/bin/sh", {"-c", test::binary_path() + " list > /dev/full"});
  EXPECT_EQ(f.exit_code, 3);
  EXPECT_THAT(f.err, HasSubstr("error E4008: standard output cannot be written"));
}

size_t files_in(const TemporaryDirectory& d) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(d.path()), std::filesystem::directory_iterator()));
}

TEST(Outputs, HaveNoNameBeforeTheyAreWhole) {
  const TemporaryDirectory d;
  {
    const PendingFile unfinished(d.file("r.json"));
    if (files_in(d) != 0) GTEST_SKIP() << "this file system has no files without names: a killed run leaves one";
  }
  EXPECT_EQ(files_in(d), 0u);
  write_file_atomically(d.file("r.json"), std::string_view("{}"));
  EXPECT_EQ(files_in(d), 1u);
}

TEST(Outputs, ThatAreLinksStayLinks) {
  const TemporaryDirectory d;
  std::filesystem::create_directory(d.file("far"));
  std::filesystem::create_symlink("far/link", d.file("link"));
  std::filesystem::create_symlink("target", d.file("far/link"));
  for (const std::string_view text : {"there is no target yet", "another text"}) {
    write_file_atomically(d.file("link"), text);
    EXPECT_TRUE(std::filesystem::is_symlink(d.file("link")));
    EXPECT_TRUE(std::filesystem::is_symlink(d.file("far/link")));
    EXPECT_EQ(read_text_file(d.file("far/target")), text);
  }
  EXPECT_EQ(files_in(d), 2u);
}

TEST(Outputs, HaveTheLongestNameOfTheFileSystem) {
  const TemporaryDirectory d;
  const std::string name(255, 'x');
  write_file_atomically(d.file(name), std::string_view("text"));
  EXPECT_EQ(read_text_file(d.file(name)), "text");
  EXPECT_THROW(write_file_atomically(d.file(name + "x"), std::string_view("text")), InputError);
  EXPECT_EQ(files_in(d), 1u);
}

TEST(Outputs, OfALinkThatLeadsToItselfAreRefused) {
  const TemporaryDirectory d;
  std::filesystem::create_symlink("b", d.file("a"));
  std::filesystem::create_symlink("a", d.file("b"));
  EXPECT_THROW(write_file_atomically(d.file("a"), std::string_view("text")), InputError);
  EXPECT_TRUE(std::filesystem::is_symlink(d.file("a")));
}

// An output would be descriptor 1 or 2, and what the kernel prints or the command says would go into it.
TEST(Outputs, AreNotMixedWithTextForClosedDescriptors) {
  const TemporaryDirectory d;
  const std::string run = test::binary_path() + " run tma-copy --rows=64 --columns=32 --trace=" + d.file("t.trace");
  const auto trace_with = [&](const std::string& redirections) {
    test::run_process("/bin/sh", {"-c", run + " " + redirections});
    return read_text_file(d.file("t.trace"));
  };
  const std::string whole = trace_with("");
  for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"}) EXPECT_EQ(trace_with(closed), whole) << closed;
  const Finished f = test::run_process("/bin/sh", {"-c", run + " >&-"});
  EXPECT_EQ(f.exit_code, 3) << "the summary went nowhere";
}

// --explore compares the outputs of its runs; these outputs must not be kept.
TEST(Outputs, OfExploredSchedulesAreNotKept) {
  const TemporaryDirectory d;
  const Finished f = test::run_process("/bin/sh", {"-c", "cd " + d.path() + " && " + test::binary_path() + " run tma-copy --rows=64 --columns=32 --explore=1"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(files_in(d), 0u);
}

// The folder for outputs is created only with its first output, so that no end of a run can leave it empty.
TEST(Outputs, OfAKernelAreInAFolderMadeForThem) {
  const TemporaryDirectory d;
  const std::string folder = d.file("out");
  EXPECT_EQ(drywell({"run", "tma-copy", "--rows=64", "--columns=32", "--max-instructions=10", "--save=" + folder}).exit_code, 5);
  EXPECT_EQ(files_in(d), 0u);
  EXPECT_EQ(drywell({"run", "tma-copy", "--rows=64", "--columns=32", "--save=" + folder}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder + "/y.npy"));
}

constexpr const char* kAxpy = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry axpy(.param .u64 x, .param .u64 y, .param .f32 a)
.reqntid 64
{
  .reg .b32 %r<3>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd0, [x];
  ld.param.u64 %rd1, [y];
  ld.param.f32 %f0, [a];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd2, %r0, 4;
  add.s64 %rd3, %rd0, %rd2;
  add.s64 %rd4, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  ld.global.f32 %f2, [%rd4];
  fma.rn.f32 %f3, %f1, %f0, %f2;
  st.global.f32 [%rd4], %f3;
  ret;
}
)";

class CliRunFile : public testing::Test {
 protected:
  CliRunFile() {
    write_file_atomically(d.file("axpy.ptx"), std::string_view(kAxpy));
    std::vector<float> want(64);
    for (size_t i = 0; i < want.size(); ++i) want[i] = static_cast<float>(i) * 2.0f + 1.0f;
    write_npy(d.file("want.npy"), NpyArray::of<float>(want, {64}));
  }
  Finished run(std::vector<std::string> more, const char* a = "f32:2") {
    std::vector<std::string> words = {"run", d.file("axpy.ptx"), "--buffer", "x=f32[64]:iota", "--buffer", "y=f32[64]:ones", "--arg", "@x", "--arg", "@y", "--arg", a};
    words.insert(words.end(), more.begin(), more.end());
    return drywell(words);
  }
  TemporaryDirectory d;
};

TEST_F(CliRunFile, ComparesAndSaves) {
  const Finished f = run({"--expect", "y=" + d.file("want.npy"), "--save", "y=" + d.file("y.npy"), "--entry=axpy"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_THAT(f.out, HasSubstr("verified: y, 64 values"));
  EXPECT_EQ(read_npy(d.file("y.npy")).values<float>()[5], 11.0f);
}

TEST_F(CliRunFile, SaysWhatDiffers) {
  const Finished f = run({"--expect", "y=" + d.file("want.npy")}, "f32:3");
  EXPECT_EQ(f.exit_code, 1);
  EXPECT_THAT(f.out, HasSubstr("63 of 64 values differ; first [1]: 4, expected 3"));
}

TEST_F(CliRunFile, WritesJson) {
  const Finished f = run({"--expect", "y=" + d.file("want.npy"), "--json=-", "--driver=timed"});
  ASSERT_EQ(f.exit_code, 0) << f.err;
  const auto j = nlohmann::json::parse(f.out);
  EXPECT_EQ(j.at("verify").at("status"), "passed");
  EXPECT_EQ(j.at("verify").at("compared"), 64);
  EXPECT_EQ(j.at("launches").at(0).at("entry"), "axpy");
  EXPECT_EQ(j.at("launches").at(0).at("block").at(0), 64);
  EXPECT_GT(j.at("launches").at(0).at("cycles").get<uint64_t>(), 0u);
}

TEST_F(CliRunFile, TracesEveryLaunch) {
  EXPECT_EQ(run({"--trace", d.file("t.trace")}).exit_code, 0);
  EXPECT_THAT(drywell({"trace", "show", d.file("t.trace")}).out, HasSubstr("fma.rn.f32"));
}

TEST_F(CliRunFile, LaunchMistakesAreInputErrors) {
  EXPECT_THAT(run({"--entry=other"}).err, HasSubstr("E4112"));
  EXPECT_THAT(run({"--block=32"}).err, HasSubstr("E4125"));
  EXPECT_THAT(run({"--arg", "u32:1"}).err, HasSubstr("E4110: kernel 'axpy' takes 3 arguments, 4 given\n    hint: in this order: x (8 bytes), y (8), a (4)"));
  EXPECT_THAT(run({"--grid=1,65536"}).err, HasSubstr("E4128: a grid of 1 x 65536 x 1 CTAs"));
  EXPECT_THAT(run({"--block=1,1,128"}).err, HasSubstr("E4120: 128 threads along z"));
  EXPECT_THAT(run({"--expect", "z=" + d.file("want.npy")}).err, HasSubstr("no buffer 'z'"));
  EXPECT_THAT(run({"--save", "y=/nonexistent/y.npy"}).err, HasSubstr("cannot be written"));
}

TEST_F(CliRunFile, GuestFaultsHaveTheirExitCode) {
  const Finished f = drywell({"run", d.file("axpy.ptx"), "--buffer", "x=f32[8]", "--arg", "@x", "--arg", "@x", "--arg", "f32:1"});
  EXPECT_EQ(f.exit_code, 5);
  EXPECT_THAT(f.out, HasSubstr("F3001"));
  EXPECT_THAT(f.out, HasSubstr("axpy.ptx:17"));  // without .loc the PTX text is the source
}

// Twelve instructions for each of two warps: the fifth CTA exceeds a hundred, on any host thread.
TEST_F(CliRunFile, TheLimitIsOfAllCtasTogether) {
  for (const char* threads : {"--threads=1", "--threads=4"}) {
    const Finished f = run({"--grid=64", "--max-instructions=100", threads, "--check=off"});
    EXPECT_EQ(f.exit_code, 5) << f.out;
    EXPECT_THAT(f.out, HasSubstr("F3602: more than 100 warp instructions\n    in axpy CTA (4,0,0)")) << threads;
    EXPECT_EQ(run({"--grid=4", "--max-instructions=100", threads}).exit_code, 0);
  }
}

TEST_F(CliRunFile, ATensorMapWithoutCvtaIsTold) {
  const std::string_view text = R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .align 64 .b8 m[128])
{
  .reg .b64 %rd<1>;
  mov.b64 %rd0, m;
  cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%rd0, {0}];
  ret;
}
)";
  write_file_atomically(d.file("map.ptx"), text);
  const Finished f = drywell({"run", d.file("map.ptx"), "--buffer", "a=f32[64]", "--map", "m=a,box=32", "--arg", "map:m"});
  EXPECT_EQ(f.exit_code, 5) << f.err;
  EXPECT_THAT(f.out, HasSubstr("F3001"));
  EXPECT_THAT(f.out, HasSubstr("cvta.param makes a generic address of it"));
}

TEST_F(CliRunFile, MessagesNameTheFileAndNothingATerminalObeys) {
  std::string text = kAxpy;
  text.replace(text.find("%f1, %f0"), 8, "%f1, %rd0");
  write_file_atomically(d.file("illegal.ptx"), text);
  EXPECT_THAT(drywell({"ptx", "check", d.file("illegal.ptx")}).err, HasSubstr("illegal.ptx:19: error E1201"));
  using namespace std::string_view_literals;
  write_file_atomically(d.file("binary.ptx"), "\x1b[2J\0\xff"sv);
  const Finished f = drywell({"run", d.file("binary.ptx")});
  EXPECT_EQ(f.exit_code, 3);
  EXPECT_THAT(f.err, HasSubstr("found '\\x1b'"));
  EXPECT_THAT(f.err, HasSubstr("no .target"));
  write_file_atomically(d.file("large.ptx"), ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 a, .param .b8 p[32757]) { ret; }\n"sv);
  EXPECT_THAT(drywell({"ptx", "check", d.file("large.ptx")}).err, HasSubstr("large.ptx: error E1223: the parameters of 'k' are 32765 bytes, at most 32764"));
}

TEST_F(CliRunFile, RunsALaunchFile) {
  write_file_atomically(d.file("p.toml"), std::string_view(R"(
module = "axpy.ptx"
buffers.x = "f32[64]:iota"
buffers.y = "f32[64]:ones"
expect.y = "want.npy"
[[launch]]
args = ["@x", "@y", "f32:0.5"]
[[launch]]
args = ["@x", "@y", "f32:1.5"]
)"));
  const Finished f = drywell({"run", d.file("p.toml"), "--verify", "--driver=shuffled:3"});
  EXPECT_EQ(f.exit_code, 0) << f.err << f.out;
  EXPECT_THAT(f.out, HasSubstr("verified"));
  const std::string timed = drywell({"run", d.file("p.toml"), "--driver=timed"}).out;
  EXPECT_LT(timed.rfind("  simulated "), timed.find("launch 1: axpy")) << timed;  // all launches, then the timing report of each
  EXPECT_LT(timed.find("launch 1: axpy"), timed.find("launch 2: axpy")) << timed;
}

TEST(CliPtx, EmitsWhatItAccepts) {
  const TemporaryDirectory d;
  for (const char* kernel : {"tma-copy", "fused-rht"}) {
    ASSERT_EQ(drywell({"ptx", "emit", kernel, "-o", d.file("k.ptx")}).exit_code, 0);
    const Finished f = drywell({"ptx", "check", d.file("k.ptx")});
    EXPECT_EQ(f.exit_code, 0) << f.err;
    EXPECT_THAT(f.out, HasSubstr("legal, 1 kernel"));
  }
}

TEST(CliPtx, ReportsEveryMistakeOfAFile) {
  const TemporaryDirectory d;
  write_file_atomically(
      d.file("k.ptx"),
      std::string_view(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n .reg .b32 "
                       "%r<3>;\n ad.s32 %r1, %r2, 1;\n mvo.u32 %r1, 0;\n ret;\n}\n"));
  const Finished f = drywell({"ptx", "check", d.file("k.ptx")});
  EXPECT_EQ(f.exit_code, 3);
  EXPECT_THAT(f.err, HasSubstr(":6:"));
  EXPECT_THAT(f.err, HasSubstr(":7:"));
}

// Without a toolkit or a GPU: one message, exit code 6.
class CliWithoutCuda : public testing::Test {
 protected:
  CliWithoutCuda() {
    ::setenv("DRYWELL_CUDA_BIN", "/nonexistent", 1);
    ::setenv("DRYWELL_LIBCUDA", "/nonexistent/libcuda.so", 1);
  }
  ~CliWithoutCuda() override {
    ::unsetenv("DRYWELL_CUDA_BIN");
    ::unsetenv("DRYWELL_LIBCUDA");
  }
  TemporaryDirectory d;
};

TEST_F(CliWithoutCuda, BuildSaysThatThereIsNoToolkit) {
  const Finished f = drywell({"build", "tma-copy", "-o", d.file("x.cubin")});
  EXPECT_EQ(f.exit_code, 6);
  EXPECT_THAT(f.err, HasSubstr("E4510: no ptxas"));
  EXPECT_FALSE(std::filesystem::exists(d.file("x.cubin")));
}

TEST_F(CliWithoutCuda, DeviceRunSaysThatThereIsNoGpu) {
  const Finished f = drywell({"device", "run", "tma-copy"});
  EXPECT_EQ(f.exit_code, 6);
  EXPECT_THAT(f.err, HasSubstr("E4501: no CUDA driver"));
  EXPECT_EQ(drywell({"device", "run", test::source_path("examples/cuda/tma_copy.toml")}).exit_code, 6);
}

TEST(CliBuild, MakesCodeForEveryTarget) {
  const TemporaryDirectory d;
  const Finished first = drywell({"build", "tma-copy", "--swizzle=64", "-o", d.file("x.cubin")});
  if (first.exit_code == 6) GTEST_SKIP() << "no ptxas on this machine";
  EXPECT_EQ(first.exit_code, 0) << first.err;
  for (const char* target : {"sm_90a", "sm_103a"}) {
    EXPECT_EQ(drywell({"build", "tma-copy", "--target", target, "-o", d.file(target)}).exit_code, 0) << target;
    EXPECT_GT(std::filesystem::file_size(d.file(target)), 1000u);
  }
  EXPECT_EQ(drywell({"build", test::source_path("tests/corpus/cuda_gemm_bf16.ptx"), "-o", d.file("g.cubin")}).exit_code, 0);
}

TEST(CliBuild, RefusesWhatDoesNotFitTheTarget) {
  const TemporaryDirectory d;
  EXPECT_EQ(drywell({"build", "tma-copy", "--target", "sm_1", "-o", d.file("x")}).exit_code, 2);
  EXPECT_EQ(drywell({"build", "fused-rht", "--target", "sm_90a", "-o", d.file("x")}).exit_code, 3);
}

// docs/facts/targets.md §1: without --arch the machine of the PTX's target, with it the driver's rules.
TEST(CliRun, AMachineLoadsThePtxOfItsTargets) {
  const TemporaryDirectory d;
  const auto run = [&](const std::string& target, const std::vector<std::string>& more = {}) {
    write_file_atomically(d.file("k.ptx"), ".version 9.0\n.target " + target +
                                               "\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; "
                                               "st.global.b32 [%rd1], 7; ret; }\n");
    std::vector<std::string> words = {"run", d.file("k.ptx"), "--grid=1", "--block=1", "--buffer=x=u32[1]:zeros", "--arg=@x"};
    words.insert(words.end(), more.begin(), more.end());
    return drywell(words);
  };
  EXPECT_THAT(run("sm_80").out, HasSubstr("machine       sm_100a"));
  EXPECT_THAT(run("sm_100f").out, HasSubstr("machine       sm_100a"));
  EXPECT_THAT(run("sm_90a").out, HasSubstr("machine       sm_90a"));
  EXPECT_THAT(run("sm_103f").out, HasSubstr("machine       sm_103a"));
  EXPECT_THAT(run("sm_120f").out, HasSubstr("machine       sm_120a"));
  EXPECT_THAT(run("sm_120f", {"--arch=sm_121a"}).out, HasSubstr("machine       sm_121a"));
  EXPECT_THAT(run("sm_90a", {"--arch=sm_100a"}).err, HasSubstr("E4114: sm_100a does not load PTX for sm_90a")) << "what is asked for, also if it is the default";
  const Finished refused = run("sm_120a", {"--arch=sm_121a"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("E4114"));
  EXPECT_THAT(refused.err, HasSubstr("--arch=sm_120a; sm_121a loads sm_121f, sm_121a, sm_120f, or sm_121 and lower without a letter"));
}

TEST(CliRun, SaysThatPtxIsNewer) {
  const TemporaryDirectory d;
  write_file_atomically(d.file("k.ptx"), std::string_view(".version 9.9\n.target sm_100a\n.address_size 64\n.visible .entry k() { ret; }\n"));
  const Finished f = drywell({"run", d.file("k.ptx")});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_THAT(f.err, HasSubstr("k.ptx:1:10: warning U5001: PTX 9.9 is newer than "));
}

TEST(CliArch, ComparesMachines) {
  const std::string different = drywell({"arch", "sm_100a", "sm_120a"}).out, all = drywell({"arch", "sm_100a", "sm_120a", "--all"}).out;
  EXPECT_THAT(different, HasSubstr("101376 B (documented)"));
  EXPECT_THAT(different, HasSubstr("tmem.columns"));
  EXPECT_THAT(different, HasSubstr("sm_120a loads PTX for sm_120f, sm_120a, or sm_120 and lower without a letter"));
  EXPECT_EQ(different.find("smem.banks "), std::string::npos);
  EXPECT_THAT(all, HasSubstr("smem.banks "));
  EXPECT_EQ(drywell({"arch", "sm_100a", "--all"}).exit_code, 2);
  EXPECT_EQ(drywell({"arch", "sm_100a", "sm_90a", "--assumed"}).exit_code, 2);
}

TEST(CliArch, PrintsFiguresWithProvenance) {
  EXPECT_THAT(drywell({"arch"}).out, HasSubstr("sm_100a"));
  EXPECT_THAT(drywell({"arch", "sm_100a"}).out, HasSubstr("documented"));
  EXPECT_THAT(drywell({"arch", "sm_100a", "--assumed", "--markdown"}).out, StartsWith("| figure |"));
}

TEST(CliTrace, ShowsDiffsAndChecks) {
  const TemporaryDirectory d;
  const auto record = [&](const char* scale, const char* file) {
    return drywell({"run", "tma-copy", "--rows=64", "--columns=32", std::string("--swizzle=") + scale,
                    "--trace", d.file(file)})
        .exit_code;
  };
  ASSERT_EQ(record("128", "a.trace.zst"), 0);
  ASSERT_EQ(record("128", "b.trace"), 0);
  ASSERT_EQ(record("64", "c.trace"), 0);
  EXPECT_EQ(drywell({"trace", "diff", d.file("a.trace.zst"), d.file("b.trace")}).exit_code, 0);
  const Finished differ = drywell({"trace", "diff", d.file("a.trace.zst"), d.file("c.trace")});
  EXPECT_EQ(differ.exit_code, 1);
  EXPECT_THAT(differ.out, HasSubstr("first: cta="));
  EXPECT_EQ(drywell({"trace", "check", d.file("a.trace.zst")}).exit_code, 0);
  const Finished shown =
      drywell({"trace", "show", d.file("a.trace.zst"), "--owner", "cta=0.0.0 mbar=0x2400"});
  EXPECT_THAT(shown.out, HasSubstr("M expect_tx 8192"));
  EXPECT_THAT(shown.out, Not(HasSubstr(" w=0 ")));
}

TEST(CliTrace, BlessRefreshesAStaleGoldenTrace) {
  const TemporaryDirectory d;
  ASSERT_EQ(drywell({"run", "tma-copy", "--rows=64", "--columns=32", "--trace", d.file("g.trace")}).exit_code,
            0);
  std::string text = read_text_file(d.file("g.trace"));
  const std::string good = text;
  const size_t at = text.find("I bar");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 5, "I bra");
  write_file_atomically(d.file("g.trace"), text);
  const Finished stale = drywell({"trace", "check", d.file("g.trace")});
  EXPECT_EQ(stale.exit_code, 1);
  EXPECT_THAT(stale.out, HasSubstr("I bra"));
  EXPECT_EQ(drywell({"trace", "bless", d.file("g.trace")}).exit_code, 0);
  EXPECT_EQ(read_text_file(d.file("g.trace")), good);
}

}  // namespace
}  // namespace drywell
