// Forms that ptxas 13.0 takes and that the parser makes others of: parameters in registers, special registers in conversions, constants in
// fragments; and the rounding of double-precision products.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "drywell/core/error.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

constexpr uint32_t kWords = 64;

std::string text_of(const std::string& body, const std::string& functions) {
  return ".version 8.7\n.target sm_100a\n.address_size 64\n" + functions + R"(
.visible .entry k(.param .u64 to)
{
  .reg .b32 %r<30>;
  .reg .f32 %f<9>;
  .reg .b64 %rd<9>;
  .reg .f64 %fd<9>;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 8;
  add.u64 %rd2, %rd1, %rd2;
)" + body +
         "\n  ret;\n}\n";
}

/// Runs 32 threads; thread i's place is [%rd2], of 8 bytes.
std::vector<uint64_t> run(const std::string& body, const std::string& functions = "") {
  Device d;
  const LoadedModule m = d.load_ptx(text_of(body, functions));
  const GmemAddr to = d.allocate(8 * kWords, "to");
  d.fill(to, 0, 8 * kWords);
  const RunResult r = d.launch(m, "k", {.grid = {1}, .block = {32}}, Args().add(to));
  EXPECT_TRUE(r.ok()) << (r.fault ? r.fault->to_string() : "");
  std::vector<uint64_t> words(kWords);
  d.read(words.data(), to, 8 * kWords);
  return words;
}

/// Value of each thread of a conversion whose destination is a register of 64 bits that held ones.
std::vector<uint64_t> converted(const std::string& instructions) { return run("  mov.b64 %rd3, -1;\n  mov.b64 %rd5, -1;\n" + instructions + "\n  st.global.u64 [%rd2], %rd3;"); }

void expect_everywhere(const std::string& instructions, uint64_t value) {
  SCOPED_TRACE(instructions);
  const auto words = converted(instructions);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], value) << i;
}

// PTX ISA 9.4.1: a float in a wider register has zeros above it, and what lies above a source is not read. Values of IEEE 754.
TEST(FloatsInWiderRegisters, HaveZerosAboveThem) {
  const auto words = converted("  cvt.rn.f32.u32 %rd3, %r1;");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], std::bit_cast<uint32_t>(static_cast<float>(i))) << i;
  expect_everywhere("  mov.b32 %r2, -3;\n  cvt.rn.f32.s32 %rd3, %r2;", 0xC0400000);
  expect_everywhere("  mov.b32 %r2, -3;\n  cvt.rz.f16.s32 %rd3, %r2;", 0xC200);
  expect_everywhere("  mov.b64 %fd1, 0d3FF8000000000000;\n  cvt.rn.f32.f64 %rd3, %fd1;", 0x3FC00000);
  expect_everywhere("  mov.b64 %fd1, 0d3FF8000000000000;\n  cvt.rn.f16.f64 %rd3, %fd1;", 0x3E00);
  expect_everywhere("  cvt.rn.relu.f16.f32 %rd3, 0fC0400000;", 0);
  expect_everywhere("  cvt.rn.satfinite.f16.f32 %rd3, 0f7F800000;", 0x7BFF);
}

TEST(FloatsInWiderRegisters, AreReadAloneFromThem) {
  expect_everywhere("  mov.b64 %rd4, 0xFFFFFFFF40400000;\n  cvt.rzi.s32.f32 %rd3, %rd4;", 3);
  expect_everywhere("  mov.b64 %rd4, 0xFFFFFFFFC0400000;\n  cvt.rzi.s32.f32 %rd3, %rd4;", ~uint64_t{2});
  expect_everywhere("  mov.b64 %rd4, 0xFFFFFFFFFFFF3E00;\n  cvt.f32.f16 %rd3, %rd4;", 0x3FC00000);
  expect_everywhere("  mov.b32 %r2, 0xFFFF3E00;\n  cvt.f32.f16 %rd3, %r2;", 0x3FC00000);
  expect_everywhere("  mov.b32 %r2, 0xFFFF3E00;\n  cvt.f64.f16 %rd3, %r2;", 0x3FF8000000000000);
  expect_everywhere("  mov.b64 %rd4, 0xFFFFFFFF3FC00000;\n  cvt.f64.f32 %rd3, %rd4;", 0x3FF8000000000000);
  expect_everywhere("  mov.b64 %rd4, 0xFFFFFFFF3FC00000;\n  cvt.rni.f32.f32 %rd3, %rd4;", 0x40000000);
  expect_everywhere("  mov.b64 %rd4, 0xFFFFFFFF3FC00000;\n  cvt.rn.f16.f32 %rd3, %rd4;", 0x3E00);
}

