#include "drywell/isa/layout/picture.h"

#include <gtest/gtest.h>

#include <set>

#include "drywell/core/error.h"
#include "drywell/isa/layout/expression.h"

namespace drywell::layout {
namespace {

ComposedLayout parsed(const char* text) { return evaluate(text).layout(); }

size_t count_of(const std::string& text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(LayoutPicture, TextShowsTheIndexOfEachCoordinate) {
  EXPECT_EQ(to_text(picture(parsed("(2,3):(3,1)"))),
            "(_2,_3):(_3,_1)\n"
            "   0 1 2\n"
            "0  0 1 2\n"
            "1  3 4 5\n");
}

TEST(LayoutPicture, NestedModesAreLabelledByTheirCoordinates) {
  const Grid g = picture(parsed("((2,2),(2,2)):((1,4),(2,8))"));
  EXPECT_EQ(g.row_labels, (std::vector<std::string>{"(0,0)", "(1,0)", "(0,1)", "(1,1)"}));
  EXPECT_EQ(g.at(3, 2).text, "13");  // 1 + 4 + 8
  EXPECT_EQ(g.at(3, 2).tip, "((1,1),(0,1)) -> 13");
}

TEST(LayoutPicture, RankOneIsOneRowAndHigherRanksGoAcross) {
  EXPECT_EQ(picture(parsed("4:2")).rows, 1u);
  EXPECT_EQ(picture(parsed("4:2")).at(0, 3).text, "6");
  const Grid g = picture(parsed("(2,3,4):(1,2,6)"));
  EXPECT_EQ(g.rows, 2u);
  EXPECT_EQ(g.columns, 12u);
  EXPECT_EQ(g.at(1, 11).text, "23");
}

TEST(LayoutPicture, CoordinateLayoutsShowCoordinates) {
  EXPECT_EQ(picture(parsed("make_identity_layout((2,2))")).at(1, 0).text, "(1,0)");
  EXPECT_EQ(picture(parsed("make_identity_layout((2,2))")).at(1, 1).text, "(1,1)");
}

TEST(LayoutPicture, LargeLayoutsAreCutWithANote) {
  PictureOptions o;
  o.max_rows = 4;
  o.max_columns = 5;
  const Grid g = picture(parsed("(100,100):(1,100)"), o);
  EXPECT_EQ(g.rows, 4u);
  EXPECT_EQ(g.note, "the first 4 x 5 of 100 x 100 cells");
}

// A column of a row-major 8 x 64 tile of 16-bit elements hits one bank; the 128-byte swizzle spreads it over
// eight 16-byte chunks, that is, banks 0, 4, 8, … 28.
TEST(LayoutPicture, BankColoursShowWhatASwizzleMends) {
  PictureOptions o;
  o.colour = ColourBy::bank;
  o.element_bits = 16;
  std::set<int> plain, swizzled;
  const Grid p = picture(parsed("(8,64):(64,1)"), o);
  const Grid s = picture(parsed("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"), o);
  for (size_t r = 0; r < 8; ++r) {
    plain.insert(p.at(r, 0).key);
    swizzled.insert(s.at(r, 0).key);
  }
  EXPECT_EQ(plain, std::set<int>{0});
  EXPECT_EQ(swizzled, (std::set<int>{0, 4, 8, 12, 16, 20, 24, 28}));
}

// PTX ISA, 128B swizzle: chunk c of row r is at chunk c xor r.
TEST(MemoryMap, ShowsWhichElementsLieAtAnAddress) {
  const Grid g = memory_map(parsed("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)"), 16);
  ASSERT_EQ(g.rows, 8u);
  ASSERT_EQ(g.columns, 8u);
  for (size_t r = 0; r < 8; ++r) {
    for (size_t c = 0; c < 8; ++c) {
      EXPECT_EQ(g.at(r, c).text, "(" + std::to_string(r) + "," + std::to_string((c ^ r) * 8) + ") +7");
      EXPECT_EQ(g.at(r, c).key, static_cast<int>(c ^ r));
    }
  }
  EXPECT_EQ(g.row_labels[3], "384");
  EXPECT_THROW(memory_map(parsed("4:1"), 8, 100, 16), InputError);
  EXPECT_THROW(memory_map(parsed("4:1@0"), 8), InputError);
}

TEST(TmemMap, PlacesElementsByLaneAndColumn) {
  PictureOptions o;
  o.max_rows = 128;
  const Grid acc = tmem_map(parsed("tmem_fragment(((_128,_16),_1,_1,_2), _32)"), o);
  ASSERT_EQ(acc.rows, 128u);
  ASSERT_EQ(acc.columns, 32u);
  EXPECT_EQ(acc.at(70, 3).text, "((70,3),0,0,0)");
  EXPECT_EQ(acc.at(70, 19).text, "((70,3),0,0,1)");
  EXPECT_EQ(acc.at(70, 19).key, 1);
  // Four byte-sized factors per cell; row 70 of the second copy (lanes 32..63) is in column 2, lane 38.
  const Grid sfa = tmem_map(parsed("make_tmem_layout_sfa(mxf8, (128,128))"), o);
  EXPECT_EQ(sfa.columns, 4u);
  EXPECT_EQ(sfa.at(38, 2).text, "((198,0),0,0) +3");
  EXPECT_THROW(tmem_map(parsed("4:1")), InputError);
}

// mma.sync.m16n8k16 accumulators (PTX ISA 9.7.14.5): lane t holds rows t/4 and t/4 + 8, columns 2(t%4) and
// the next.
TEST(ThreadValueMap, NamesTheThreadAndValueOfEachElement) {
  const Grid g = thread_value_map(parse_layout("((4,8),(2,2)):((32,1),(16,8))"), 16, 8);
  for (size_t t = 0; t < 32; ++t) {
    for (size_t v = 0; v < 4; ++v) {
      EXPECT_EQ(g.at(t / 4 + v / 2 * 8, t % 4 * 2 + v % 2).text,
                "T" + std::to_string(t) + " V" + std::to_string(v));
    }
  }
  EXPECT_THROW(thread_value_map(parse_layout("(32,4):(1,32)"), 8, 8), InputError);
}

TEST(Rendering, SvgHasOneRectanglePerCellAndEscapesText) {
  const std::string svg = to_svg(picture(parsed("Sw<1,0,1> o 0 o (2,3):(3,1)")));
  EXPECT_EQ(svg.rfind("<svg xmlns=", 0), 0u);
  EXPECT_EQ(count_of(svg, "<rect "), 6u + 1u);  // and the background
  EXPECT_NE(svg.find("Sw&lt;1,0,1&gt; o"), std::string::npos);
  EXPECT_EQ(svg.find("Sw<"), std::string::npos);
  EXPECT_EQ(count_of(svg, "<g"), count_of(svg, "</g>"));
  EXPECT_EQ(count_of(svg, "<text"), count_of(svg, "</text>"));
  EXPECT_EQ(count_of(svg, "<title>"), 6u);
}

TEST(Rendering, HtmlIsSelfContainedWithALegend) {
  PictureOptions o;
  o.colour = ColourBy::chunk;
  const std::string html = to_html(picture(parsed("(8,64):(64,1)"), o));
  EXPECT_EQ(html.rfind("<figure", 0), 0u);
  EXPECT_EQ(html.find("src="), std::string::npos);
  EXPECT_EQ(html.find("href="), std::string::npos);
  EXPECT_NE(html.find("16-byte chunk 7"), std::string::npos);
  const std::string page = html_page("a <b>", std::vector<std::string>{html});
  EXPECT_NE(page.find("<title>a &lt;b&gt;</title>"), std::string::npos);
}

TEST(Rendering, TerminalColoursOnlyWhenAsked) {
  const Grid g = picture(parsed("(2,3):(3,1)"));
  EXPECT_EQ(to_text(g).find('\x1b'), std::string::npos);
  EXPECT_EQ(count_of(to_text(g, true), "\x1b[48;5;"), 6u);
}

TEST(Rendering, EmptyGridsDrawNothingButTheTitle) {
  EXPECT_EQ(picture(parsed("(0,4):(1,1)")).cells.size(), 0u);
  EXPECT_FALSE(to_svg(picture(parsed("(0,4):(1,1)"))).empty());
  EXPECT_FALSE(to_text(picture(parsed("0:1"))).empty());
}

}  // namespace
}  // namespace drywell::layout
