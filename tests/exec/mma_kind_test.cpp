// mma.sync with .kind on sm_120a: selectors of the scales in registers. Products and layouts: the conformance family mma_kind.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <bit>

#include "drywell/core/error.h"
#include "support/warp_run.h"

namespace drywell::test {
namespace {

// A row of A is 1 in its first element, B is 1 in every first element, so D is the scale of A's row (that of B is 1). Bytes 2 and 3 of lane pair
// 1 hold the codes of 2^row and 1; the other bytes and lanes hold other codes.
WarpProgram scales_of_rows(const std::string& before, const std::string& id) {
  WarpProgram p;
  p.target = "sm_120a";
  p.inputs = 4;
  p.outputs = 4;
  p.body = before + "  mov.b32 %t1, 0;\n  mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {%o0, %o1, %o2, %o3}, "
           "{%i0, %i0, %t1, %t1}, {%i1, %t1}, {%t1, %t1, %t1, %t1}, %i2, " + id + ", %i3, {0, 0};";
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
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(r.registers[i * 32 + lane], std::bit_cast<uint32_t>(static_cast<float>(1u << (lane / 4 + 8 * (i / 2)))));
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
  for (const auto& [byte, thread] : {std::pair{"1", "0"}, {"4", "0"}, {"0", "2"}}) expect_fault(scales_of_rows(in_registers(byte, thread), "{%h0, %h1}"));
}

TEST(MmaKind, SelectorsThatDifferBetweenLanesFault) {
  expect_fault(scales_of_rows("  .reg .b16 %h0;\n  .reg .b32 %odd;\n  and.b32 %odd, %lane, 1;\n  cvt.u16.u32 %h0, %odd;\n", "{0, %h0}"));
}

}  // namespace
}  // namespace drywell::test