// ptxas 13.0 takes 8-bit integers of bf16 in registers of 8 bits: -3 and 200, out of range and back.
TEST(Bytes, AreMadeOfBf16) {
  const std::string b = "  .reg .b16 %h<3>;\n  .reg .s8 %s;\n  .reg .u8 %u;\n  mov.b16 %h1, 0xC040;\n", to = "  cvt.s32.s8 %r2, %s;\n  cvt.u64.u32 %rd3, %r2;";
  expect_everywhere(b + "  cvt.rzi.s8.bf16 %s, %h1;\n" + to, 0xFFFFFFFD);
  expect_everywhere(b + "  mov.b16 %h1, 0x4348;\n  cvt.rzi.s8.bf16 %s, %h1;\n" + to, 127);
  expect_everywhere(b + "  mov.b16 %h1, 0x4348;\n  cvt.rzi.u8.bf16 %u, %h1;\n  cvt.rn.bf16.u8 %h2, %u;\n  cvt.u64.u16 %rd3, %h2;", 0x4348);
  expect_everywhere(b + "  cvt.rzi.s8.bf16 %s, %h1;\n  cvt.rn.bf16.s8 %h2, %s;\n  cvt.u64.u16 %rd3, %h2;", 0xC040);
}

// ptxas 13.0 extends to all of 128 bits: by the sign of signed integers, otherwise by zeros.
TEST(RegistersOf128Bits, AreFilledByNarrowConversionsAndLoads) {
  constexpr char kBefore[] = "  .reg .b128 %q;\n  mov.b128 %q, {%rd5, %rd5};\n", kAfter[] = "\n  mov.b128 {%rd4, %rd3}, %q;\n  add.u64 %rd3, %rd3, %rd4;";
  const auto filled = [&](const std::string& instructions, uint64_t low, uint64_t high) { expect_everywhere(kBefore + instructions + kAfter, low + high); };
  filled("  cvt.rn.f32.s32 %q, 3;", 0x40400000, 0);
  filled("  cvt.f64.f32 %q, 0f3FC00000;", 0x3FF8000000000000, 0);
  filled("  mov.b32 %r2, -3;\n  cvt.u64.u32 %q, %r2;", 0xFFFFFFFD, 0);
  filled("  mov.b32 %r2, -3;\n  cvt.s64.s32 %q, %r2;", ~uint64_t{2}, ~uint64_t{0});
  filled("  mov.b32 %r2, -3;\n  st.global.b32 [%rd2], %r2;\n  ld.global.u32 %q, [%rd2];", 0xFFFFFFFD, 0);
  filled("  mov.b32 %r2, -3;\n  st.global.b32 [%rd2], %r2;\n  ld.global.s32 %q, [%rd2];", ~uint64_t{2}, ~uint64_t{0});
  filled("  mov.b64 %rd4, 7;\n  st.global.b64 [%rd2], %rd4;\n  ld.global.b64 %q, [%rd2];", 7, 0);
  filled("  mov.b64 %rd4, 0x3FC00000;\n  mov.b128 %q, {%rd4, %rd5};\n  cvt.f64.f32 %q, %q;", 0x3FF8000000000000, 0);
}

