// Runs each golden trace under traces/golden again with the command in its header. Refresh: drywell trace bless
// FILE.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "kernels/registry.h"
#include "launch/golden.h"
#include "support/paths.h"

namespace drywell::kernels {
namespace {

std::vector<std::string> golden_files() {
  std::vector<std::string> files;
  for (const auto& e : std::filesystem::directory_iterator(test::source_path("traces/golden"))) {
    const std::string name = e.path().filename().string();
    if (name.ends_with(".trace") || name.ends_with(".trace.zst")) files.push_back(name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

// "a trace may hold several" launches (traces/README.md): a layer's twenty kernels.
TEST(TraceOfARun, HoldsEveryLaunch) {
  sim::TraceHeader h;
  h.run = "linear-nvfp4 --tokens=64 --in=32 --out=32 --driver=eager --arch=sm_100a";
  const std::string text = record_again(h, all_kernels());
  size_t kernels = 0;
  for (size_t at = text.find("# kernel "); at != std::string::npos; at = text.find("# kernel ", at + 1)) ++kernels;
  EXPECT_EQ(kernels, 20u);
}

class GoldenTrace : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTrace, IsWhatTheKernelDoesNow) {
  const std::string path = test::source_path("traces/golden/") + GetParam();
  const std::string golden = sim::read_trace(path);
  const std::string now = record_again(sim::parse_trace_header(golden, path), all_kernels());
  const sim::TraceDiff d = sim::diff_traces(golden, now, {"golden", "now", 0});
  EXPECT_TRUE(d.equal()) << d.message << "\nIf the change is intended: drywell trace bless traces/golden/"
                         << GetParam();
  EXPECT_GT(d.records, 100u);
}

/// The kernel asks try_wait early and waits later if the answer was false: under shuffled drivers, where an answer may be false for no
/// reason, it takes either path.
bool asks_early(const sim::TraceHeader& h) { return h.run.starts_with("fused-rht"); }

TEST_P(GoldenTrace, HoldsForEveryDriverPolicy) {
  const std::string path = test::source_path("traces/golden/") + GetParam();
  const std::string golden = sim::read_trace(path);
  sim::TraceHeader header = sim::parse_trace_header(golden, path);
  if (header.profile != sim::TraceProfile::arch) GTEST_SKIP() << "cycles belong to one driver";
  for (const std::string driver : {"eager", "lazy", "shuffled:1", "shuffled:2", "shuffled:3"}) {
    if (driver.starts_with("shuffled") && asks_early(header)) continue;
    sim::TraceHeader h = header;
    const size_t at = h.run.find("--driver=");
    ASSERT_NE(at, std::string::npos);
    h.run.replace(at, h.run.find(' ', at) - at, "--driver=" + driver);
    const sim::TraceDiff d = sim::diff_traces(golden, record_again(h, all_kernels()), {"golden", driver, 0});
    EXPECT_TRUE(d.equal()) << d.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTrace, testing::ValuesIn(golden_files()), [](const auto& i) {
  std::string name;
  bool upper = true;
  for (const char c : i.param.substr(0, i.param.find('.'))) {
    if (c == '-' || c == '_') {
      upper = true;
    } else {
      name += upper ? static_cast<char>(std::toupper(c)) : c;
      upper = false;
    }
  }
  return name;
});

}  // namespace
}  // namespace drywell::kernels
