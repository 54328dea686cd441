// Bad expressions: the code, the position, the message; and text that must not crash or hang.
#include <gtest/gtest.h>

#include <random>

#include "drywell/core/error.h"
#include "drywell/isa/layout/expression.h"

namespace drywell::layout {
namespace {

struct BadExpression {
  const char* name;
  const char* text;
  Code code;
  uint32_t column;
  const char* part_of_message;
};

void PrintTo(const BadExpression& b, std::ostream* os) { *os << b.text; }

class LayoutError : public testing::TestWithParam<BadExpression> {};

TEST_P(LayoutError, IsReportedWithCodeAndColumn) {
  const BadExpression& b = GetParam();
  try {
    evaluate(b.text);
    FAIL() << "accepted";
  } catch (const InputError& e) {
    const Diagnostic& d = e.diagnostics().list().front();
    EXPECT_EQ(d.code, b.code) << e.what();
    EXPECT_EQ(d.where.column, b.column) << e.what();
    EXPECT_NE(d.message.find(b.part_of_message), std::string::npos) << e.what();
  }
}

const BadExpression kBad[] = {
    {"Empty", "", Code::E1801, 1, "ends here"},
    {"OpenTuple", "(1,2", Code::E1801, 5, "expected ')'"},
    {"Trailing", "(1,2):(1,1))", Code::E1801, 12, "unexpected ')'"},
    {"Character", "(1,#)", Code::E1801, 4, "unexpected '#'"},
    {"NoNumber", "(1,-x)", Code::E1801, 5, "expected a number"},
    {"UnknownFunction", "coalese((2,2):(1,2))", Code::E1802, 1, "unknown function 'coalese'"},
    {"UnknownPointer", "vmem_ptr[8b](0x0) o 4:1", Code::E1802, 1, "unknown pointer"},
    {"ArgumentCount", "composition((2,2):(1,2))", Code::E1803, 1, "takes 2 arguments, found 1"},
    {"ArgumentKind", "coalesce((2,2))", Code::E1803, 1, "argument 1 of coalesce must be a layout"},
    {"ModeNumbersMissing", "take((2,2):(1,2))", Code::E1803, 1, "takes 2 numbers in <>"},
    {"Profiles", "(2,2):(1,(1,2))", Code::E1804, 1, "different profiles"},
    {"NegativeShape", "(2,-2):(1,2)", Code::E1804, 1, "negative shape -2"},
    {"TilerRank", "logical_divide((4,4):(1,4), (2,2,2))", Code::E1804, 1, "3 tiler modes for a layout of rank 2"},
    {"CoordinateRank", "crd2idx((1,2,3), (4,4):(1,4))", Code::E1804, 1, "rank 3 does not fit"},
    {"MixedCodomain", "crd2idx((1,1), (2,2):(1,1@0))", Code::E1804, 1, "cannot add an integer to a coordinate"},
    {"ShapeDivisibility", "composition((6,4):(1,8), 8:1)", Code::E1805, 1, "shape divisibility"},
    {"StrideDivisibility", "composition((4,6,8):(2,3,5), 6:6)", Code::E1805, 1, "stride divisibility"},
    {"Nested", "coalesce(composition((6,4):(1,8), 8:1))", Code::E1805, 10, "shape divisibility"},
    {"TileToShape", "tile_to_shape((64,8):(1,64), (100,64))", Code::E1805, 1, "does not divide the target"},
    {"Upcast", "upcast<4>((8,4):(3,24))", Code::E1805, 1, "neither of stride 3 and 4"},
    {"Downcast", "downcast<2>((8,4):(2,16))", Code::E1805, 1, "adjacent elements"},
    {"Recast", "recast<24>(ptr[8b](0x0) o 4:2)", Code::E1805, 1, "neither of stride 2 and 3"},
    {"NotInjective", "complement((4,2):(1,2), 16)", Code::E1806, 1, "not injective"},
    {"NumberOverflow", "(99999999999999999999,1)", Code::E1807, 2, "64 bits"},
    {"ProductOverflow", "size((4000000000,4000000000,4000000000))", Code::E1807, 1, "does not fit in 64 bits"},
    {"DivisionByZero", "ceil_div(4, 0)", Code::E1807, 1, "division by zero"},
    {"DynamicStrides", "complement((_4,4):(_1,8), _64)", Code::E1809, 1, "static strides"},
    {"DynamicLeftInverse", "left_inverse((_4,2):(_1,8))", Code::E1809, 1, "static strides"},
    {"Mode", "get<2>((2,2):(1,2))", Code::E1810, 1, "mode 2 does not exist"},
    {"TakeRange", "take<1,3>((2,2):(1,2))", Code::E1810, 1, "modes [1,3) do not exist"},
    {"Swizzle", "Sw<4,3,3>", Code::E1811, 3, "not valid"},
    {"SwizzleMasks", "composition((2,2,2):(1,4,2), Sw<2,0,3>)", Code::E1811, 1, "no Swizzle<B,M,S>"},
    {"Selector", "sm100_smem_selector(MN, 16, 12, 8)", Code::E1805, 1, "multiple of 8"},
    {"SelectorMajor", "sm100_smem_selector(M, 16, 16, 8)", Code::E1802, 1, "unknown major 'M'"},
    {"TmemShape", "tmem_fragment(((100,16),1,1), 32)", Code::E1803, 1, "no TMEM fragment"},
    {"ScaleKind", "make_smem_layout_sfa(mxf9, (128,128))", Code::E1802, 1, "unknown block-scaled kind"},
    {"BareWord", "foo", Code::E1802, 0, "unknown name 'foo'"},
    {"PointerBehindSwizzle", "Sw<3,4,3> o gmem_ptr[8b](0x0) o 4:1", Code::E1803, 1,
     "cannot stand before a pointer"},
};

std::string bad_name(const testing::TestParamInfo<BadExpression>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Each, LayoutError, testing::ValuesIn(kBad), bad_name);

TEST(LayoutError, NamesTheLineOfALongExpression) {
  try {
    evaluate("A = (8,8):(8,1);\nB = 3:3;\ncomposition(A,\n  logical_divide(B, (1,1)))");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().list().front().where.line, 4u);
    EXPECT_EQ(e.diagnostics().list().front().where.column, 3u);
  }
}

TEST(LayoutError, NearMissIsHinted) {
  try {
    evaluate("compositon((8,8):(8,1), 4:2)");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().list().front().hint, "did you mean 'composition'?");
  }
}

