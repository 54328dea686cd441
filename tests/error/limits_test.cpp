// The bounds of a run in every command that executes: each ends with its code and exit code 5.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using test::drywell;
using test::Finished;
using testing::HasSubstr;

std::string hard(const std::string& name) { return test::source_path("tests/corpus/hard/") + name; }

struct Bounded {
  std::string name;
  std::vector<std::string> words;
  std::string code;
  int exit_code = 5;
};

class Bounds : public testing::TestWithParam<Bounded> {};

TEST_P(Bounds, EndTheCommand) {
  const test::TemporaryDirectory dir;
  std::vector<std::string> words = GetParam().words;
  for (std::string& w : words) {
    if (const size_t at = w.find("DIR"); at != std::string::npos) w.replace(at, 3, dir.path());
  }
  std::ofstream(dir.file("script")) << "continue\nquit\n";
  const Finished f = drywell(words);
  EXPECT_EQ(f.exit_code, GetParam().exit_code) << f.out << f.err;
  EXPECT_THAT(f.out + f.err, HasSubstr(GetParam().code));
  EXPECT_FALSE(std::filesystem::exists(dir.file("new.trace"))) << "a run that a bound ended is no record";
}

std::vector<Bounded> all() {
  const std::string loop = hard("d_loop.ptx"), timed = hard("timed_timeout.ptx");
  const std::vector<std::string> run = {"run", loop, "--arg", "u32[4]:zeros"};
  const auto with = [](std::vector<std::string> words, std::vector<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  std::vector<Bounded> rows;
  for (const std::string driver : {"eager", "lazy", "shuffled:3", "timed"}) {
    const std::string name = driver.substr(0, driver.find(':'));
    rows.push_back(
        {name + "Instructions", with(run, {"--driver=" + driver, "--max-instructions=1000"}), "F3602"});
    rows.push_back({name + "Time", with(run, {"--driver=" + driver, "--timeout=0.2"}), "F3605"});
    rows.push_back(
        {name + "TimeOfAGrid",
         with(run, {"--driver=" + driver, "--timeout=0.2", "--grid=2000", "--block=256", "--threads=2"}),
         "F3605"});
    rows.push_back({name + "Memory", with(run, {"--driver=" + driver, "--memory=1M"}), "F3606"});
    rows.push_back({name + "Step",
                    {"step", loop, "--arg", "u32[4]:zeros", "--driver=" + driver, "--max-instructions=1000",
                     "--script=DIR/script"},
                    "F3602"});
    rows.push_back({name + "StepTime",
                    {"step", loop, "--arg", "u32[4]:zeros", "--driver=" + driver, "--timeout=0.2",
                     "--script=DIR/script"},
                    "F3605"});
  }
  rows.push_back({"MemoryOfTheDevice",
                  {"run", hard("e_ok.ptx"), "--buffer", "x=u32[4194304]:zeros", "--arg", "@x", "--memory=8M"},
                  "E4105",
                  3});
  rows.push_back({"Cycles", with(run, {"--driver=timed", "--max-cycles=1000"}), "F3604"});
  rows.push_back({"CyclesWithoutAClock", with(run, {"--max-cycles=1000"}), "E4308", 2});
  rows.push_back({"TimeThatIsNone", with(run, {"--timeout=soon"}), "E4308", 2});
  rows.push_back({"MemoryThatIsNone", with(run, {"--memory=much"}), "E4308", 2});
  rows.push_back({"TensorProgram",
                  {"run", timed, "--smem=1024", "--block=128", "--arg", "u32[4096]:zeros", "--arg",
                   "u32[4096]:zeros", "--arg", "u32[4096]:zeros", "--arg", "u32[4096]:zeros", "--arg",
                   "u32[65536]:zeros", "--driver=timed", "--max-instructions=20000"},
                  "F3"});
  rows.push_back(
      {"Record", {"trace", "record", "tma-copy", "-o", "DIR/new.trace", "--max-instructions=10"}, "F3602"});
  rows.push_back(
      {"Check",
       {"trace", "check", test::source_path("traces/golden/tma-copy.trace"), "--max-instructions=10"},
       "F3602",
       3});
  rows.push_back({"Conformance", {"conformance", "--timeout=0.05"}, "F3605"});
  rows.push_back({"Mutate", {"mutate", "tma-copy", "--timeout=0.2"}, "F3605"});
  rows.push_back({"TimeOutsideALaunch",
                  {"run", "gemm-bf16", "--m=4096", "--n=4096", "--k=4096", "--verify", "--timeout=0.01"},
                  "F3605"});
  for (const char* what : {"show", "map"}) {
    std::vector<std::string> words = {"tmem", what, loop, "--arg", "u32[4]:zeros", "--max-instructions=1000"};
    if (std::string_view(what) == "show") words.insert(words.end(), {"-o", "DIR/new.trace"});
    rows.push_back({std::string("Tmem") + what, words, "F3602"});
  }
  rows.push_back({"Sensitivity", {"arch", "sm_100a", "--sensitivity", "tma-copy", "--max-cycles=10"}, "F3604"});
  rows.push_back({"DeviceTime",
                  {"device", "time", test::source_path("tests/corpus/timing/gemm.toml"), "--max-cycles=10", "--from",
                   test::source_path("traces/hw/h200-2026-11-23-corpus.csv")},
                  "F3604"});
  rows.push_back({"Explore", {"run", "tma-copy", "--rows=512", "--explore=100000", "--timeout=2"}, "F3605"});
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Each, Bounds, testing::ValuesIn(all()),
                         [](const testing::TestParamInfo<Bounded>& row) { return row.param.name; });

}  // namespace
}  // namespace drywell
