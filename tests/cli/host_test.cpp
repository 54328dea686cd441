// A JSON report has what depends on the host in one object, `host` (docs/cli.md): reports of equal runs on hosts that differ are
// equal without it.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/paths.h"
#include "support/process.h"

namespace drywell {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_process;
using test::source_path;
using test::TemporaryDirectory;
using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Another user on another machine far away: its name, folders, language, clock, cores and address layout. Where the host lets a test
/// change no machine name, that stays.
Finished elsewhere(const std::string& folder, const Words& command) {
  Words words = {"-i", "-C", folder, "PATH=/usr/bin:/bin", "HOME=" + folder, "TMPDIR=" + folder, "USER=somebody", "LOGNAME=somebody", "HOSTNAME=elsewhere", "TZ=Pacific/Kiritimati",
                 "LC_ALL=de_DE.UTF-8", "LANG=tr_TR.UTF-8", "COLUMNS=40", "TERM=dumb", "/usr/bin/setarch", "-R", "/usr/bin/taskset", "-c", "0"};
  if (run_process("/usr/bin/unshare", {"--uts", "/bin/true"}).exit_code == 0)
    words = words + Words{"/usr/bin/unshare", "--uts", "/bin/sh", "-c", "hostname elsewhere; exec \"$@\"", "sh"};
  return run_process("/usr/bin/env", words + command);
}

struct Report {
  std::string name;
  Words words;
  bool has_host = true, has_threads = true;
  int exit_code = 0;
  std::string option = "--json";
  Words program = {};  // behind the options
};

class JsonReports : public testing::TestWithParam<Report> {};

json written(const std::string& path) {
  std::ifstream in(path);
  return json::parse(in, nullptr, false);
}

/// The report without `host`, which is there or not as documented.
json without_host(const std::string& path, bool has_host) {
  json j = written(path);
  EXPECT_FALSE(j.is_discarded()) << path;
  EXPECT_EQ(j.is_object() && j.contains("host"), has_host);
  if (has_host) j.erase("host");
  return j;
}

/// Launches with a record of their times, and two reports to compare.
void write_inputs(const TemporaryDirectory& d) {
  std::ofstream(d.file("axpy.toml")) << "module = \"" << source_path("examples/ptx/axpy.ptx") << R"("
[buffers]
x = "f32[1000]:random"
y = "f32[1000]:zeros"
[[launch]]
name = "axpy"
grid = 4
block = 256
args = ["@x", "@y", "f32:2.5", "u32:1000"]
)";
  std::ofstream(d.file("record.csv")) << "file,launch,warm_ns,cold_ns,GHz\naxpy.toml,axpy,1000,2000,1.9\n";
  for (const char* rows : {"64", "128"})
    test::drywell({"run", "tma-copy", std::string("--rows=") + rows, "--columns=64", "--driver=timed", "--json=" + d.file(std::string(rows) + ".json")});
}

TEST_P(JsonReports, DependOnTheHostInOneObjectOnly) {
  if (run_process("/usr/bin/env", {"-C", "/", "/usr/bin/setarch", "-R", "/usr/bin/taskset", "-c", "0", "/bin/true"}).exit_code != 0)
    GTEST_SKIP() << "this host cannot run a command with other cores and another address layout";
  const TemporaryDirectory here, there, inputs;
  write_inputs(inputs);
  const auto words = [&](const TemporaryDirectory& d, const std::string& threads) {
    Words all = GetParam().words + Words{GetParam().option + "=" + d.file("r.json")};
    for (std::string& w : all) {
      if (const size_t at = w.find("INPUTS"); at != std::string::npos) w.replace(at, 6, inputs.path());
    }
    if (GetParam().has_threads) all.push_back("--threads=" + threads);
    return all + GetParam().program;
  };
  const Finished a = test::drywell(words(here, "3")), b = elsewhere(there.path(), Words{test::binary_path()} + words(there, "1"));
  EXPECT_EQ(a.exit_code, GetParam().exit_code) << a.err;
  EXPECT_EQ(b.exit_code, GetParam().exit_code) << b.err;
  EXPECT_EQ(without_host(here.file("r.json"), GetParam().has_host), without_host(there.file("r.json"), GetParam().has_host));
}

std::vector<Report> reports() {
  const Words copy = {"run", "tma-copy", "--rows=64", "--columns=64"};
  const std::string axpy = source_path("examples/ptx/axpy.toml");
  const auto run = [](std::string name, Words words, int code = 0) { return Report{std::move(name), std::move(words), true, true, code}; };
  const auto hostless = [](std::string name, Words words) { return Report{std::move(name), std::move(words), false, false}; };
  return {run("Timed", copy + Words{"--driver=timed", "--check", "--verify"}),
          run("Functional", copy + Words{"--check=off"}),
          run("Shuffled", copy + Words{"--driver=shuffled:5"}),
          run("Explored", copy + Words{"--explore=2"}),
          run("EndedByAFault", copy + Words{"--max-instructions=100"}, 5),
          run("EndedByAFaultOfSeveral", {"run", "amax", "--max-instructions=3000", "--check=off"}, 5),
          run("WithHazards", {"run", "fused-rht", "--m=128", "--n=128", "--fences=false", "--check"}),
          run("LaunchFile", {"run", axpy, "--driver=timed", "--check"}),
          run("PtxFile", {"run", source_path("tests/corpus/hard/e_ok.ptx"), "--arg", "u32[64]:random"}),
          hostless("Mutants", {"mutate", "tma-copy", "--rows=64", "--columns=32", "--sms=1"}),
          hostless("Conformance", {"conformance", "--filter=^dp4a"}),
          hostless("Traces", {"trace", "check", source_path("traces/golden/tma-copy.trace")}),
          hostless("Microbenchmarks", {"bench-hw", "--from=" + source_path("traces/hw/h200-2026-11-22-microbench.txt"), "--filter=^mbarrier"}),
          hostless("Comparison", {"compare", "INPUTS/64.json", "INPUTS/128.json"}),
          hostless("Times", {"device", "time", "INPUTS/axpy.toml", "--from=INPUTS/record.csv"})};
}

INSTANTIATE_TEST_SUITE_P(Each, JsonReports, testing::ValuesIn(reports()), [](const testing::TestParamInfo<Report>& p) { return p.param.name; });

#ifdef DRYWELL_GUEST
/// A program that waits for each of its launches: work that host threads submit at one time has no order.
std::vector<Report> reports_of_programs() {
  const auto exec = [](std::string name, Words words, const std::string& mode, int code) {
    return Report{std::move(name), Words{"exec", "--check"} + words, false, true, code, "--report", Words{"--", DRYWELL_GUEST, mode}};
  };
  return {exec("Program", {}, "print", 0),
          exec("ProgramTimedWithHazards", {"--driver=timed"}, "grid", 1),
          exec("ProgramShuffled", {"--driver=shuffled:5"}, "print", 0),
          exec("ProgramWithAFault", {}, "wild", 0),
          exec("ProgramThatIsEnded", {"--max-instructions=100000"}, "endless", 0),
          exec("ProgramWithRecursion", {"--driver=timed"}, "recursion", 0)};
}
INSTANTIATE_TEST_SUITE_P(EachProgram, JsonReports, testing::ValuesIn(reports_of_programs()), [](const testing::TestParamInfo<Report>& p) { return p.param.name; });
#endif

}  // namespace
}  // namespace drywell
