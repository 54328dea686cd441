// Pictures of operands in shared memory against addresses computed here, from the PTX ISA's description of the layouts.
#include "drywell/isa/inspect/operand_map.h"

#include <gtest/gtest.h>

namespace drywell::isa {
namespace {

TEST(OperandBytes, AreWholeRowsOfADenseTile) {
  const SmemDescriptor d = SmemDescriptor::make(0x400, 16, 1024, Swizzle::b128);
  EXPECT_EQ(to_string(operand_bytes(d, {Major::k, SmemElement::half, 64, 64})), "0x400..0x23ff (8192 bytes)");
  // 16 of 64 elements per row: two of its eight units, permuted by the swizzle.
  EXPECT_EQ(operand_bytes(d, {Major::k, SmemElement::half, 1, 16}), (std::vector<ByteRun>{{0x400, 0x420}}));
  const auto rows = operand_bytes(d, {Major::k, SmemElement::half, 64, 16});
  uint64_t total = 0;
  for (const ByteRun& r : rows) total += r.last - r.first;
  EXPECT_EQ(total, 64u * 32);
}

// 128-byte swizzle, K-major: unit c of row r is in unit c ^ (r mod 8) of its 128 bytes.
TEST(OperandMemory, ShowsTheSwizzle) {
  const SmemDescriptor d = SmemDescriptor::make(0x400, 16, 1024, Swizzle::b128);
  const layout::Grid g = operand_memory(d, {Major::k, SmemElement::half, 16, 64});
  ASSERT_EQ(g.rows, 16u);
  for (size_t r = 0; r < 16; ++r) {
    for (size_t c = 0; c < 8; ++c) {
      const size_t at = c ^ (r % 8);
      EXPECT_EQ(g.at(r, at).text, "r" + std::to_string(r) + " k" + std::to_string(8 * c) + "-" + std::to_string(8 * c + 7));
    }
  }
  EXPECT_EQ(g.row_labels[0], "0x00400");
}

// No swizzle, MN-major: core matrices of 8 k by 8 elements of M (16 bytes), SBO from one to the next along M, LBO along K.
TEST(OperandAddresses, OfInterleavedCoreMatrices) {
  const SmemDescriptor d = SmemDescriptor::make(0, 0x800, 0x80, Swizzle::none);
  const layout::Grid g = operand_addresses(d, {Major::mn, SmemElement::half, 64, 16});
  ASSERT_EQ(g.rows, 16u);
  ASSERT_EQ(g.columns, 8u);
  const auto hex = [](unsigned v) {
    char text[16];
    std::snprintf(text, sizeof text, v == 0 ? "0x0" : "%#x", v);
    return std::string(text);
  };
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned c = 0; c < 8; ++c) EXPECT_EQ(g.at(k, c).text, hex(c * 0x80 + k % 8 * 16 + k / 8 * 0x800)) << k << " " << c;
}

TEST(OperandMemory, TellsElementsThatShareAPlace) {
  const SmemDescriptor d = SmemDescriptor::make(0, 0, 0, Swizzle::b128);  // SBO 0: all groups of eight rows at the same place
  const layout::Grid g = operand_memory(d, {Major::k, SmemElement::half, 16, 64});
  EXPECT_EQ(g.rows, 8u);
  EXPECT_EQ(g.at(0, 0).text, "r0 k0-7+");
}

TEST(TensorMemory, MarksWhatLiesOutside) {
  TensorMapFields f;
  f.type = TensorType::f16;
  f.rank = 2;
  f.dim = {64, 4};
  f.stride = {128};
  f.box = {64, 8};
  f.swizzle = Swizzle::b128;
  TensorRequest request;
  const layout::Grid g = tensor_memory(f, request);
  ASSERT_EQ(g.rows, 8u);
  for (size_t r = 0; r < 8; ++r)
    for (size_t c = 0; c < 8; ++c)
      EXPECT_EQ(g.at(r, c ^ r).text, std::to_string(r) + "+" + std::to_string(16 * c) + (r < 4 ? "" : "*")) << r << " " << c;
}

TEST(SwizzledTile, HasOneUnitPerPlace) {
  for (const Swizzle s : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128, Swizzle::b128_atom32, Swizzle::b128_atom64}) {
    const layout::Grid g = swizzled_tile(s, 16, 128, 0, 16);
    for (const layout::Cell& c : g.cells) {
      EXPECT_FALSE(c.text.empty()) << to_string(s);
      EXPECT_EQ(c.text.find('+'), std::string::npos) << to_string(s);
    }
  }
}

}  // namespace
}  // namespace drywell::isa
