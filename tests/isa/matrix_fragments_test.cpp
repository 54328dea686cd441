// Vectors of matrix instructions with constants and '_' beside registers: each is refused or accepted as ptxas 13.0 does, and where there is a
// ptxas it is asked again.
#include <gtest/gtest.h>

#include <string>

#include "support/twins.h"

namespace drywell::test {
namespace {

constexpr char kProduct[] = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ", kHalves[] = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 ";
constexpr char kAB[] = ", {%r1, %r2, %r3, %r4}, {%r5, %r6}, ";

std::string product(const std::string& d, const std::string& c) { return kProduct + d + kAB + c; }
std::string halves(const std::string& d, const std::string& c) { return kHalves + d + kAB + c; }

TEST(MatrixFragments, ResultsMayBeDropped) {
  const std::string c = "{%f1, %f2, %f3, %f4}";
  check_twins({
      {product("{%f1, _, %f2, _}", c), std::nullopt},
      {product("{_, _, _, _}", c), Code::E1381},
      {product("_", c), Code::E1102},
      {halves("{%r1, _}", "{%r1, %r2}"), std::nullopt},
      {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1, _, %f2, _}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f1, %f2, %f3, %f4}, %r9, 0", std::nullopt},
      {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, _}, [%r5]", std::nullopt},
      {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {_, _}, [%r5]", Code::E1381},
      {"wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%r1, _, %r2, %r3}, [%rd1]", std::nullopt},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, _}, {%r5, %r6}, {%f1, %f2, %f3, %f4}", Code::E1381},
      {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, _}, [%r5]", Code::E1391},
  });
}

TEST(MatrixFragments, ConstantsStandBesideRegisters) {
  const std::string d = "{%f1, %f2, %f3, %f4}";
  check_twins({
      {product(d, "{%f1, 0d0000000000000000, %f3, 0f00000000}"), std::nullopt},
      {product(d, "{%r1, 7, %r2, 0xFF}"), std::nullopt},
      {product(d, "{%r1, 0f00000000, %r2, 0d0000000000000000}"), std::nullopt},
      {product(d, "{0d0000000000000000, 0d0000000000000000, 0d0000000000000000, 0d0000000000000000}"), Code::E1381},
      {product(d, "{%f1, 0, %f2, %f3}"), Code::E1381},
      {halves("{%r1, %r2}", "{%r1, 0}"), std::nullopt},
      {halves("{%r1, %r2}", "{0, 0}"), Code::E1381},
      {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%r2, 7}", std::nullopt},
      {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {7, 7}", Code::E1381},
  });
}

}  // namespace
}  // namespace drywell::test
