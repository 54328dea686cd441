// Records of `drywell device run --clock`, and `drywell device reclock`, which computes the timed driver's figures again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "support/paths.h"
#include "support/process.h"
#include "tools/clock_record.h"

namespace drywell::tools {
namespace {

using testing::HasSubstr;

constexpr const char* kRecord =
    "# by hand\n"
    "== --rows=64\n"
    "  clock, GPU    1000 cycles, 0.55 us at 1.827 GHz\n"
    "  clock, timed  900 cycles, -10.0 %\n"
    "  clock, GPU    2000 cycles, 1.10 us at 1.827 GHz\n"
    "  clock, timed  2200 cycles, +10.0 %\n";

/// Two launches, of 1,100 and of 2,200 cycles.
std::vector<double> two_launches(const std::string&) { return {1100, 2200}; }

std::string refusal(const std::string& text) {
  try {
    renewed_record(text, "r.txt", two_launches);
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E4506);
    return e.what();
  }
  return "not refused";
}

TEST(ClockRecord, OnlyTheTimedDriversFiguresChange) {
  std::vector<std::string> words;
  const RenewedRecord r = renewed_record(kRecord, "r.txt", [&](const std::string& w) { return words.push_back(w), two_launches(w); });
  EXPECT_EQ(words, std::vector<std::string>{"--rows=64"});
  EXPECT_EQ(r.figures, 2u);
  EXPECT_EQ(r.changed, 1u);
  std::string expected = kRecord;
  const std::string before = "900 cycles, -10.0 %";
  expected.replace(expected.find(before), before.size(), "1100 cycles, +10.0 %");
  EXPECT_EQ(r.text, expected);
}

// Lines of any length (std::regex needed stack for each letter), figures that no double or no clock has.
TEST(ClockRecord, ALineThatIsNoFigureIsNamed) {
  const std::string letters(300'000, 'a'), digits(400, '9'), words = "== --rows=64\n";
  EXPECT_EQ(renewed_record(kRecord + ("  clock, GPU 5 cycles" + letters + "\n"), "r.txt", two_launches).figures, 2u);
  for (const std::string& figure : {digits + " cycles", std::string("0 cycles"), std::string("x cycles"), std::string("7 seconds"), std::string("-7 cycles"), std::string()})
    EXPECT_THAT(refusal(words + "  clock, GPU    " + figure + "\n"), HasSubstr("r.txt:2: no number of cycles from 1 to 2^53 is behind")) << figure;
  EXPECT_THAT(refusal(words + "  clock, timed  900 cycles\n"), HasSubstr("r.txt:2: no launch and GPU figure belong to this line"));
  EXPECT_THAT(refusal(std::string(kRecord) + "  clock, timed  900 cycles\n"), HasSubstr("r.txt:7: no launch"));
  EXPECT_THAT(refusal("nothing"), HasSubstr("no line 'clock, timed'"));
}

TEST(ClockRecord, AMistakeLeavesTheFile) {
  if (test::binary_path().empty()) GTEST_SKIP() << "no drywell command in this build";
  const test::TemporaryDirectory folder;
  const std::string file = folder.file("r.txt"), text = "  clock, GPU " + std::string(400, '9') + " cycles\n";
  write_file_atomically(file, std::string_view(text));
  const test::Finished f = test::drywell({"device", "reclock", "tma-copy", file});
  EXPECT_EQ(f.exit_code, 3) << f.err;
  EXPECT_THAT(f.err, HasSubstr("E4506"));
  EXPECT_EQ(read_text_file(file), text);
}

}  // namespace
}  // namespace drywell::tools
