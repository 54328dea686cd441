// mma.sync with .kind on sm_120a: selectors of the scales in registers. Products and layouts: the conformance
// family mma_kind.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <bit>

#include "drywell/core/error.h"
#include "support/warp_run.h"

namespace drywell::test {
namespace {

// A row of A is 1 in its first element, B is 1 in every first element, so D is the scale of A's row (that of
// B is 1). Bytes 2 and 3 of lane pair 1 hold the codes of 2^row and 1; the other bytes and lanes hold other
// codes.
WarpProgram scales_of_rows(const std::string& before, const std::string& id) {
  WarpProgram p;
  p.target = "sm_120a";
  p.inputs = 4;
  p.outputs = 4;
  p.body = before +
           "  mov.b32 %t1, 0;\n  "
           "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 "
           "{%o0, %o1, %o2, %o3}, "
           "{%i0, %i0, %t1, %t1}, {%i1, %t1}, {%t1, %t1, %t1, %t1}, %i2, " +
           id + ", %i3, {0, 0};";
  return p;
}

std::vector<uint64_t> inputs() {
  std::vector<uint64_t> in(4 * 32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    in[lane] = in[32 + lane] = lane % 4 == 0 ? 2 : 0;  // e2m1 1.0 at k = 0
    const unsigned row = lane / 4 + 8 * (lane % 2);
    in[64 + lane] = lane % 4 < 2 ? 0x91929394 : uint64_t{127 + row} << 16 | 0x7F00A1A2;
    in[96 + lane] = 0x7F7F7F7F;
  }
  return in;
}

std::string in_registers(const char* byte, const char* thread) {
  return fmt::format("  .reg .b16 %h<2>;\n  mov.b16 %h0, {};\n  mov.b16 %h1, {};\n", byte, thread);
}

TEST(MmaKind, SelectorsMayBeRegisters) {
  const WarpResult r = run_warps(scales_of_rows(in_registers("2", "1"), "{%h0, %h1}"), inputs());
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(r.registers[i * 32 + lane],
                std::bit_cast<uint32_t>(static_cast<float>(1u << (lane / 4 + 8 * (i / 2)))));
  }
}

void expect_fault(const WarpProgram& p) {
  try {
    run_warps(p, inputs());
    ADD_FAILURE() << "no fault: " << p.body;
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::F3409) << e.what();
  }
}

TEST(MmaKind, SelectorsThatDoNotExistFault) {
  for (const auto& [byte, thread] : {std::pair{"1", "0"}, {"4", "0"}, {"0", "2"}})
    expect_fault(scales_of_rows(in_registers(byte, thread), "{%h0, %h1}"));
}

TEST(MmaKind, SelectorsThatDifferBetweenLanesFault) {
  expect_fault(scales_of_rows(
      "  .reg .b16 %h0;\n  .reg .b32 %odd;\n  and.b32 %odd, %lane, 1;\n  cvt.u16.u32 %h0, %odd;\n",
      "{0, %h0}"));
}

// Corners (docs/facts/numerics.md §3.1 step 1 and step 5). Word `c` is C; A is `a`, B is `b` in every
// register, the scales are `sa` and `sb`.
WarpResult uniform(const std::string& op, bool sparse, uint64_t a, uint64_t b, uint64_t c, uint64_t sa,
                   uint64_t sb, uint64_t metadata = 0) {
  WarpProgram p;
  p.target = "sm_120a";
  p.inputs = 6;
  p.outputs = 4;
  const char* fragments =
      sparse ? "{%i0, %i0, %i0, %i0}, {%i1, %i1, %i1, %i1}" : "{%i0, %i0, %i0, %i0}, {%i1, %i1}";
  p.body =
      fmt::format("  {} {{%o0, %o1, %o2, %o3}}, {}, {{%i2, %i2, %i2, %i2}}{}, %i3, {{0, 0}}, %i4, {{0, 0}};",
                  op, fragments, sparse ? ", %i5, 0" : "");
  std::vector<uint64_t> in;
  for (const uint64_t v : {a, b, c, sa, sb, metadata}) in.insert(in.end(), 32, v);
  return run_warps(p, in);
}
const std::string kMxf8 =
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0";
const std::string kNvf4 =
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3";

void expect_all(const WarpResult& r, uint32_t word) {
  for (const uint64_t got : r.registers) ASSERT_EQ(got, word);
}

TEST(MmaKindCorners, AScaleThatIsNaNGivesNaNThoughItsBlockIsZero) {
  expect_all(uniform(kMxf8, false, 0, 0x38383838, 0x3F800000, 0xFF, 0x7F), 0x7FFFFFFF);  // ue8m0 255 of A
  expect_all(uniform(kMxf8, false, 0x38383838, 0, 0x3F800000, 0x7F, 0xFF), 0x7FFFFFFF);  // of B
  expect_all(uniform(kNvf4, false, 0, 0x22222222, 0, 0x3838387F, 0x38383838),
             0x7FFFFFFF);  // ue4m3 7F in one of four blocks
  expect_all(uniform(kMxf8, false, 0x38383838, 0x38383838, 0, 0xFFFFFF7F, 0xFFFFFF7F),
             0x42000000);  // NaN codes that are not selected: 32
}

TEST(MmaKindCorners, NegativeZerosGivePositiveZero) {
  expect_all(uniform(kMxf8, false, 0x80808080, 0x38383838, 0x80000000, 0x7F, 0x7F), 0);
  expect_all(uniform(kNvf4, false, 0x88888888, 0x22222222, 0x80000000, 0x38383838, 0x38383838), 0);
  expect_all(uniform(kNvf4, false, 0x22222222, 0x22222222, 0x80000000, 0, 0x38383838), 0);  // scales of 0
}

TEST(MmaKindCorners, InfinityTimesZeroIsNaNAndTheLargestScalesOverflow) {
  const std::string e5m2 =
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e5m2.f32.ue8m0";
  expect_all(uniform(e5m2, false, 0x7C7C7C7C, 0, 0, 0x7F, 0x7F), 0x7FFFFFFF);
  expect_all(uniform(e5m2, false, 0x7C7C7C7C, 0xBCBCBCBC, 0, 0x7F, 0x7F), 0xFF800000);
  expect_all(uniform(kMxf8, false, 0x38383838, 0x38383838, 0, 0xFE, 0xFE), 0x7F800000);  // 32 * 2^254
  expect_all(uniform(kMxf8, false, 0x38383838, 0x38383838, 0, 0, 0), 0);                 // 32 * 2^-254
}

// PTX leaves metadata of two equal or falling indices undefined; here each stored element meets the element
// of B that its index names.
TEST(MmaKindCorners, MetadataOutOfOrderSelectsByItsIndices) {
  const std::string op =
      "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32."
      "e4m3.e4m3.f32.ue8m0";
  // B is 1, 2, 4, 8 along k: both stored elements of a group meet its index 3 (nibble F), or indices 2 and 1
  // (nibble 6).
  expect_all(uniform(op, true, 0x38383838, 0x50484038, 0, 0x7F, 0x7F, 0xFFFFFFFF),
             std::bit_cast<uint32_t>(16.0f * 16));
  expect_all(uniform(op, true, 0x38383838, 0x50484038, 0, 0x7F, 0x7F, 0x66666666),
             std::bit_cast<uint32_t>(16.0f * 6));
}

}  // namespace
}  // namespace drywell::test
