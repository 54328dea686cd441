// Hazards of one form at one source line, with the same inlined calls, are one finding.
#include <gtest/gtest.h>

#include <string>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

/// Of a kernel of two warps that has s in shared memory and the warp's number in %r1.
std::vector<Finding> findings_of(const std::string& body) {
  const std::string text =
      ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
      ".shared .align 16 .b8 s[256];\n.reg .b32 %r<2>;\nmov.u32 %r1, %tid.x;\nshr.u32 %r1, %r1, 5;\n" +
      body + "ret;\n}\n.file 1 \"k.cu\"\n.file 2 \"wrap.h\"\n";
  Device d;
  const LoadedModule m = d.load_ptx(text);
  HazardChecker checker;
  RunOptions o;
  o.listeners.push_back(checker.listener());
  EXPECT_TRUE(d.launch(m, "k", {.grid = {1}, .block = {64}}, Args(), o).ok());
  return checker.findings();
}

std::string inlined(int line) {
  return ".loc 1 " + std::to_string(line) + " 1\n.loc 2 7 1, function_name $L, inlined_at 1 " + std::to_string(line) + " 1\n";
}
const std::string kFirst = "st.shared.u32 [s], %r1;\nbar.sync 0;\n", kSecond = "st.shared.u32 [s+128], %r1;\nbar.sync 0;\n";

TEST(Places, ALineInlinedForTwoCallsIsTwo) {
  const auto two = findings_of(inlined(3) + kFirst + inlined(5) + kSecond);
  ASSERT_EQ(two.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const GuestPlace& where = two[i].here.where;
    EXPECT_EQ(where.source, (SourcePos{"wrap.h", 7, 1}));
    ASSERT_EQ(where.called_from.size(), 1u);
    EXPECT_EQ(where.called_from[0].line, i == 0 ? 3u : 5u);
  }
  const auto one = findings_of(inlined(3) + kFirst + inlined(3) + kSecond);  // a loop around the call, unrolled
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].count, 2u);
}

TEST(Places, WithoutSourceTheyAreLinesOfThePtx) {
  EXPECT_EQ(findings_of(kFirst + kSecond).size(), 2u);
}

}  // namespace
}  // namespace drywell::sim
