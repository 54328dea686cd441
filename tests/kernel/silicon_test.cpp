// The simulator compared with the results of real GPUs for each probe (traces/hw/*.record): the same words, for every order of
// asynchronous operations. No GPU is needed.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "conformance/silicon/probes.h"
#include "conformance/silicon/record.h"
#include "drywell/core/files.h"
#include "support/paths.h"

namespace drywell::kernels::silicon {
namespace {

struct Recorded {
  std::string name;
  RecordLine line;
};

std::vector<Recorded> all_records() {
  std::vector<Recorded> out;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path("traces/hw"))) {
    if (entry.path().extension() != ".record") continue;
    const std::string path = entry.path().string();
    for (auto& [name, line] : parse_record(read_text_file(path), path).lines) out.push_back({name, line});
  }
  return out;
}

class Silicon : public testing::TestWithParam<sim::DriverKind> {};

TEST_P(Silicon, LeavesTheWordsOfTheDevice) {
  std::map<std::string, Probe> known;
  for (Probe& p : probes()) known.emplace(p.name, p);
  size_t compared = 0;
  for (const auto& [name, line] : all_records()) {
    SCOPED_TRACE(name);
    const auto it = known.find(name);
    ASSERT_NE(it, known.end()) << "recorded, but no longer a probe";
    ASSERT_EQ(it->second.digest, line.program) << "the probe is not the one that was recorded: give it a new name";
    SimulatedDevice device({.arch = "sm_90a"});
    EXPECT_EQ(difference(line, observe(it->second, device, {.driver = GetParam(), .seed = 11})), "");
    ++compared;
  }
  EXPECT_GE(compared, 200u);
}

INSTANTIATE_TEST_SUITE_P(Drivers, Silicon, testing::Values(sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled),
                         [](const auto& i) { return std::string(sim::driver_name(i.param)); });

TEST(SiliconRecord, PrintsAndReadsBackAsItself) {
  Record r;
  r.provenance = {"device: one", "date: 2026-11-21"};
  r.lines.emplace_back("a", RecordLine{0x12, {}, {"=", "ab,cd"}});
  r.lines.emplace_back("b", RecordLine{0x34, "F3801: on the GPU: CUDA_ERROR_LAUNCH_FAILED", {}});
  const Record again = parse_record(print_record(r), "r");
  EXPECT_EQ(again.provenance, r.provenance);
  ASSERT_EQ(again.lines.size(), 2u);
  EXPECT_EQ(again.lines[0].second, r.lines[0].second);
  EXPECT_EQ(again.lines[1].second, r.lines[1].second);
  EXPECT_EQ(difference(r.lines[0].second, {0x12, {}, {"=", "ab,ce"}}), "buffer 1, bytes 256 to 511");
  EXPECT_NE(difference(r.lines[1].second, r.lines[0].second), "");
  for (const char* text : {"nonsense", "# drywell silicon record, format 1\na 12\n", "# drywell silicon record, format 1\na xy =\n"}) {
    try {
      parse_record(text, "r");
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_EQ(e.code(), Code::E4506);
    }
  }
}

}  // namespace
}  // namespace drywell::kernels::silicon
