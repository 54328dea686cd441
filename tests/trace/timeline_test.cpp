// Pictures of a CTA's time, from traces written by hand.
#include <gtest/gtest.h>

#include "drywell/core/error.h"
#include "drywell/sim/trace_export.h"

namespace drywell::sim {
namespace {

constexpr const char* kHead =
    "# trace 1\n# profile cycle\n# values no\n# run by hand\n# arch sm_100a\n"
    "# kernel k grid=1.1.1 block=64.1.1 cluster=1.1.1\n# code 0 a.cpp:1 mov.u32 %r0, 1;\n";

/// Warp 0 issues for two cycles and waits on an mbarrier for eight; a load it issued takes 6 of them.
std::string waits_for_a_load() {
  return std::string(kHead) +
         "cta=0.0.0 w=0 n=0 c=0 I mov pc=0\n"
         "cta=0.0.0 w=0 n=1 c=1 I mov pc=0\n"
         "cta=0.0.0 w=0 n=2 c=2 S reason=mbarrier dur=8\n"
         "cta=0.0.0 w=0 q=tma:0 c=2 B tensor_load at=0,0 smem=0x400 mbar=0x0\n"
         "cta=0.0.0 w=0 q=tma:0 c=8 E\n";
}

std::string row_text(const layout::Grid& g, size_t row) {
  std::string out;
  for (size_t c = 0; c < g.columns; ++c) out += g.at(row, c).text.empty() ? "." : g.at(row, c).text;
  return out;
}

TEST(TraceTimeline, ShowsWhatFillsEachColumn) {
  const layout::Grid g = trace_timeline(waits_for_a_load(), "t", {.columns = 10});
  ASSERT_EQ(g.rows, 2u);
  EXPECT_EQ(g.row_labels[0], "w 0");
  EXPECT_EQ(row_text(g, 0), "##bbbbbbbb");
  EXPECT_EQ(g.row_labels[1], "w 0 tma");
  EXPECT_EQ(row_text(g, 1), "..LLLLLL..");
}

TEST(TraceTimeline, AColumnOfSeveralCyclesShowsTheMost) {
  const layout::Grid g = trace_timeline(waits_for_a_load(), "t", {.columns = 2});
  EXPECT_EQ(row_text(g, 0), "bb");  // cycles 0 to 5: two of issuing, three of waiting
  EXPECT_EQ(row_text(g, 1), "LL");
}

TEST(TraceTimeline, AStateLooksTheSameInEveryPicture) {
  const std::string other = std::string(kHead) + "cta=0.0.0 w=0 n=0 c=0 S reason=mbarrier dur=4\ncta=0.0.0 w=0 n=1 c=4 I mov pc=0\n";
  const auto colour_of = [](const layout::Grid& g, const std::string& label) -> uint32_t {
    for (size_t k = 0; k < g.key_labels.size(); ++k) {
      if (g.key_labels[k] == label) return g.key_colours.at(k);
    }
    ADD_FAILURE() << "no legend for " << label;
    return 0;
  };
  const layout::Grid a = trace_timeline(waits_for_a_load(), "t", {}), b = trace_timeline(other, "t", {});
  EXPECT_NE(a.key_labels.front(), b.key_labels.front());  // they appear in another order
  for (const char* label : {"b stall: mbarrier", "# issues"}) EXPECT_EQ(colour_of(a, label), colour_of(b, label));
}

TEST(TraceTimeline, WarpsHaveTheNamesOfTheirRoles) {
  std::string text = waits_for_a_load();
  text.insert(text.find("# code"), "# role 0-0 load\n");
  EXPECT_EQ(trace_picture(text, "t", {}).panels.at(0).row_names, (std::vector<std::string>{"w 0 load", "w 0 tma"}));
  EXPECT_EQ(trace_timeline(text, "t", {.columns = 10}).row_labels, (std::vector<std::string>{"w 0 load", "w 0 tma"}));
}

TEST(TraceTimeline, ThePictureIsToScale) {
  const isa::ScalePicture p = trace_picture(waits_for_a_load(), "t", {});
  ASSERT_EQ(p.panels.size(), 1u);
  const isa::ScalePanel& panel = p.panels[0];
  EXPECT_EQ(panel.row_names, (std::vector<std::string>{"w 0", "w 0 tma"}));
  EXPECT_EQ(panel.columns, 10);
  ASSERT_EQ(panel.areas.size(), 3u);
  const auto expect = [&](size_t i, double x, double width, double row, const std::string& what) {
    EXPECT_EQ(panel.areas[i].x, x);
    EXPECT_EQ(panel.areas[i].width, width);
    EXPECT_GT(panel.areas[i].y, row);
    EXPECT_LT(panel.areas[i].y + panel.areas[i].height, row + 1);
    EXPECT_EQ(p.keys[panel.areas[i].key].name, what);
  };
  expect(0, 0, 2, 0, "issued");
  expect(1, 2, 8, 0, "mbarrier");
  expect(2, 2, 6, 1, "tma: tensor load");
  const isa::ScalePicture part = trace_picture(waits_for_a_load(), "t", {.from = 4, .to = 6});
  EXPECT_EQ(part.x_from, 4);
  EXPECT_EQ(part.panels[0].areas[0].x, 0);
  EXPECT_EQ(part.panels[0].areas[0].width, 2);
  EXPECT_TRUE(trace_picture(waits_for_a_load(), "t", {.cta = "9.0.0"}).panels.empty());
}

TEST(TraceTimeline, ATraceWithoutCyclesHasNone) {
  std::string t = waits_for_a_load();
  t.replace(t.find("profile cycle"), 13, "profile arch");
  EXPECT_THROW(trace_timeline(t, "t", {}), InputError);
}

}  // namespace
}  // namespace drywell::sim