// Pairs: ptxas 13.0 reads the lower halves and makes zeros above the pair (F2FP and I2IP, then a move of zero). Values of IEEE 754.
TEST(PairsInWiderRegisters, HaveZerosAboveThem) {
  const std::string sources = "  mov.b64 %rd4, 0xFFFFFFFF3FC00000;\n  mov.b32 %f1, 0fC0000000;\n";
  expect_everywhere(sources + "  cvt.rn.f16x2.f32 %rd3, %rd4, %f1;", 0x3E00C000);
  expect_everywhere(sources + "  cvt.rz.relu.f16x2.f32 %rd3, %f1, %rd4;", 0x00003E00);
  expect_everywhere(sources + "  mov.b64 %rd3, 0;\n  cvt.rn.f16x2.f32 %r2, %rd4, 0f3F800000;\n  cvt.u64.u32 %rd3, %r2;", 0x3E003C00);
  expect_everywhere(sources + "  mov.b32 %r3, 0;\n  cvt.rs.f16x2.f32 %rd3, %f1, %rd4, %r3;", 0xC0003E00);
  const std::string ints = "  mov.b64 %rd4, 0xFFFFFFFF00020000;\n  mov.b32 %r2, -3;\n";
  expect_everywhere(ints + "  cvt.pack.sat.s16.s32 %rd3, %r2, %rd4;", 0xFFFD7FFF);
  expect_everywhere(ints + "  cvt.pack.sat.u8.s32.b32 %rd3, %rd4, %r2, %rd4;", 0x0000FF00);
  expect_everywhere(ints + "  .reg .b128 %q;\n  mov.b128 %q, {%rd5, %rd5};\n  cvt.pack.sat.s16.s32 %q, %r2, %rd4;\n  mov.b128 {%rd4, %rd3}, %q;\n  add.u64 %rd3, %rd3, %rd4;", 0xFFFD7FFF);
}

// Threads from 8 on return early, the others behind the second sum.
constexpr char kSum[] = R"(
.func (.reg .u32 r) sum(.reg .u32 a, .reg .f32 b, .reg .b64 c)
{
  .reg .u32 t;
  .reg .pred p;
  cvt.rzi.u32.f32 t, b;
  add.u32 r, a, t;
  cvt.u32.u64 t, c;
  add.u32 r, r, t;
  setp.gt.u32 p, r, 10;
  @p ret;
  add.u32 r, r, 100;
  ret;
}
)";

TEST(RegisterParameters, GoInAndOut) {
  const auto words = run("  call (%r2), sum, (%r1, 0f40000000, 1);\n  st.global.u32 [%rd2], %r2;", kSum);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], i + 3 > 10 ? i + 3 : i + 103) << i;
}

TEST(RegisterParameters, OfAFunctionWithoutRetAndOfPrototypes) {
  constexpr char kTwice[] = ".func (.reg .b32 r) twice(.reg .b32 a);\n.func (.reg .b32 r) twice(.reg .b32 a)\n{\n  add.u32 r, a, a;\n}\n";
  const auto words = run("P: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n  call (%r2), twice, (%r1);\n  mov.u64 %rd3, twice;\n  call (%r2), %rd3, (%r2), P;\n  st.global.u32 [%rd2], %r2;", kTwice);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], 4 * i) << i;
}

TEST(RegisterParameters, ArePrintedAsParametersInMemory) {
  const isa::Module m = isa::parse_ptx_or_throw(text_of("  call (%r2), sum, (%r1, 0f40000000, 1);", kSum), "a.ptx");
  const std::string printed = isa::print_module(m);
  EXPECT_EQ(isa::print_module(isa::parse_ptx_or_throw(printed, "a.ptx")), printed);
  EXPECT_NE(printed.find("ld.param.b32"), std::string::npos) << printed;
}

TEST(RegisterParameters, OfOtherKindsAreRefusedByName) {
  for (const char* kind : {".pred", ".v2 .b32", ".b128"}) {
    const auto r = isa::parse_ptx(std::string(".version 8.7\n.target sm_100a\n.address_size 64\n.func f(.reg ") + kind + " a)\n{\n  ret;\n}\n", "a.ptx");
    ASSERT_FALSE(r.diagnostics.empty()) << kind;
    EXPECT_EQ(r.diagnostics.list()[0].code, Code::U5001) << kind;
  }
}

TEST(SpecialRegisters, AreReadByConversionsOfIntegers) {
  const auto words = run("  cvt.u64.u32 %rd3, %tid.x;\n  cvt.u32.u16 %r2, %ntid.x;\n  cvt.u64.u32 %rd4, %r2;\n  mad.lo.u64 %rd3, %rd4, 1000, %rd3;\n  st.global.u64 [%rd2], %rd3;");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], 32'000 + i);
}

