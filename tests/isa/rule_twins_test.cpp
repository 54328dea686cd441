// Rules that no other test names: programs, modules made by hand, and requests, each refused with its code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "drywell/isa/builder.h"
#include "drywell/isa/instr_descriptor.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/tensor_tile.h"
#include "drywell/isa/validate.h"
#include "support/ptxas.h"
#include "support/twins.h"

namespace drywell::test {
namespace {

using namespace isa;

std::string codes(const Diagnostics& d) { return d.to_string(); }
void expect_code(const Diagnostics& d, Code code) { EXPECT_NE(codes(d).find(fmt::format("error {}", code_name(code))), std::string::npos) << code << "; said: " << codes(d); }
template <class F>
std::optional<Code> code_of(F f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.code();
  }
  return std::nullopt;
}

TEST(RuleTwins, Text) {
  check_twins({
      {"ld.global.b32 %r1, [%rs1]", Code::E1203, "sm_100a", false},  // ptxas warns
      {"add.f32 %f1, %f2, 1", Code::E1206},
      {"mov.b64 {%r1, %r2}, {%r3, %r4}", Code::E1320},
      {"mov.b64 {%r1, %rs1}, %rd1", Code::E1321},
      // Special registers in vectors have their own widths.
      {"mov.b64 %rd1, {%clock64, %tid.x}", Code::E1321},
      {"mov.b64 %rd1, {%tid.x, %globaltimer}", Code::E1321},
      {"mov.b64 %rd1, {%gridid, %laneid}", Code::E1321},
      {"mov.b64 %rd1, {%pm0_64, %pm1_64}", Code::E1321},
      {"mov.b64 %rd1, {_, %r1}", Code::E1321},
      {"mov.b64 {%r1, %r2}, %tid.x", Code::E1201},
      {"st.global.v2.b64 [%rd1], {%tid.x, %tid.y}", Code::E1201},
      {"st.global.v2.b32 [%rd1], {%clock64, %tid.x}", Code::E1201},
      {"st.global.v2.b32 [%rd1], {%r1, %rd2}", Code::E1201},
      {"elect.sync %p1, 0xFFFFFFFF", Code::E1340},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}", Code::E1101, "sm_120a",
       false},  // PTX: the kind has .block_scale; ptxas accepts it
  });
}

TEST(RuleTwins, InstructionsOfANewerVersion) {
  const ParseResult r = parse_ptx(".version 7.8\n.target sm_90\n.address_size 64\n.entry k() { fence.mbarrier_init.release.cluster; ret; }\n", "old.ptx");
  ASSERT_FALSE(r.diagnostics.has_errors()) << codes(r.diagnostics);
  expect_code(validate(r.module), Code::E1211);
}

// A module as the builder makes it, then changed.
Module small() {
  KernelBuilder k("k");
  const Reg a = k.def("mov.u32", 1), p = k.reg(Mod::pred);
  k("setp.eq.u32", p, a, 0);
  k.if_(p, [&] { k("add.u32", a, a, 1); });
  return k.finish();
}

TEST(RuleTwins, ModulesMadeByHand) {
  EXPECT_FALSE(validate(small()).has_errors());
  Module m = small();
  m.functions[0].body[0].guard = static_cast<uint16_t>(0);  // register 0 is %r0, no predicate
  while (m.functions[0].regs[m.functions[0].body[0].guard].type == Mod::pred) ++m.functions[0].body[0].guard;
  expect_code(validate(m), Code::E1204);
  m = small();
  m.functions[0].body[0].operand_count = 1;
  expect_code(validate(m), Code::E1205);
  m = small();
  ASSERT_FALSE(m.functions[0].labels.empty());
  m.functions[0].labels[0].position = 1000;
  expect_code(validate(m), Code::E1220);
  m = small();
  m.functions[0].labels.push_back(m.functions[0].labels[0]);
  expect_code(validate(m), Code::E1221);
  m = small();
  m.functions.push_back(m.functions[0]);
  expect_code(validate(m), Code::E1222);
  EXPECT_EQ(code_of([] { KernelBuilder("k").reg(Mod::e2m1); }), Code::E1100);
}

