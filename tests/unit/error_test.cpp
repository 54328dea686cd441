#include "drywell/core/error.h"

#include <gtest/gtest.h>

#include <array>

#include "drywell/core/text.h"

namespace drywell {
namespace {

TEST(Diagnostics, CollectsEveryFindingWithPositionAndHint) {
  Diagnostics d;
  d.error(Code::E1101, {"k.ptx", 3, 7}, "unknown opcode 'ad.s32'", "did you mean 'add.s32'?");
  d.warning(Code::E1102, {"k.ptx", 9, 1}, "register never read");
  EXPECT_EQ(d.error_count(), 1u);
  EXPECT_EQ(d.to_string(),
            "k.ptx:3:7: error E1101: unknown opcode 'ad.s32'\n    hint: did you mean 'add.s32'?\n"
            "k.ptx:9:1: warning E1102: register never read");
}

TEST(Diagnostics, InputErrorCarriesAllOfThem) {
  Diagnostics d;
  d.error(Code::E1101, {"k.ptx", 3, 7}, "first");
  d.error(Code::E1103, {"k.ptx", 4, 1}, "second");
  InputError e(d);
  EXPECT_EQ(e.code(), Code::E1101);
  EXPECT_EQ(e.diagnostics().list().size(), 2u);
  e.prepend("loading k.ptx");
  EXPECT_EQ(std::string(e.what()).substr(0, 15), "loading k.ptx: ");
}

TEST(InternalError, CheckNamesExpressionAndPlace) {
  try {
    DRYWELL_CHECK(1 == 2, "arithmetic broke");
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("1 == 2"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("error_test.cpp"), std::string::npos);
  }
}

TEST(DidYouMean, ProposesNoOtherNumber) {
  const std::array<std::string_view, 3> sizes = {"64", "128", "192"};
  EXPECT_EQ(nearest("96", sizes), "");
  const std::array<std::string_view, 2> drivers = {"eager", "lazy"};
  EXPECT_EQ(nearest("lasy", drivers), "lazy");
  const std::array<std::string_view, 3> formats = {"mxf4", "mxf8-e4m3", "mxf8-e5m2"};
  EXPECT_EQ(did_you_mean("mxfp8", formats), "did you mean 'mxf8-e4m3' or 'mxf8-e5m2'?");
}

TEST(DidYouMean, NamesEachCandidateOnce) {
  constexpr std::string_view kSections[] = {"tma", "tma", "hbm", "tma"};
  EXPECT_EQ(did_you_mean("tmaa", kSections), "did you mean 'tma'?");
}

TEST(DidYouMean, IsByMeaning) {
  const std::array<std::string_view, 6> names = {"bn", "fma", "bar.sync", "mbarrier.init", "format", "shfl"};
  EXPECT_EQ(nearest("bm", names), "") << "another letter in a short name is another name";
  EXPECT_EQ(nearest("tma", names), "");
  EXPECT_EQ(nearest("mbar.init", names), "mbarrier.init") << "an abbreviation";
  EXPECT_EQ(nearest("fmt", names), "format");
  EXPECT_EQ(nearest("shuffle", names), "shfl");
  EXPECT_EQ(nearest("form", names), "format") << "a begin";
  EXPECT_EQ(nearest(std::string(100000, 'm'), names), "") << "no name";
}

}  // namespace
}  // namespace drywell
