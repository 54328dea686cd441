// Blocks of tensor memory against the element functions of tmem_layout.h: each element lies in one block, and
// no block has a cell too many.
#include "drywell/isa/inspect/tmem_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "drywell/isa/layout/expression.h"

namespace drywell::isa {
namespace {

using Cell = std::tuple<unsigned, unsigned, unsigned>;  // CTA, lane, column
using Elements = std::map<Cell, std::multiset<std::pair<unsigned, unsigned>>>;

Elements of_blocks(const TmemUseForm& use) {
  Elements out;
  for (const TmemBlock& b : tmem_blocks(use)) {
    EXPECT_LE(b.lane % 32 + b.lanes, 32) << "a block crosses a partition";
    for (unsigned lane = b.lane; lane < unsigned{b.lane} + b.lanes; ++lane)
      for (unsigned column = b.column; column < unsigned{b.column} + b.columns; ++column)
        for (const TmemElement& e : elements_at(b, lane, column))
          out[{b.cta, lane, column}].insert({e.row, e.index});
  }
  return out;
}

Elements d_elements(const TmemUseForm& use, DLayout layout) {
  Elements out;
  for (unsigned m = 0; m < use.m; ++m) {
    for (unsigned n = 0; n < use.n; ++n) {
      const TmemCell c = d_cell(layout, m, n, use.n);
      out[{c.cta, c.lane, c.column}].insert({m, n});
    }
  }
  return out;
}

Elements a_elements(const TmemUseForm& use, DLayout layout) {
  std::map<Cell, std::set<std::pair<unsigned, unsigned>>> once;
  for (unsigned m = 0; m < use.m; ++m) {
    for (unsigned n = 0; n < use.n; n += 8) {  // every group of columns has its copy
      for (unsigned k = 0; k < mma_k(use.form.kind, false, use.k96); ++k) {
        const TmemCell row = a_row(layout, m, n, use.n);
        once[{row.cta, row.lane, a_bits(use.form.kind, use.element, k).column}].insert({m, k});
      }
    }
  }
  Elements out;
  for (const auto& [cell, elements] : once) out[cell] = {elements.begin(), elements.end()};
  return out;
}

Elements factor_elements(const TmemUseForm& use, DLayout layout) {
  Elements out;
  const bool of_b = use.operand == TmemOperand::sfb;
  for (unsigned cta = 0; cta < use.form.cta_group; ++cta) {
    for (unsigned row = 0; row < (of_b ? use.n : d_rows_per_cta(layout)); ++row) {
      for (unsigned partition = 0; partition < 4; ++partition) {
        if (of_b && layout == DLayout::B && partition / 2 != row / (use.n / 2)) continue;
        for (unsigned j = 0; j < use.factors(); ++j) {
          const TmemByte b =
              of_b ? sfb_place(layout, row, use.n, j, 0, partition) : sfa_place(row, j, 0, partition);
          out[{cta, b.lane, b.column}].insert({of_b ? row : row + cta * d_rows_per_cta(layout), j});
        }
      }
    }
  }
  return out;
}

struct BlockCase {
  const char* name;
  unsigned m, n, cta_group;
  bool ws, sparse;
  DLayout layout;
};

class TmemBlocks : public testing::TestWithParam<BlockCase> {
 protected:
  TmemUseForm use(TmemOperand operand, MmaKind kind, ScaleVector scale = ScaleVector::none) const {
    const BlockCase& c = GetParam();
    return {
        operand,
        MmaForm{kind, static_cast<uint8_t>(c.cta_group), c.ws, c.sparse, operand == TmemOperand::a, scale},
        c.m, c.n, MmaElement::f16};
  }
};

TEST_P(TmemBlocks, HoldEveryElementOfD) {
  const TmemUseForm u = use(TmemOperand::d, MmaKind::f16);
  EXPECT_EQ(layout_of(u), GetParam().layout);
  EXPECT_EQ(of_blocks(u), d_elements(u, GetParam().layout));
}

TEST_P(TmemBlocks, HoldEveryElementOfA) {
  TmemUseForm u = use(TmemOperand::a, MmaKind::f16);
  EXPECT_EQ(of_blocks(u), a_elements(u, GetParam().layout));
  u = use(TmemOperand::a, MmaKind::tf32);
  u.element = MmaElement::tf32;
  EXPECT_EQ(of_blocks(u), a_elements(u, GetParam().layout));
  u = use(TmemOperand::a, MmaKind::mxf4nvf4, ScaleVector::x4);
  if (!is_valid_shape(u.form, u.m, u.n)) return;
  u.element = MmaElement::e2m1;
  for (const bool k96 : {false, true}) {
    u.k96 = k96;
    EXPECT_EQ(of_blocks(u), a_elements(u, GetParam().layout)) << k96;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, TmemBlocks,
                         testing::Values(BlockCase{"A", 256, 128, 2, false, false, DLayout::A},
                                         BlockCase{"B", 128, 256, 2, false, false, DLayout::B},
                                         BlockCase{"C", 128, 128, 2, false, true, DLayout::C},
                                         BlockCase{"D", 128, 256, 1, false, false, DLayout::D},
                                         BlockCase{"E", 64, 128, 1, true, false, DLayout::E},
                                         BlockCase{"F", 64, 72, 1, false, false, DLayout::F},
                                         BlockCase{"G", 32, 64, 1, true, false, DLayout::G}),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(TmemBlocksOfFactors, HoldEveryFactor) {
  const struct {
    unsigned m, n, cta_group;
    DLayout layout;
  } kCases[] = {{128, 256, 1, DLayout::D},
                {128, 40, 1, DLayout::D},
                {256, 256, 2, DLayout::A},
                {128, 128, 2, DLayout::B}};
  for (const auto& c : kCases) {
    for (const TmemOperand o : {TmemOperand::sfa, TmemOperand::sfb}) {
      for (const auto& [kind, scale] :
           {std::pair(MmaKind::mxf8f6f4, ScaleVector::x1), std::pair(MmaKind::mxf4nvf4, ScaleVector::x4)}) {
        const TmemUseForm u{o, MmaForm{kind, static_cast<uint8_t>(c.cta_group), false, false, false, scale},
                            c.m, c.n, MmaElement::e2m1};
        if (!is_valid_shape(u.form, c.m, c.n)) continue;
        EXPECT_EQ(of_blocks(u), factor_elements(u, c.layout)) << c.m << " x " << c.n << " " << to_string(o);
        if (kind == MmaKind::mxf8f6f4) continue;
        TmemUseForm longer = u;
        longer.k96 = true;
        EXPECT_EQ(longer.factors(), 6u);
        EXPECT_EQ(of_blocks(longer), factor_elements(longer, c.layout)) << c.m << " x " << c.n << " " << to_string(o) << ", K = 96";
      }
    }
  }
}

TEST(TmemBlocksOfFactors, KindsWithoutFactorsHaveNone) {
  const TmemUseForm u{TmemOperand::sfa, MmaForm{MmaKind::f16, 1, false, false, false, ScaleVector::none}, 128,
                      64, MmaElement::f16};
  EXPECT_THROW(tmem_blocks(u), InputError);
}

// M = 64 has 16 rows in each partition (layout F). Rows that follow each other agree in the first 16 lanes
// only.
TEST(TmemExpected, CellsThatDifferAreFound) {
  const TmemUseForm u{TmemOperand::d, MmaForm{MmaKind::f16, 1, false, false, false, ScaleVector::none}, 64,
                      64, MmaElement::f16};
  const auto expect = [&](const char* layout) {
    return differing_cells(layout::evaluate(layout).layout(), u);
  };
  EXPECT_TRUE(expect("(((16,4),64)):(((65536,2097152),1))").empty());
  const std::vector<TmemCells> cells = expect("((64,64)):((65536,1))");
  EXPECT_EQ(cells, (std::vector<TmemCells>{{16, 64, 0, 64}, {96, 16, 0, 64}}));
  // One column too far: every cell of the 65 columns differs in the lanes that D uses.
  uint64_t differ = 0;
  for (const TmemCells& c : expect("(((16,4),64)):(((65536,2097152),2))"))
    differ += uint64_t{c.lanes} * c.columns;
  EXPECT_EQ(
      differ,
      64u * (128 - 32 - 1));  // 64 columns and 64 even ones of 128; 32 of them shared, column 0 alone agrees
  EXPECT_THROW(expect("64:1"), InputError);
}

size_t count(const std::string& text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TmemUseForm d_form(unsigned m, unsigned n, uint8_t cta_group, bool ws = false) {
  return {TmemOperand::d, MmaForm{MmaKind::f16, cta_group, ws, false, false, ScaleVector::none}, m, n,
          MmaElement::f16};
}

// Areas cover what the layout uses, to scale: a third source beside the blocks and d_cell is PTX's own count
// of cells.
TEST(TmemLayoutPicture, AreasHaveTheAreaOfTheElements) {
  for (const auto& [use, ctas] : {std::pair(d_form(256, 128, 2), 2u), std::pair(d_form(64, 128, 1), 1u),
                                  std::pair(d_form(32, 128, 1, true), 1u)}) {
    const ScalePicture p = tmem_layout_picture(use);
    ASSERT_EQ(p.panels.size(), ctas);
    double area = 0;
    for (const ScalePanel& panel : p.panels) {
      EXPECT_EQ(panel.rows, 128);
      EXPECT_EQ(panel.guides.size(), 4u);
      for (const ScaleArea& a : panel.areas) area += a.width * a.height;
    }
    EXPECT_EQ(area, static_cast<double>(use.m * use.n));
  }
}

TEST(TmemLayoutPicture, SvgHasAxesLegendAndBothCtas) {
  const ScalePicture p = tmem_layout_picture(d_form(128, 256, 2));
  const std::string svg = to_svg(p);
  for (const char* part : {"layout B", "even CTA of the pair", "odd CTA of the pair", ">lane</text>",
                           "m 0-31, n 128-255", "warps 3, 7, …", "prefers-color-scheme:dark", ">128</text>"})
    EXPECT_THAT(svg, testing::HasSubstr(part));
  EXPECT_EQ(count(svg, "<title>"), 8u);  // an area each, with a tip
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
  EXPECT_THAT(to_svg(p, ScaleTheme::dark), testing::Not(testing::HasSubstr("prefers-color-scheme")));
  EXPECT_NE(to_svg(p, ScaleTheme::dark), to_svg(p, ScaleTheme::light));
}

TEST(TmemLayoutPicture, LatexIsBalanced) {
  const std::string tex = to_latex(tmem_layout_picture(d_form(64, 128, 1)));
  EXPECT_EQ(count(tex, "{"), count(tex, "}"));
  EXPECT_EQ(count(tex, "\\begin{tikzpicture}"), 1u);
  EXPECT_EQ(count(tex, "\\filldraw"), 4u);  // layout F: 16 lanes of each partition
}

// A label is drawn only where it fits.
TEST(ScalePicture, LabelsThatDoNotFitAreLeftOut) {
  ScalePicture p;
  p.keys = {{"k", 0x0072B2}};
  p.panels.push_back({"",
                      512,
                      128,
                      {},
                      {{0, 0, 2, 128, 0, {"a long label"}, "tip", false},
                       {100, 0, 200, 128, 0, {"a long label"}, "tip", false}}});
  EXPECT_EQ(count(to_svg(p), ">a long label<"), 1u);
}

}  // namespace
}  // namespace drywell::isa