// At both limits, the second of which came with PTX 8.1; a byte before an eight-byte parameter costs eight.
TEST(RuleTwins, ParameterSpace) {
  for (const char* version : {"8.0", "8.1"}) {
    for (const int bytes : {4336, 4337, 32748, 32749}) {
      const std::string text = std::string(".version ") + version + "\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u8 a, .param .u64 b, .param .b8 p[" +
                               std::to_string(bytes) + "]) { ret; }\n";
      const ParseResult r = parse_ptx(text, "space.ptx");
      ASSERT_FALSE(r.diagnostics.has_errors()) << codes(r.diagnostics);
      const Diagnostics d = validate(r.module);
      const bool fits = 16 + bytes <= (std::string(version) == "8.0" ? 4352 : 32764);
      EXPECT_EQ(d.empty(), fits) << version << ": " << bytes;
      if (!fits) expect_code(d, Code::E1223);
      const auto verdict = run_ptxas(text, "sm_90");  // nullopt without ptxas
      EXPECT_TRUE(!verdict || verdict->accepted == fits) << verdict->output;
    }
  }
}

TEST(RuleTwins, InstructionDescriptors) {
  for (const auto& [kind, value] : {std::pair{MmaKind::i8, 1}, std::pair{MmaKind::f16, 16}, std::pair{MmaKind::tf32, -1}}) {
    Diagnostics d;
    check_scale_input_d(kind, value, d);
    expect_code(d, Code::E1430);
  }
}

TensorMapFields matrix() {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 2;
  f.dim = {64, 64, 1, 1, 1};
  f.stride = {256};
  f.box = {16, 16, 1, 1, 1};
  return f;
}
Diagnostics judged(const TensorMapFields& f, const TensorRequest& r) {
  Diagnostics d;
  check_request(f, r, d);
  return d;
}

TEST(RuleTwins, TensorCopies) {
  EXPECT_FALSE(judged(matrix(), {.coord = {4, -1}}).has_errors());
  expect_code(judged(matrix(), {.coord = {3, 0}}), Code::E1475);  // 12 bytes
  expect_code(judged(matrix(), {.access = TensorAccess::store, .coord = {4, -1}}), Code::E1475);
  expect_code(judged(matrix(), {.mode = Mod::im2col}), Code::E1478);
  expect_code(judged(matrix(), {.mode = Mod::tile_gather4}), Code::E1478);  // a box of 16 rows
  // The encoder counts no element of dimension 1, the copy one: rows of 16 * 4 bytes, one, then 256 * 256 * 256, then 2^32.
  TensorMapFields vast = matrix();
  vast.rank = 5, vast.box = {16, 4, 1, 1, 1}, vast.element_stride = {1, 8, 1, 1, 1};
  EXPECT_FALSE(judged(vast, {}).has_errors());
  vast.box = {16, 4, 256, 256, 256};
  expect_code(judged(vast, {}), Code::E1476);
  vast.box = {16, 256, 256, 256, 256}, vast.element_stride[1] = 1;
  expect_code(judged(vast, {}), Code::E1476);
  vast.interleave = Interleave::bytes16, vast.box = {256, 256, 256, 256, 1};
  expect_code(judged(vast, {}), Code::E1476);
  TensorMapFields packed = matrix();
  packed.type = TensorType::b4x16_p64;
  expect_code(judged(packed, {.access = TensorAccess::store}), Code::E1479);
  TensorMapFields flipped = matrix();
  flipped.swizzle = Swizzle::b128_atom32_flip8;
  expect_code(judged(flipped, {.access = TensorAccess::store}), Code::E1479);
  TensorMap map = encode(matrix());
  EXPECT_EQ(code_of([&] { replace_field(map, TensorMapField::box_dim, 5, 1); }), Code::E1477);
}

}  // namespace
}  // namespace drywell::test