/// Must evaluate or throw InputError; otherwise the test (or the sanitizer) fails.
void must_not_crash(const std::string& text) {
  try {
    const Evaluation e = evaluate(text);
    to_string(e.value, e.marks);
  } catch (const InputError&) {
    SUCCEED();
  }
}

TEST(LayoutError, LimitsAreErrors) {
  try {
    evaluate(std::string(1000, '(') + "1" + std::string(1000, ')'));
    FAIL() << "accepted";
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E1808) << e.what();
  }
}

TEST(LayoutFuzz, DeepAndLongTextEndsInAnError) {
  for (const char* piece : {"(", "coalesce(", "((", "4*", "A=", "3:", "Sw<", "_", "1@", "(1,", "4:1 o ",
                            "4:1(", ";", "ArithTuple("}) {
    std::string text;
    while (text.size() < 60000) text += piece;
    must_not_crash(text);
    must_not_crash(text + "1" + std::string(1000, ')'));
  }
  must_not_crash(std::string(100000, '1'));
  must_not_crash("append<1000000>(4:1)");
  must_not_crash("append<2000000000000>((4):(1))");
  must_not_crash("coalesce(make_layout((9223372036854775807,9223372036854775807)))");
  must_not_crash("crd2idx(-9223372036854775808, (3,5):(-1,-2))");
  must_not_crash("composition((4,0):(1,4), 4:2)");
  must_not_crash("logical_divide((0,4):(1,0), 0)");
  must_not_crash("zipped_divide(():(), ())");
  must_not_crash("right_inverse(():())");
  must_not_crash("idx2crd(5, ())");
  must_not_crash("tile_to_shape((0):(1), (0))");
  must_not_crash("upcast<0>(4:1)");
  must_not_crash("upcast<-2>(tmem_[32b](0x0000.0000) o 4:1)");
  must_not_crash("downcast<3>(Sw<3,4,3> o smem_ptr[16b](unset) o (64,8):(1,64))");
  must_not_crash("recast<99999999999>(ptr[8b](0x0) o 4:1)");
  must_not_crash("left_inverse((4,4):(-1,-4))");
  must_not_crash("right_inverse((4,4):(1@0,1@1))");
  must_not_crash("complement((4,4):(1@0,1@1))");
}

TEST(LayoutFuzz, MutatedExpressionsEndInAValueOrAnError) {
  const std::vector<std::string> seeds = {
      "composition((_8,_8):(_8,_1),(_4,(_2,_2)):(_2,(_1,_8)))",
      "tile_to_shape(Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_8):(_1,_64),(_128,_64,_3),(2,1,3))",
      "local_tile(make_identity_tensor((5120,8192)),(_128,_16,_64),(_,_,_),(_1,X,_1))",
      "zipped_divide((9,(4,8)):(59,(13,1)),(3:3,(2,4):(1,8)))",
      "partition_A<128,16,16>(ArithTuple(_0,_0) o (_128,_64):(_1@0,_1@1))",
      "left_inverse((4,(2,2)):(2,(1,8)))",
      "A=(2,5):(5,1); blocked_product(A,(3,4):(1,3))(_,2)",
      "make_smem_layout_sfa(nvf4,(128,256),3)",
      "upcast<4>(tmem_[8b](0x0000.0000) o ((32,4),4):((262144,4),8388608))",
  };
  const std::string alphabet = "()_,:0123456789@<>o*-=;. XSwAbcK";
  std::mt19937 random(11);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (int round = 0; round < 8000; ++round) {
    std::string text = seeds[below(seeds.size())];
    for (size_t edits = 1 + below(4); edits-- > 0 && !text.empty();) {
      const size_t at = below(text.size());
      switch (below(4)) {
        case 0: text[at] = alphabet[below(alphabet.size())]; break;
        case 1: text.erase(at, 1 + below(5)); break;
        case 2: text.insert(at, 1, alphabet[below(alphabet.size())]); break;
        default: {
          const std::string& other = seeds[below(seeds.size())];
          const size_t from = below(other.size());
          text.insert(at, other.substr(from, 1 + below(12)));
        }
      }
    }
    must_not_crash(text);
  }
}

}  // namespace
}  // namespace drywell::layout