// A of ones in 8 bits, B of the thread's number: D[m][n] is 8 times the sum of the four threads that hold column n, plus C.
TEST(Fragments, TakeConstants) {
  const std::string b = "  mul.lo.u32 %r9, %r1, 0x01010101;\n  mov.u32 %r3, 0x01010101;\n  mov.u32 %r4, 5;\n  mov.u32 %r5, -7;\n";
  const std::string store = "  st.global.v2.u32 [%rd2], {%r10, %r12};\n";
  const auto with = run(b + "  mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r10, %r11, %r12, %r13}, {0x01010101, 0x01010101, 0x01010101, 0x01010101}, {%r9, %r9}, {5, 5, -7, -7};\n" + store);
  const auto without = run(b + "  mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r10, %r11, %r12, %r13}, {%r3, %r3, %r3, %r3}, {%r9, %r9}, {%r4, %r4, %r5, %r5};\n" + store);
  EXPECT_EQ(with, without);
  EXPECT_NE(with, std::vector<uint64_t>(kWords));
}

constexpr char kHalfProduct[] = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ";

// Of a double-precision literal ptxas 13.0 takes the lower half (its machine code moves 0x40000000).
TEST(Fragments, TakeConstantsBesideRegisters) {
  const std::string b = "  mul.lo.u32 %r9, %r1, 0x00010001;\n  mov.b32 %f3, 0f40000000;\n  mov.b32 %r3, 0f40000000;\n", store = "  st.global.v2.f32 [%rd2], {%f1, %f2};\n";
  const auto with = [&](const char* c) { return run(b + kHalfProduct + "{%f1, %f2, %f4, %f5}, {%r9, %r9, %r9, %r9}, {%r9, %r9}, " + c + ";\n" + store); };
  const auto registers = with("{%f3, %f3, %f3, %f3}");
  EXPECT_EQ(with("{%f3, 0f40000000, %f3, 0d4008000040000000}"), registers);
  EXPECT_EQ(with("{%r3, 0x40000000, %r3, 0d4008000040000000}"), registers);
  EXPECT_EQ(with("{%r3, 0d4008000040000000, %r3, %r3}"), registers);
  EXPECT_NE(registers, std::vector<uint64_t>(kWords));
}

TEST(Fragments, DropElements) {
  const std::string b = "  .shared .align 16 .b8 s[512];\n  mov.u32 %r4, s;\n  shl.b32 %r5, %r1, 4;\n  add.u32 %r4, %r4, %r5;\n  st.shared.v4.u32 [%r4], {%r1, %r5, %r1, %r5};\n  bar.warp.sync -1;\n";
  const std::string load = "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 ", multiply = std::string("  ") + kHalfProduct, ab = ", {%r6, %r6, %r6, %r6}, {%r6, %r6}, {0f00000000, 0f00000000, 0f00000000, 0f00000000};\n";
  const std::string store = "  mov.b32 %r7, %f1;\n  st.global.v2.u32 [%rd2], {%r6, %r7};\n";
  const auto all = run(b + load + "{%r8, %r9, %r6, %r10}, [%r4];\n" + multiply + "{%f1, %f2, %f3, %f4}" + ab + store);
  EXPECT_EQ(run(b + load + "{_, _, %r6, _}, [%r4];\n" + multiply + "{%f1, _, _, _}" + ab + store), all);
  EXPECT_NE(all, std::vector<uint64_t>(kWords));
}

// 1 + 2^-60 four times.
TEST(DoubleProducts, RoundAsTheySay) {
  const auto first = [](const std::string& product) {
    return std::bit_cast<double>(run("  mov.f64 %fd1, 0d3FF0000000000000;\n  mov.f64 %fd2, 0d3C30000000000000;\n" + product + "\n  st.global.f64 [%rd2], %fd4;")[3]);
  };
  const std::string operands = " {%fd4, %fd5}, {%fd1}, {%fd2}, {%fd1, 0d3FF0000000000000};";
  for (const std::string form : {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64"}) {
    EXPECT_EQ(first(form + ".rn" + operands), 1.0);
    EXPECT_EQ(first(form + ".rz" + operands), 1.0);
    EXPECT_EQ(first(form + ".rm" + operands), 1.0);
    EXPECT_EQ(first(form + ".rp" + operands), 1.0 + 4 * std::ldexp(1, -52));
  }
}

}  // namespace
}  // namespace drywell::sim
