// Warps that store one value in places that overlap in part, as searches mark what they have found: whichever comes first, the memory has that value.
#include <gtest/gtest.h>

#include <string>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

/// Two warps; lane i of warp w has the place 16 w + i, so that half of the places are both warps'. `space`: global or shared.
std::string codes_of(const std::string& space, const std::string& body, uint32_t ctas = 1) {
  const std::string text =
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      ".shared .align 8 .b8 s[1024];\n.reg .pred %p;\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nmov.u32 %r6, %ctaid.x;\nadd.u32 %r2, %r2, %r6;\nmul.lo.u32 %r3, %r2, 16;\nand.b32 %r4, %r1, 31;\nadd.u32 %r3, %r3, %r4;\n" +
      std::string(space == "global" ? "mad.wide.u32 %rd2, %r3, 4, %rd1;\n" : "mov.u64 %rd2, s;\nmad.wide.u32 %rd2, %r3, 4, %rd2;\n") + body + "\nret;\n}\n";
  Device d;
  const LoadedModule m = d.load_ptx(text);
  const GmemAddr places = d.allocate(4096);
  d.fill(places, 0, 4096);
  HazardChecker checker;
  RunOptions o;
  o.listeners.push_back(checker.listener());
  EXPECT_TRUE(d.launch(m, "k", {.grid = {ctas}, .block = {ctas == 1 ? 64u : 32u}}, Args().add(places), o).ok());
  std::string codes;
  for (const Finding& f : checker.findings())
    if (f.level == HazardLevel::error && codes.find(f.code) == std::string::npos) codes += f.code;
  return codes;
}

TEST(SameValue, InPlacesOfTwoWarpsIsNoRace) {
  EXPECT_EQ(codes_of("global", "st.global.u32 [%rd2], 7;"), "");
  EXPECT_EQ(codes_of("shared", "st.shared.u32 [%rd2], 7;"), "");
  EXPECT_EQ(codes_of("global", "st.global.u8 [%rd2], 1;"), "");
  EXPECT_EQ(codes_of("global", "st.global.u32 [%rd2], 7;", 2), "");
}

TEST(SameValue, OfOtherLanesOrWarpsIsARace) {
  EXPECT_EQ(codes_of("global", "st.global.u32 [%rd2], %r2;"), "H7402");
  EXPECT_EQ(codes_of("shared", "st.shared.u32 [%rd2], %r2;"), "H7401");
  EXPECT_EQ(codes_of("global", "st.global.u32 [%rd2], %r4;"), "H7402");
  EXPECT_EQ(codes_of("global", "st.global.u32 [%rd2], %r2;", 2), "H7402");
}

// An update is lost: both warps add 1 to what they have read, and store the same.
TEST(SameValue, ThatComesOfWhatWasThereIsARace) {
  EXPECT_EQ(codes_of("global", "ld.global.u32 %r5, [%rd2];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd2], %r5;"), "H7402");
  EXPECT_EQ(codes_of("shared", "st.shared.u32 [%rd2], 0;\nbar.sync 0;\nld.shared.u32 %r5, [%rd2];\nadd.u32 %r5, %r5, 1;\nst.shared.u32 [%rd2], %r5;"), "H7401");
  EXPECT_EQ(codes_of("global", "ld.global.u32 %r5, [%rd2];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd2], %r5;", 2), "H7402");
}

// A third store, in order behind the second warp's only, meets the first one's.
TEST(SameValue, HidesNoOtherStore) {
  const std::string both = "st.shared.u32 [%rd2], 7;\n", then = "setp.eq.u32 %p, %r2, 1;\n@%p st.shared.u32 [%rd2], %r4;\n";
  EXPECT_EQ(codes_of("shared", both + then), "H7401");
  EXPECT_EQ(codes_of("shared", both + "bar.sync 0;\n" + then), "");
}

}  // namespace
}  // namespace drywell::sim
